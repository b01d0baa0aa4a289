"""Drafts of golden dialogs from recorded conversations: what was done, what proves where values came from.

``recorded`` reads conversations, ``definitions`` and ``effects`` say what tools do, ``script`` lays several runs side
by side, ``proof`` finds where values came from, ``draft`` writes the dialog and ``check`` holds it against its own
recordings. Nothing here decides: every proposal says what it rests on, and the draft waits for a person's review.
"""
