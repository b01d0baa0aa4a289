"""Fault injection: faults of known place put into good dialogs, and what attribution makes of them."""
