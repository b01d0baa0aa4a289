"""The configuration file: its form, its defaults, where it is read from and how it is documented."""
