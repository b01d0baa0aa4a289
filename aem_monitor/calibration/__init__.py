"""How far the scores of a sub-metric agree with human labels, and which threshold suits stated costs."""
