"""Regression cases held against what the pipeline says of their recordings now, told and recorded."""
