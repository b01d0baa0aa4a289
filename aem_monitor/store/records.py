"""What the store gives back, and how it is asked."""

from dataclasses import dataclass
from typing import Final

from aem_monitor.model.conversation import Conversation
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import RunResult

MAX_PAGE: Final = 1000
"""Most runs that one query returns; a larger limit is cut to it."""

FINAL: Final = "final"
"""The cause of revision 0."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run in its latest revision.

    ``final_at`` is when the run became final (seconds since the epoch), ``stored_at`` when this revision was written,
    ``cause`` why (``final`` for revision 0).
    """

    result: RunResult
    final_at: float
    stored_at: float
    cause: str

    @property
    def cursor(self) -> tuple[float, str]:
        """Where a page that ends with this run continues."""
        return self.final_at, self.result.run_id


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are wanted, newest first. None leaves a condition out; the release or model ``unknown`` is met by runs
    whose spans carry none, as in the metrics.

    ``outcome`` is ``pass``, ``fail`` or ``undecided``. ``conversation_key`` is that of ``RunResult``, which a
    conversation without an id has too. ``since`` and ``until`` bound ``final_at`` (seconds, from inclusive, to
    exclusive). ``after`` is the cursor of the last run of the page before.
    """

    agent: str | None = None
    release: str | None = None
    model: str | None = None
    dialog: str | None = None
    outcome: str | None = None
    draft: bool | None = None
    conversation_id: str | None = None
    conversation_key: str | None = None
    since: float | None = None
    until: float | None = None
    after: tuple[float, str] | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class StoredPlay:
    """What tells a final run from others: agent, conversation, dialog, number of the play, and when."""

    run_id: str
    agent: str
    conversation_key: str
    conversation_id: str | None
    dialog: str
    play: int
    started_ns: int
    ended_ns: int


@dataclass(frozen=True, slots=True)
class ReleaseSeen:
    """When a release of an agent was first and last seen with a model (seconds since the epoch).

    Both are ``unknown`` where the spans carry none, as in the metrics.
    """

    agent: str
    release: str
    model: str
    first_seen: float
    last_seen: float


@dataclass(frozen=True, slots=True)
class LatencyOfRun:
    """Accumulated latency (seconds) and success rate of a final run."""

    agent: str
    release: str | None
    latency_seconds: float
    success_rate: float


@dataclass(frozen=True, slots=True)
class KeptConversation:
    """The conversation of a run, redaction marks included; None: it was too large to be kept. ``size`` in bytes of
    JSON."""

    size: int
    conversation: Conversation | None


@dataclass(frozen=True, slots=True)
class Review:
    """What a person said of a verdict.

    ``subject`` is what it is about: a turn number as text, or ``path``. ``revision`` is that of the run whose verdict
    was seen, ``verdict`` a digest of it: the answer holds until the verdict is another. ``kind`` is why it was asked
    (``uncertain``, ``undetermined``, ``another_path``), ``answer`` is ``accept`` or ``reject``. ``labels`` are the
    rows that follow from it, as ``calibrate`` reads them. ``answered_at`` in seconds since the epoch.
    """

    run_id: str
    subject: str
    revision: int
    dialog: str
    dialog_version: int
    turn_no: int | None
    kind: str
    answer: str
    verdict: str
    labels: tuple[JSON, ...]
    who: str
    note: str | None
    answered_at: float


@dataclass(frozen=True, slots=True)
class RevisionKey:
    """What names one verdict of one run."""

    run_id: str
    dialog_version: int
    revision: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A verdict that a sink has not taken yet, stored at ``stored_at`` (seconds since the epoch).

    Without ``run`` there is nothing to be taken any more: ``lost`` says why, ``retention`` or ``corrupt``.
    """

    key: RevisionKey
    stored_at: float
    run: StoredRun | None
    lost: str | None = None
