"""What happens to stored verdicts afterwards: judged again by another version of their dialog, and decided by people.

Everything here reads the store; what it makes for other commands (labels, regression cases, drafts) are values and
files.
"""
