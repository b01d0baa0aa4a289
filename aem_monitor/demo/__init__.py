"""The demo: recorded spans of two releases of one agent, sent to a real daemon on this machine."""
