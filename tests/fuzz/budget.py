"""How much fuzzing a test run does."""

import os
from typing import Final

from hypothesis import HealthCheck, settings

_VARIABLE: Final = "AEM_FUZZ_EXAMPLES"
_asked: Final = os.environ.get(_VARIABLE)

fuzzing: Final = settings(
    max_examples=int(_asked or 60),
    # The same examples in every ordinary run: a failure is a change's fault. New ones when somebody asks for more.
    derandomize=_asked is None,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""Decorator of fuzz tests; the environment variable ``AEM_FUZZ_EXAMPLES`` asks for more, and for other, examples."""
