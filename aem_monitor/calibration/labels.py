"""Human labels and the scores that they are compared with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from aem_monitor.errors import UsageError
from aem_monitor.model.verdict import TurnKind
from aem_monitor.scoring.responses import judge
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.scoring.values import ValueContext, compare_values
from aem_monitor.store.store import Store

VALUE: Final = "value"
"""The sub-metric under which pairs of values are calibrated: truthfulness of an argument."""

_MAX_FAULTS: Final = 20


class _Label(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    group: str | None = Field(None, description="Rows that belong together; intervals resample groups, not rows.")


class ValueLabel(_Label):
    """Two values that a person calls equivalent or not."""

    a: JsonValue
    b: JsonValue
    equivalent: bool
    kind: str | None = None
    reference_date: date | None = None


class ReplyLabel(_Label):
    """A reply beside a reference: consistent with it, complete, or not judged (null)."""

    reference: str
    response: str
    consistent: bool | None = None
    complete: bool | None = None


class ScoreLabel(_Label):
    """A score that was computed elsewhere."""

    submetric: str
    score: float = Field(ge=0.0, le=1.0)
    label: bool


class TurnLabel(_Label):
    """A stored turn that a person has judged; its score comes from the store."""

    run_id: str
    turn_no: int
    submetric: str
    label: bool


Row: TypeAlias = ValueLabel | ReplyLabel | ScoreLabel | TurnLabel

_ROW: Final[TypeAdapter[Row]] = TypeAdapter(Annotated[Row, Field(union_mode="left_to_right")])


@dataclass(frozen=True, slots=True)
class Scored:
    """One label beside the score of its sub-metric."""

    submetric: str
    score: float
    label: bool
    group: str


def read_labels(path: Path) -> list[Row]:
    """The rows of a JSON lines file. Raises ``UsageError`` with file and line of every fault."""
    rows: list[Row] = []
    faults: list[str] = []
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_ROW.validate_python(orjson.loads(line)))
        except orjson.JSONDecodeError as error:
            faults.append(f"{path}:{number}: not JSON: {error}")
        except ValidationError:
            faults.append(
                f"{path}:{number}: no label; expected a, b and equivalent; reference, response and consistent or "
                "complete; submetric, score and label; or run_id, turn_no, submetric and label"
            )
        if len(faults) >= _MAX_FAULTS:
            break
    if faults:
        raise UsageError("\n".join(faults))
    if not rows:
        raise UsageError(f"{path}: holds no labels")
    return rows


def score_labels(rows: list[Row], scorer: Scorer, store: Store | None) -> Iterator[Scored]:
    """Score every label. Raises ``UsageError`` for a stored turn that is not there."""
    for index, row in enumerate(rows):
        group = row.group if row.group is not None else f"row {index}"
        match row:
            case ValueLabel():
                context = ValueContext(row.reference_date)
                comparison = compare_values(row.a, row.b, context, scorer, row.kind)
                yield Scored(VALUE, comparison.score, row.equivalent, group)
            case ReplyLabel():
                yield from _replies(row, scorer, group)
            case ScoreLabel():
                yield Scored(row.submetric, row.score, row.label, group)
            case TurnLabel():
                yield _stored(row, store, group)


def _replies(row: ReplyLabel, scorer: Scorer, group: str) -> Iterator[Scored]:
    judgement = judge(row.reference, row.response, ValueContext(), scorer)
    borne_out = 1 - len(judgement.unsupported) / max(judgement.claims, 1)
    verdicts: Mapping[str, tuple[bool | None, bool | None, float]] = {
        "response_truthfulness": (row.consistent, judgement.consistent, borne_out),
        "response_completeness": (row.complete, judgement.complete, judgement.covered),
    }
    for submetric, (label, verdict, share) in verdicts.items():
        if label is not None:
            # Of a reply that no rule can judge there are no claims to count, only a likeness.
            yield Scored(submetric, judgement.score if verdict is None else share, label, group)


def _stored(row: TurnLabel, store: Store | None, group: str) -> Scored:
    if store is None:
        raise UsageError("labels name stored turns; say where they are stored with --store URL")
    stored = store.run(row.run_id)
    turns = stored.result.turns if stored is not None else ()
    turn = next((turn for turn in turns if turn.turn_no == row.turn_no), None)
    checks = [check for check in turn.checks if check.submetric == row.submetric] if turn is not None else []
    scores = [check.score for check in checks if check.score is not None]
    if not scores:
        raise UsageError(f"run {row.run_id}, turn {row.turn_no}: the store has no {row.submetric} score of it")
    named = f"response_{row.submetric}" if turn is not None and turn.kind is TurnKind.RESPONSE else row.submetric
    return Scored(named, min(scores), row.label, group)
