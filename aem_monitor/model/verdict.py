"""Verdicts: what scoring and attribution say about a run. The closed sets of the metric live here."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aem_monitor.model.jsonvalue import JSON


class FailureReason(StrEnum):
    """Why a turn failed. Source: AWS's article on the Agent Evaluation Metric, failure taxonomy."""

    INCONSISTENT_RESPONSE = "inconsistent_response"
    INCOMPLETE_RESPONSE = "incomplete_response"
    TOOL_MISMATCH = "tool_mismatch"
    ACTION_MISMATCH = "action_mismatch"
    MISSING_PARAMETERS = "missing_parameters"
    EXTRA_PARAMETERS = "extra_parameters"
    INCONSISTENT_PARAMETER_VALUES = "inconsistent_parameter_values"
    PRIOR_ACTION_FAILED = "prior_action_failed"


class MismatchDetail(StrEnum):
    """The second word of ``tool_mismatch``."""

    WRONG_TOOL = "wrong_tool"
    NOT_CALLED = "not_called"
    UNEXPECTED_CALL = "unexpected_call"
    FORBIDDEN_CALL = "forbidden_call"


class NotScored(StrEnum):
    """Why a turn or a check has no verdict."""

    OFF_SCRIPT = "off_script"
    CONTENT_MISSING = "content_missing"
    CONTENT_TRUNCATED = "content_truncated"
    INCOMPLETE_TRACE = "incomplete_trace"
    TOOL_ERROR = "tool_error"
    UPSTREAM_ERROR = "upstream_error"
    NOT_REACHED = "not_reached"
    SCORER_ERROR = "scorer_error"
    UNDETERMINED = "undetermined"
    PARTIAL = "partial"


class SubMetric(StrEnum):
    """The parts of correctness: two sub-metrics on a structural check."""

    STRUCTURAL = "structural"
    COMPLETENESS = "completeness"
    TRUTHFULNESS = "truthfulness"


SUBMETRIC_OF_REASON: Final[Mapping[str, SubMetric]] = {
    FailureReason.TOOL_MISMATCH: SubMetric.STRUCTURAL,
    FailureReason.ACTION_MISMATCH: SubMetric.STRUCTURAL,
    FailureReason.MISSING_PARAMETERS: SubMetric.COMPLETENESS,
    FailureReason.EXTRA_PARAMETERS: SubMetric.COMPLETENESS,
    FailureReason.INCOMPLETE_RESPONSE: SubMetric.COMPLETENESS,
    FailureReason.INCONSISTENT_PARAMETER_VALUES: SubMetric.TRUTHFULNESS,
    FailureReason.INCONSISTENT_RESPONSE: SubMetric.TRUTHFULNESS,
}
"""The sub-metric whose check gives a reason, of every reason that a root cause can have."""


class Basis(StrEnum):
    """How a failing turn is tied to the turns that it depends on."""

    PROVENANCE = "provenance"
    DECLARED = "declared"
    ASSUMED = "assumed"
    NONE = "none"


class TurnKind(StrEnum):
    """An action turn is one tool call, a response turn one reply to the user."""

    TOOL = "tool"
    RESPONSE = "response"


MIXED: Final = "mixed"
"""Release or model of a run whose turns do not agree."""

UNKNOWN: Final = "unknown"
"""Agent, release or model that the spans do not carry, where a name is needed (a metric label)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question asked about a turn.

    ``passed`` is None when the check was not scored, with ``cause``. ``subject`` says what was looked at (``tool``,
    ``action``, ``arguments``, ``value``, ``mention``, ``claim``, ``reply``), ``field`` which argument (dotted path).
    ``explained_by`` are the turn numbers of failed turns whose real output the wrong value is. ``score`` is in [0, 1].
    """

    submetric: str
    subject: str
    passed: bool | None
    field: str | None = None
    reason: FailureReason | None = None
    cause: NotScored | None = None
    expected: JSON = None
    actual: JSON = None
    score: float | None = None
    uncertain: bool = False
    rule: str | None = None
    explained_by: tuple[int, ...] = ()
    basis: Basis = Basis.NONE


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """The verdict of one expected turn, or of an extra call (``turn_no`` None).

    ``success`` is None when not scored, with ``not_scored``. ``attempts`` counts the calls that answered this turn,
    excused ones included; ``recovered`` says that an excused attempt failed before the judged one.
    ``alternate`` counts from 1 where an alternate of the dialog was judged in the turn's place.
    ``optional`` turns that never happened have no verdict at all. Latency in seconds, None when unknown.
    """

    turn_no: int | None
    kind: TurnKind
    exchange: int
    chain_length: int
    success: bool | None
    checks: tuple[Check, ...] = ()
    failure_reason: FailureReason | None = None
    detail: MismatchDetail | None = None
    root_cause: bool = False
    basis: Basis = Basis.NONE
    blames: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()
    not_scored: NotScored | None = None
    required: bool = True
    tool: str | None = None
    action: str | None = None
    called: str | None = None
    expected: JSON = None
    actual: JSON = None
    span_id: str | None = None
    trace_id: str | None = None
    release: str | None = None
    model: str | None = None
    latency_seconds: float | None = None
    attempts: int = 1
    recovered: bool = False
    alternate: int | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of one run: one play of one golden dialog in one conversation.

    ``run_id`` is a hash of (agent, conversation key, dialog, play). ``success_rate`` and ``test_pass`` are None when
    nothing could be scored. ``draft`` runs are stored and shown but enter no quality metric, gate or alert.
    ``revision`` counts changes after the run was final. ``latency_seconds`` is accumulated over the exchanges, the
    user's time left out. ``chain_length`` values of the turns are the golden's, never the actual ones.
    ``variant`` names the path that was judged, None the listed one. ``outcome`` says whether the dialog's end state was
    reached, None where it names none or what was captured does not tell.
    ``recognised_by``: ``id`` if the spans name the dialog, ``text`` if only the user's words tell.
    """

    run_id: str
    conversation_key: str
    conversation_id: str | None
    agent: str
    dialog: str
    dialog_version: int
    play: int
    release: str | None
    model: str | None
    draft: bool
    turns: tuple[TurnVerdict, ...]
    success_rate: float | None
    test_pass: bool | None
    score: float | None
    first_failure_turn: int | None
    first_failure_extra: bool
    root_cause: FailureReason | None
    root_cause_count: int
    cascading_count: int
    complete: bool
    partial: bool
    started_ns: int
    ended_ns: int
    latency_seconds: float | None
    trace_ids: tuple[str, ...] = ()
    recognised_by: str = "id"
    variant: str | None = None
    outcome: bool | None = None
    revision: int = 0

    @property
    def another_path(self) -> bool:
        """The end state was reached on a path that the dialog does not list: for its author to look at."""
        return self.outcome is True and self.test_pass is False
