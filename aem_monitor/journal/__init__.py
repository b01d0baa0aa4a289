"""A journal on disk: what was acknowledged and cannot be asked for again, until nothing needs it any more.

It knows records of bytes in segments, and nothing of what they hold.
"""
