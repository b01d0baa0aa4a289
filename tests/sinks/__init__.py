"""Where final verdicts go beside the store."""
