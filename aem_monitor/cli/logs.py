"""Log lines on standard error, as text or as JSON."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from aem_monitor.controls import visible

LEVELS = ("debug", "info", "warning", "error")

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class TextLines(logging.Formatter):
    """``2026-11-30T12:00:00.000Z info aem_monitor.daemon: message key=value``, on one line that steers no terminal."""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        line = f"{_time(record)} {record.levelname.lower()} {record.name}: {record.getMessage()}{fields}"
        line = visible(line.replace("\r", "\\r").replace("\n", "\\n"))
        return f"{line}\n{visible(self.formatException(record.exc_info))}" if record.exc_info else line


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, the fields given as ``extra``, exception."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


class _StandardError(logging.StreamHandler[TextIO]):
    """Writes to whatever standard error is when a line is written, not when logging was started."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


def start_logging(level: str, form: str = "text") -> None:
    """Send log lines of ``level`` and above to standard error; may be called again when the configuration changes."""
    handler = _StandardError()
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # The Kafka client logs every attempt to connect as an error, two a second; the source says it once a minute, with
    # what the client raised.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """What the caller gave as ``extra``."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}
