"""Golden dialogs: what a conversation is expected to be, how such files are read, and which conversation plays which.

``form`` is the file as written, ``dialog`` what scoring reads, ``load`` the way from one to the other, ``recognise``
finds the dialog of a conversation. ``deploy/docs/golden-dialogs.md`` explains the format to its authors.
"""
