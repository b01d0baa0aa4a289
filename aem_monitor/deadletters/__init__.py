"""Messages that cannot be used: written to a topic of their own, looked at there, and given back."""
