"""The listeners that people and scrapers talk to: metrics and health on one, administration and the API on another."""
