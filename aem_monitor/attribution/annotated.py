"""The form of annotated dialogs: gold and prediction of every turn side by side, as in the AEM article's JSON."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from aem_monitor.errors import DocumentError, UsageError
from aem_monitor.golden.matchers import MatcherForm
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.yamlfile import explain, read_yaml


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReplyForm(_Form):
    """A reply, expected or predicted."""

    response: str


class CallForm(_Form):
    """A call, expected or predicted."""

    tool_id: str
    action: str | None = None
    args: dict[str, JsonValue] = Field(default_factory=dict)


Content: TypeAlias = CallForm | ReplyForm


class TurnForm(_Form):
    """One annotated turn. ``predict_turn`` null or missing: it did not happen."""

    turn_no: int
    turn: Literal["Agent", "Tool"]
    gold_turn: Content
    predict_turn: Content | None = None
    tags: tuple[str, ...] = ()
    depends_on: tuple[int, ...] = ()
    result: JsonValue = None
    predict_result: JsonValue = None
    match: dict[str, MatcherForm] = Field(default_factory=dict)

    def model_post_init(self, _: Any) -> None:
        """The gold turn has to be what ``turn`` says; a prediction may be of either kind."""
        if isinstance(self.gold_turn, CallForm) != (self.turn == "Tool"):
            wanted = "tool_id and args" if self.turn == "Tool" else "response"
            raise ValueError(f"gold_turn of a turn {self.turn!r} must have {wanted}")


class DialogForm(_Form):
    """One annotated dialog. ``reference_date`` is what relative dates count from."""

    dialog: str = ""
    reference_date: date | None = None
    turns: Annotated[tuple[TurnForm, ...], Field(strict=False)]


def read_annotated(path: Path) -> list[DialogForm]:
    """The dialogs of a file: a list of turns, one ``{"dialog", "turns"}`` object, or a list of such objects.

    Raises ``UsageError`` with every fault of the file, each with its line.
    """
    try:
        document = read_yaml(path)
    except DocumentError as error:
        raise UsageError("\n".join(error.faults)) from error
    found, faults = [], []
    for index, value in enumerate(_dialogs(document.value)):
        try:
            form = DialogForm.model_validate(value)
        except ValidationError as error:
            faults += explain(error, document, DialogForm)
            continue
        if not form.turns:
            faults.append(f"{path}: dialog {index + 1}: holds no turns; there is nothing to score")
        numbers = [turn.turn_no for turn in form.turns]
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            faults.append(
                f"{path}: dialog {index + 1}: turn_no {twice[0]} stands twice; give every turn its own number"
            )
        found.append(form if form.dialog else form.model_copy(update={"dialog": path.name.split(".")[0]}))
    if faults:
        raise UsageError("\n".join(faults))
    return found


def _dialogs(value: JSON) -> Sequence[JSON]:
    if isinstance(value, list) and value and all(isinstance(item, dict) and "turns" in item for item in value):
        return value
    return [{"turns": value}] if isinstance(value, list) else [value]
