"""API-Bank dialogues (level 1 and 2): a file of JSON lines each, with roles User, AI and API.

Source: github.com/AlibabaResearch/DAMO-ConvAI, folder api-bank, MIT.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.bootstrap.recorded import RecordedCall, RecordedExchange
from aem_monitor.errors import UsageError
from aem_monitor.imports.base import FormError, Imported, json_lines, words
from aem_monitor.imports.recorded import drafted_sheet
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.scoring.scorers import EmbeddedScorer

NOTE: Final = "imported from API-Bank (AlibabaResearch/DAMO-ConvAI, MIT)"


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """One dialog a file."""
    scorer = EmbeddedScorer()
    for path in files:
        name = words(f"api-bank-{path.stem}")
        exchanges = _exchanges(path)
        if not exchanges:
            yield Imported(name, problem=f"{path}: the user says nothing in it")
            continue
        try:
            yield Imported(name, drafted_sheet(name, f"{NOTE}, {path.name}", exchanges, scorer))
        except FormError as error:
            yield Imported(name, problem=f"{path}: {error}")


def _exchanges(path: Path) -> list[RecordedExchange]:
    found: list[RecordedExchange] = []
    user: str | None = None
    calls: list[RecordedCall] = []
    reply: str | None = None

    def close() -> None:
        if user is not None:
            found.append(RecordedExchange(user, tuple(calls), reply))

    for number, line in json_lines(path):
        role = line.get("role")
        if role == "User":
            close()
            user, calls, reply = str(line.get("text", "")), [], None
        elif role == "AI":
            reply = str(line.get("text", ""))  # of several in a row the last answers the user
        elif role == "API":
            call = _call(line, len(calls), f"{path}:{number}")
            if call is not None:
                calls.append(call)
        else:
            raise UsageError(f"{path}:{number}: role {role!r}; an API-Bank line is of User, AI or API")
    close()
    return found


def _call(line: Mapping[str, Any], rank: int, where: str) -> RecordedCall | None:
    """A call that went through; one with an exception changed nothing."""
    name, args = line.get("api_name"), line.get("param_dict") or {}
    if not isinstance(name, str) or not name or not isinstance(args, Mapping):
        raise UsageError(f"{where}: a call without an api_name, or with a param_dict that is not an object")
    result = line.get("result")
    output: Captured = NOT_CAPTURED
    if isinstance(result, Mapping):
        if result.get("exception"):
            return None
        output = result.get("output", NOT_CAPTURED)
    return RecordedCall(name, None, dict(args), output, rank)
