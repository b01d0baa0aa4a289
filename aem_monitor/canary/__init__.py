"""Is a candidate release worse than a baseline? Pure."""
