"""Times on the command line: so long ago, or a date."""

from datetime import UTC, datetime

from aem_monitor.config.units import parse_duration
from aem_monitor.errors import UsageError


def since(text: str | None, now: float, option: str = "--since") -> float | None:
    """Seconds since the epoch of ``7d`` (before ``now``), ``2026-11-30`` or ``2026-11-30T08:00Z`` (UTC without a zone).

    Raises ``UsageError`` that names ``option``.
    """
    if text is None:
        return None
    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = (
            f"{option}: {text!r} is no time; write how long ago (7d, 12h) or a date (2026-11-30, 2026-11-30T08:00Z)"
        )
        raise UsageError(message) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
