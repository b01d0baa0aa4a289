"""What failing was like before, for each dialog, and how surely that is known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Tally = tuple[float, float]
"""How often something failed, and how often it did not; not whole numbers where old observations count less."""

_LEAST_STRENGTH: Final = 2.0
_MOST_STRENGTH: Final = 200.0


@dataclass(frozen=True, slots=True)
class Baseline:
    """Log odds of failing of each stratum (a golden dialog), estimated from the past.

    Dialogs differ: one fails every other time, most never. With a rate for each, a dialog that runs more often than it
    did is no change. Rates of dialogs with few runs are drawn to the rate of all, as strongly as dialogs resemble each
    other (a beta distribution over the dialogs, fitted by moments).

    ``error`` is the standard error of the log odds that all strata have in common. ``runs`` is how many there were.
    """

    log_odds: Mapping[str, float]
    pooled: float
    error: float
    runs: float

    def of(self, stratum: str) -> float:
        """The log odds of a stratum; one without a past has those of all together."""
        return self.log_odds.get(stratum, self.pooled)

    def at_most(self, stratum: str) -> float:
        """The same, on the safe side of what is known: a standard error above the estimate."""
        return self.of(stratum) + self.error

    @classmethod
    def estimate(cls, tallies: Mapping[str, Tally]) -> "Baseline":
        """From what was seen of each stratum; half a failure in one run is added to all together, so that what never
        happened is rare, not impossible."""
        failed = sum(one[0] for one in tallies.values())
        runs = sum(sum(one) for one in tallies.values())
        rate = (failed + 0.5) / (runs + 1.0)
        strength = _resemblance(tallies, rate)
        rates = {
            name: (fails + strength * rate) / (fails + passes + strength) for name, (fails, passes) in tallies.items()
        }
        information = sum(sum(tallies[name]) * one * (1.0 - one) for name, one in rates.items())
        return cls(
            {name: _logit(one) for name, one in rates.items()},
            _logit(rate),
            1.0 / math.sqrt(information) if information > 0.0 else math.inf,
            runs,
        )


def _logit(rate: float) -> float:
    return math.log(rate / (1.0 - rate))


def _resemblance(tallies: Mapping[str, Tally], rate: float) -> float:
    """How many runs a dialog's kinship with the others is worth: the sum of the parameters of the beta distribution
    whose variance over the dialogs is what is left of that seen beyond chance (Kleinman, 1973)."""
    sizes = [sum(one) for one in tallies.values() if sum(one) > 0]
    total = sum(sizes)
    spread = total - sum(size * size for size in sizes) / total if total else 0.0
    if spread <= 0.0:
        return _MOST_STRENGTH
    deviation = sum(sum(one) * (one[0] / sum(one) - rate) ** 2 for one in tallies.values() if sum(one) > 0)
    binomial = rate * (1.0 - rate)
    between = (deviation - (len(sizes) - 1) * binomial) / spread
    if between <= 0.0:
        return _MOST_STRENGTH
    return min(_MOST_STRENGTH, max(_LEAST_STRENGTH, binomial / between - 1.0))
