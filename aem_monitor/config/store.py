"""Configuration of the store: where it is, what is kept, how long, and what is taken out before."""

import re
from typing import Annotated, Any, Final, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from aem_monitor.config.section import Section, Texts
from aem_monitor.config.units import Duration, Size
from aem_monitor.store.redaction import compiled_pattern
from aem_monitor.validation import KeyFaultError

_DATABASE_URL: Final = re.compile(r"(sqlite|postgresql)(\+[a-z0-9]+)?://")
_WORD: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


def _database_url(value: Any) -> Any:
    if isinstance(value, str) and not _DATABASE_URL.match(value):
        # The value itself may hold a password, so the message does not repeat it.
        raise ValueError(
            "must be an SQLAlchemy URL of SQLite or PostgreSQL: sqlite:///file.db, postgresql+psycopg://user@host/name"
        )
    return value


DatabaseUrl: TypeAlias = Annotated[str, BeforeValidator(_database_url)]
"""An SQLAlchemy URL."""


class Conversations(Section):
    """The conversations of final runs, which `rescore` and `review` need."""

    keep: bool = Field(True, description="Keep them; without them a run cannot be judged again.")
    max_bytes: Size = Field(
        1024 * 1024,
        gt=0,
        description="Largest one that is kept, as JSON before it is compressed. Of a larger one only its size is kept.",
    )
    retention: Duration = Field(
        30 * 86400.0, gt=0, description="How long they are kept; never longer than their runs (`store.retention`)."
    )


class Redact(Section):
    """What is taken out of conversations and evidence before they are stored."""

    fields: Texts = Field(
        (),
        description="Names of arguments and of members of results, at any depth, whose value is replaced by "
        "`[redacted:string]`, `[redacted:number]` and so on. Upper and lower case are one.",
    )
    patterns: dict[str, str] = Field(
        default_factory=dict,
        description="A word and a pattern (RE2) for what is replaced in every text: `email: '[\\w.]+@[\\w.]+'` leaves "
        "`[redacted:email]`.",
    )

    @model_validator(mode="after")
    def _usable(self) -> Self:
        for word, pattern in self.patterns.items():
            if not _WORD.fullmatch(word):
                raise KeyFaultError(("patterns", word), "must be a word of letters, digits, - and _, at most 40")
            try:
                compiled_pattern(pattern)
            except ValueError as error:
                raise KeyFaultError(("patterns", word), str(error)) from error
        return self


class Store(Section):
    """Where verdicts, evidence and counter totals are kept."""

    url: DatabaseUrl = Field(
        "sqlite:///aem-monitor.db",
        description="Database as an SQLAlchemy URL. A relative SQLite path counts from the working directory.",
    )
    replica: str = Field(
        "",
        max_length=200,
        description="Stable name under which this replica keeps its counter totals; default: the host name.",
    )
    retention: Duration = Field(
        30 * 86400.0, gt=0, description="How long verdicts and evidence are kept; totals are kept for good."
    )
    conversations: Conversations = Field(default_factory=Conversations)
    redact: Redact = Field(default_factory=Redact)
