"""Whether a value is of a kind at all: a kind that others name (a tool's schema) is not forced on what is not."""

from typing import Final

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.values.booleans import parse_boolean
from aem_monitor.scoring.values.forms import DateForm, DurationForm, QuantityForm, TimeForm
from aem_monitor.scoring.values.moments import read_moment
from aem_monitor.scoring.values.strings import whole_value
from aem_monitor.scoring.values.words import flat

_FORMS: Final[dict[str, type]] = {
    "date": DateForm,
    "time": TimeForm,
    "duration": DurationForm,
    "number": QuantityForm,
}


def reads_as(value: JSON, kind: str) -> bool:
    """Whether a scalar is a value of the kind, in any form and nothing else. Any text may be an identifier."""
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, int | float):
        return kind in ("number", "identifier") or (kind == "datetime" and _is_moment(str(value)))
    if not isinstance(value, str):
        return False
    text = value.strip()
    if kind == "datetime":
        return _is_moment(text)
    if kind == "boolean":
        return parse_boolean(flat(text)) is not None
    if kind == "identifier":
        return bool(text)
    whole = whole_value(text, None, kind)
    return whole is not None and not whole[1] and len(whole[0]) == 1 and isinstance(whole[0][0].form, _FORMS[kind])


def _is_moment(text: str) -> bool:
    if read_moment(text, None, epoch=True) is not None:
        return True
    # "tomorrow at 2 pm" is a moment once there is a reference date.
    whole = whole_value(text, None, "")
    return (
        whole is not None
        and not whole[1]
        and sorted(type(fact.form).__name__ for fact in whole[0]) == [DateForm.__name__, TimeForm.__name__]
    )
