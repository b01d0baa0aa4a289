"""Plays golden dialogs against an agent as its user. A process of its own; the verdicts are the monitor's."""
