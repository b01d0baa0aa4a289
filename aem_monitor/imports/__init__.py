"""Golden dialogs from public formats: one module a format, one table of all. Everything imported is a draft."""
