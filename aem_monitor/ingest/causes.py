"""The bounded causes under which ingest counts what it refuses, skips or alters.

They are values of metric labels and of ``DecodeError.reason``; free text never becomes one.
"""

from enum import StrEnum


class Refused(StrEnum):
    """Why a whole request or message was not taken."""

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    UNSUPPORTED_TYPE = "unsupported_type"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    WRONG_METHOD = "wrong_method"
    UNKNOWN_PATH = "unknown_path"
    SLOW_CLIENT = "slow_client"
    ABORTED = "aborted"
    OVERLOADED = "overloaded"
    JOURNAL = "journal"
    RETENTION = "retention"
    INTERNAL = "internal"


class Skipped(StrEnum):
    """Why a span or log record of a taken request was left out."""

    NO_AGENT_CONTENT = "no_agent_content"
    INVALID_ID = "invalid_id"
    NO_SPAN_ID = "no_span_id"
    NOT_A_RUN = "not_a_run"


class Altered(StrEnum):
    """What was cut or repaired in a span or log record that was kept."""

    STRING_CUT = "string_cut"
    TOO_DEEP = "too_deep"
    TOO_MANY = "too_many"
    INVALID_UTF8 = "invalid_utf8"
    UNREADABLE_VALUE = "unreadable_value"


class Stall(StrEnum):
    """Why a session with Kafka was given up although brokers answered."""

    NOT_JOINED = "not_joined"
    NO_HEARTBEAT = "no_heartbeat"
