"""How much worse a rate may have become, and what an observation says of each possibility.

A shift is a change of the log odds of failing: 1.0 multiplies the odds by 2.7, whatever the rate was before. One scale
serves dialogs that fail one time in a hundred and dialogs that fail every other time.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHIFTS: Final[Floats] = np.array([0.5, 1.0, 1.5, 2.5, 4.0])
"""From 0.9 to 0.7 is 1.35; a release that can do nothing any more is beyond 4."""

WEIGHTS: Final[Floats] = np.array([0.15, 0.35, 0.25, 0.15, 0.10])
"""What is expected before anything is seen. A weight costs ``-log(weight) / information`` observations of delay: for
0.9 to 0.7 and the weight 0.35 seven, beside a detector that knows the shift."""


def log_ratios(failed: bool, log_odds: float, shifts: Floats = SHIFTS) -> Floats:
    """For each shift, the log likelihood of one observation under it less that without a shift.

    Args:
        failed: what was seen.
        log_odds: log odds of failing without a shift.
        shifts: the possibilities, shape (shifts,).
    """
    moved = log_odds + shifts
    # log p and log (1 - p) of the logistic function, without loss for large arguments.
    if failed:
        return np.asarray(np.logaddexp(0.0, -log_odds) - np.logaddexp(0.0, -moved), dtype=np.float64)
    return np.asarray(np.logaddexp(0.0, log_odds) - np.logaddexp(0.0, moved), dtype=np.float64)
