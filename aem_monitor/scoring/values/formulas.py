"""Formulas of one or two variables, as tools for mathematics take them: ``lambda x: 3x**2``, ``y = 3*x^2``."""

import re
from typing import Final

_NAMED: Final = re.compile(r"^(?:lambda +\w+(?: *, *\w+)* *:|[a-z]\( *\w+(?: *, *\w+)* *\) *=|[yfz] *=(?!=))\s*")
_ALLOWED: Final = re.compile(r"[\w\s.+\-*/^()]+")
_NAME: Final = re.compile(r"[a-z_]+")
_TIMES: Final = re.compile(r"(?<=\d)(?=[a-z(])|(?<=\))(?=[a-z\d(])")
_OPERATION: Final = re.compile(r"\*\*|\^|[+*/]|(?<=[\w)]) *-|\b(?:sin|cos|tan|log|ln|exp|sqrt|abs)\(")
_FUNCTIONS: Final = frozenset({"sin", "cos", "tan", "log", "ln", "exp", "sqrt", "abs", "pi", "e", "math", "np"})
_LONGEST: Final = 200


def formula_key(text: str) -> str | None:
    """A formula without what only its notation adds: the name it is given, blanks, ``^`` for ``**``, multiplication
    that is written out. None for a text that is no formula of one-letter variables."""
    if len(text) > _LONGEST:
        return None
    body = _NAMED.sub("", text.strip().lower())
    if not _ALLOWED.fullmatch(body) or not _OPERATION.search(body):
        return None
    names = set(_NAME.findall(re.sub(r"\b(?:math|np)\.", "", body)))
    variables = names - _FUNCTIONS
    if not variables or any(len(name) > 1 for name in variables):
        return None
    plain = re.sub(r"\s+|\b(?:math|np)\.", "", body).replace("^", "**")
    return _TIMES.sub("*", plain)
