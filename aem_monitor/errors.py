"""All exceptions of aem-monitor.

Every error carries a bounded ``reason``: the value of a metric label and of a log field, never free text. The message
says what was wrong, where (file and line, offset, field) and what to do about it.
"""

from collections.abc import Sequence


class AemMonitorError(Exception):
    """Base of every error raised on purpose."""

    reason: str = "error"

    def __init__(self, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        if reason is not None:
            self.reason = reason


class UsageError(AemMonitorError):
    """The command line or an input file named on it cannot be used. Exit code 2."""

    reason = "usage"


class ConfigError(AemMonitorError):
    """The configuration cannot be used; the message names file, line and key."""

    reason = "config"


class DocumentError(AemMonitorError):
    """A YAML or JSON file cannot be read; ``faults`` holds every fault, each as ``file:line: what, what to do``."""

    reason = "document"

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)


class GoldenError(AemMonitorError):
    """A golden dialog cannot be used; the message names file, line and field."""

    reason = "golden"


class DecodeError(AemMonitorError):
    """Bytes from outside are not what they should be. ``reason`` is one of ``ingest.causes``."""

    reason = "malformed"


class TooLargeError(DecodeError):
    """A body is over the configured limit, counted after decompression."""

    reason = "too_large"


class StoreError(AemMonitorError):
    """The store could not be read or written."""

    reason = "store"


class BrokerError(AemMonitorError):
    """Kafka does not answer, or a topic is not there."""

    reason = "kafka"


class ScorerError(AemMonitorError):
    """A scorer could not answer. Becomes the not-scored cause ``scorer_error``, never a verdict."""

    reason = "scorer_error"


class JournalError(AemMonitorError):
    """The journal could not take or keep a record. ``reason`` is one of ``journal.faults.REASONS``."""

    reason = "other"


class SinkError(AemMonitorError):
    """A sink could not take verdicts. ``reason`` is one of ``sinks.faults.REASONS``; ``taken`` is how many of those
    that were offered, from the first on, it has for good all the same; ``retry_after`` after how many seconds to offer
    the others again, where the sink has a wish."""

    reason = "other"

    def __init__(self, message: str, *, reason: str, taken: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message, reason=reason)
        self.taken = taken
        self.retry_after = retry_after


class RefusedVerdictError(AemMonitorError):
    """A sink will never take one verdict: the one after the first ``taken`` of those that were offered, which it has.
    ``reason`` is one of ``sinks.faults.LOST``."""

    reason = "rejected"

    def __init__(self, message: str, *, reason: str, taken: int = 0) -> None:
        super().__init__(message, reason=reason)
        self.taken = taken


class LeaseLostError(AemMonitorError):
    """Another process has taken over what this one held; nothing of what was asked has been done."""

    reason = "lease_lost"


class NotifyError(AemMonitorError):
    """A receiver of notifications did not take one. ``reason`` is one of ``alerting.faults.REASONS``. ``final``: it
    never will, so that it must not be sent again. ``retry_after``: after how many seconds to try again, where the
    receiver has a wish."""

    reason = "unreachable"

    def __init__(self, message: str, *, reason: str, final: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message, reason=reason)
        self.final = final
        self.retry_after = retry_after


class NotTakenError(AemMonitorError):
    """A request cannot be taken now, and should be sent again. ``reason`` is one of ``ingest.causes.Refused``."""

    reason = "overloaded"
