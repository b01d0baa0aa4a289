"""Sequential statistics: evidence that may be looked at after every observation. Pure."""
