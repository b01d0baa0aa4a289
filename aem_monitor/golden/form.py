"""The form of a golden dialog file, as pydantic models. ``dialog.py`` holds what is scored, made from these.

Unknown keys are refused. The field names are those of the Agent Evaluation Metric's annotated dialogs. What needs more
than one field to judge (turn numbers, references, order) is checked by ``check.py``.
"""

import re
from datetime import date
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema, model_validator

from aem_monitor.golden.matchers import MatcherForm

MAX_ALTERNATES: Final = 10
MAX_VARIANTS: Final = 10
"""Each costs one more evaluation of a run that does not pass."""

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def _iso_date(value: Any) -> date:
    if type(value) is date:
        return value
    if not isinstance(value, str) or not _ISO_DATE.fullmatch(value):
        raise ValueError('a date is written "2026-11-30"')
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value} is no day of the calendar") from None


Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
LARGEST: Final = 2**31 - 1
"""The largest version and turn number: what a column of the store holds."""
TurnNo: TypeAlias = Annotated[int, Field(ge=0, le=LARGEST)]
Texts: TypeAlias = Annotated[tuple[str, ...], Field(strict=False)]
Weight: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ReviewForm(_Form):
    """Who vouches for the dialog. Without a review, or as draft, its runs enter no quality metric, gate or alert."""

    status: Literal["human", "draft"] = "draft"
    note: str | None = None


AttributeScalar: TypeAlias = str | bool | int | float


def _where(value: Any) -> Any:
    """Every value of the restriction as a list, so that only one form is read later."""
    if value is None or value == "any":
        return value
    if not isinstance(value, dict) or not value:
        raise ValueError("write the word any, or attributes with a value or a list of values: {deployment: canary}")
    lists = {name: wanted if isinstance(wanted, list | tuple) else [wanted] for name, wanted in value.items()}
    for name, wanted in lists.items():
        if not wanted or not all(isinstance(one, str | bool | int | float) for one in wanted):
            raise ValueError(f"{name} needs a text, number or boolean, or a list of them that is not empty")
    return lists


WhereForm: TypeAlias = Annotated[
    Literal["any"] | dict[str, Annotated[tuple[AttributeScalar, ...], Field(strict=False)]] | None,
    BeforeValidator(_where),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "any"},
                {"type": "null"},
                {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {
                        "anyOf": [
                            {"type": ["string", "boolean", "number"]},
                            {"type": "array", "minItems": 1, "items": {"type": ["string", "boolean", "number"]}},
                        ]
                    },
                },
            ]
        }
    ),
]


class RecogniseForm(_Form):
    """How a conversation is recognised as a run of this dialog when its spans do not name it."""

    first_user: Texts = Field((), description="Spellings of the user's first message; default: the first User turn.")
    where: WhereForm = Field(
        None,
        description="Resource or span attributes that a conversation must carry: a value, or a list of values any of "
        "which will do. The word any lifts the restriction.",
    )


class DefaultForm(_Form):
    """An optional argument: absent, or present with its default, is the same."""

    default: JsonValue = None


class ToolForm(_Form):
    """What is known of a tool: what only reads, and which arguments may be left out."""

    read_only: bool | Texts = Field(
        False, description="Actions that change nothing; true: the whole tool (or a tool without actions)."
    )
    optional_args: Texts | dict[str, JsonValue] = Field(
        (),
        description="Per action: names, or a mapping of names to {default: value}; of a tool without actions directly.",
    )


class CallForm(_Form):
    """The expected call."""

    tool_id: Name
    action: Name | None = None
    args: dict[str, JsonValue] = Field(default_factory=dict)


class ReplyForm(_Form):
    """The expected reply; its claims are judged, not its words."""

    response: str


Matches: TypeAlias = dict[str, MatcherForm]


class OtherCallForm(CallForm):
    """Another call that will do for a turn. Without ``result`` it returns what the turn's own call returns."""

    match: Matches = Field(default_factory=dict, description="As the turn's; of this call's own arguments.")
    result: JsonValue = None


class OtherReplyForm(ReplyForm):
    """Another reply that will do for a turn. Without ``must_mention`` the turn's own mentions are asked for."""

    must_mention: Texts = ()


class UserTurnForm(_Form):
    """What the user says; starts an exchange, is not scored and has no number."""

    turn: Literal["User"]
    text: str


class ToolTurnForm(_Form):
    """An expected tool call."""

    turn: Literal["Tool"]
    turn_no: TurnNo
    gold_turn: CallForm
    result: JsonValue = Field(None, description="What the tool returned in the golden run. null is a result, too.")
    depends_on: Annotated[tuple[TurnNo, ...], Field(strict=False)] = ()
    match: Matches = Field(
        default_factory=dict, description="Per argument, or dotted path into one: how it is compared."
    )
    alternates: Annotated[tuple[OtherCallForm, ...], Field(strict=False, max_length=MAX_ALTERNATES)] = Field(
        (), description="Other calls that will do. The first that passes is taken, else the best."
    )
    tags: Texts = Field((), description="OrderInvariant_x: turns of one exchange with this tag come in any order.")
    presence: Literal["required", "optional", "forbidden"] = "required"
    effect: Literal["read", "write"] | None = None
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = Field(
        None, description="Least similarity of free text among the arguments; default: the configured one."
    )
    weight: Weight = 1.0
    critical: bool = False
    skip: bool = False


Share: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class ReplyThresholdsForm(_Form):
    """Least shares of right claims, from which the reply passes a sub-metric; default: the configured ones."""

    @model_validator(mode="after")
    def _says_something(self) -> "ReplyThresholdsForm":
        if not self.model_fields_set:
            raise ValueError("is empty; say completeness, truthfulness or both, such as {completeness: 0.8}")
        return self

    completeness: Share | None = Field(None, description="Of what the reference says, how much the reply has to say.")
    truthfulness: Share | None = Field(
        None, description="Of the statements of the reply, how many have to be borne out."
    )


class AgentTurnForm(_Form):
    """An expected reply. Without ``gold_turn`` only the mentions count."""

    turn: Literal["Agent"]
    turn_no: TurnNo
    gold_turn: ReplyForm | None = None
    must_mention: Texts = ()
    must_not_mention: Texts = ()
    alternates: Annotated[tuple[OtherReplyForm, ...], Field(strict=False, max_length=MAX_ALTERNATES)] = Field(
        (), description="Other replies that will do."
    )
    depends_on: Annotated[tuple[TurnNo, ...], Field(strict=False)] = ()
    tags: Texts = ()
    thresholds: ReplyThresholdsForm | None = None
    weight: Weight = 1.0
    critical: bool = False
    skip: bool = False


TurnForm: TypeAlias = Annotated[UserTurnForm | ToolTurnForm | AgentTurnForm, Field(discriminator="turn")]


class ForbiddenForm(_Form):
    """A call that must never happen; without ``action`` any action of the tool."""

    tool_id: Name
    action: Name | None = None


class VariantForm(_Form):
    """Another path through the whole dialog. The user says the same."""

    name: Name
    turns: Annotated[tuple[TurnForm, ...], Field(strict=False)]


class EndStateForm(_Form):
    """What must be true at the end, by whatever path: a successful call of this tool, its last one returning this."""

    tool_id: Name
    action: Name | None = None
    args: dict[str, JsonValue] = Field(default_factory=dict, description="Arguments that the call must have had.")
    result: JsonValue = Field(None, description="What it must have returned; of an object, only the keys given count.")


class DialogForm(_Form):
    """A golden dialog: what a user says to an agent, the calls and replies expected, and how both are judged."""

    dialog: Name
    version: Annotated[int, Field(ge=0, le=LARGEST)] = 1
    agent: Name | None = Field(None, description="Only runs of this agent (service.name) are runs of this dialog.")
    review: ReviewForm = ReviewForm()
    recognise: RecogniseForm = RecogniseForm()
    reference_date: Annotated[date, BeforeValidator(_iso_date)] | None = Field(
        None, description="What today means in the dialog; default: the day (UTC) of the run's first span."
    )
    tools: dict[str, ToolForm] = Field(default_factory=dict)
    extra_calls: Literal["fail", "ignore_read_only", "ignore"] = "ignore_read_only"
    turns: Annotated[tuple[TurnForm, ...], Field(strict=False)]
    variants: Annotated[tuple[VariantForm, ...], Field(strict=False, max_length=MAX_VARIANTS)] = Field(
        (), description="Other paths; the one that fits best is scored and named."
    )
    outcome: Annotated[tuple[EndStateForm, ...], Field(strict=False, max_length=50)] = Field(
        (), description="End state. A run that fails its turns but reaches it has passed by another path."
    )
    forbidden: Annotated[tuple[ForbiddenForm, ...], Field(strict=False)] = ()
