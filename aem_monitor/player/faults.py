"""How an exchange can end, as a closed set: what is counted, and what a line about it begins with."""

from enum import StrEnum

from aem_monitor.errors import AemMonitorError


class Outcome(StrEnum):
    """How an exchange with the agent ended."""

    ANSWERED = "answered"
    REFUSED = "connection_refused"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    STATUS = "status"
    REDIRECT = "redirect"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    NO_REPLY = "no_reply"
    RESET_FAILED = "reset_failed"


class ExchangeError(AemMonitorError):
    """An exchange came to nothing. ``outcome`` says how; ``status`` is the HTTP status where there was an answer."""

    def __init__(self, outcome: Outcome, message: str, status: int | None = None) -> None:
        super().__init__(message, reason=outcome.value)
        self.outcome = outcome
        self.status = status
