"""A golden dialog that more recordings are added to: what its author wrote stays unless a recording contradicts it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, cast

from aem_monitor.bootstrap.proof import Numbering, Origin, spelled
from aem_monitor.bootstrap.recorded import RecordedCall, RecordedExchange, Recording
from aem_monitor.bootstrap.script import Scene
from aem_monitor.bootstrap.sheet import DraftTurn
from aem_monitor.errors import UsageError
from aem_monitor.golden.dialog import AgentTurn, Dialog, GoldenExchange, ToolTurn
from aem_monitor.golden.form import MAX_ALTERNATES
from aem_monitor.golden.reference import JSONPath, fill, parse_reference, references_of
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON


@dataclass(slots=True)
class Existing:
    """``value`` is the file's content, ``recording`` the same read as the first recording of its script."""

    dialog: Dialog
    value: Mapping[str, Any]
    recording: Recording
    _turns: dict[int, Mapping[str, Any]]
    _replies: list[Mapping[str, Any] | None]
    _renumbered: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, dialog: Dialog, value: Mapping[str, Any], day: date) -> "Existing":
        """``day`` counts where the dialog has no ``reference_date``. Raises ``UsageError`` for an open dialog."""
        if dialog.open:
            raise UsageError(
                f"dialog {dialog.name} is open: it has no script that a recording could be laid beside; draft a new one"
            )
        turns: dict[int, Mapping[str, Any]] = {}
        replies: list[Mapping[str, Any] | None] = []
        exchanges = []
        for exchange in dialog.exchanges:
            calls = []
            for tool in exchange.tools:
                call = _call(dialog, tool)
                turns[id(call)] = value["turns"][tool.index]
                calls.append(call)
            reply = exchange.replies[0] if exchange.replies else None
            replies.append(value["turns"][reply.index] if reply is not None else None)
            exchanges.append(RecordedExchange(_said(exchange), tuple(calls), _text(dialog, reply)))
        recording = Recording(
            "the existing dialog", dialog.reference_date or day, dialog.agent, dialog.name, tuple(exchanges)
        )
        return cls(dialog, value, recording, turns, replies)

    @property
    def top(self) -> Mapping[str, Any]:
        """The keys beside the turns."""
        return {key: item for key, item in self.value.items() if key != "turns"}

    @property
    def tools(self) -> Mapping[str, Any]:
        """The entries of ``tools`` as written."""
        return cast("Mapping[str, Any]", self.value.get("tools", {}))

    def mark(self, scenes: Sequence[Scene]) -> None:
        """Tell each step and reply of a script which turn of the file it is."""
        for scene, reply in zip(scenes, self._replies, strict=True):
            scene.written_reply = reply
            for step in scene.steps:
                call = step.calls.get(0)
                step.written = self._turns.get(id(call)) if call is not None else None

    def number(self, scenes: Sequence[Scene], numbering: Numbering) -> None:
        """Learn the new numbers of the file's turns."""
        for index, scene in enumerate(scenes):
            for at, step in enumerate(scene.steps):
                if step.written is not None:
                    self._renumbered[int(str(step.written["turn_no"]))] = numbering.of[index, at]
            if scene.written_reply is not None:
                self._renumbered[int(str(scene.written_reply["turn_no"]))] = numbering.of[index, -1]

    def restore(
        self, turn: DraftTurn, written: Mapping[str, Any], origins: Mapping[JSONPath, Origin], recordings: int
    ) -> None:
        """Make a drafted turn what the file has, with what the recordings add.

        A reference of the author's is withdrawn where several recordings made the call and do not agree on it.
        """
        drafted = turn.form
        form: dict[str, Any] = {**written, "turn_no": drafted["turn_no"]}
        for key in ("gold_turn", "must_mention", "alternates"):
            if key in form:
                form[key] = self._renumber(form[key])
        depends = {self._renumbered[number] for number in written.get("depends_on", ())} | set(
            drafted.get("depends_on", ())
        )
        if depends:
            form["depends_on"] = sorted(depends)
        # What recordings show is added; what the kind of a value suggests the author could have written.
        shown = {name: one for name, one in drafted.get("match", {}).items() if "any_of" in one or "set" in one}
        if shown:
            form["match"] = {**shown, **self._joined(written.get("match", {}), shown)}
        known = form.get("alternates", [])
        more = [other for other in drafted.get("alternates", ()) if other not in known]
        if more:
            form["alternates"] = [*known, *more][:MAX_ALTERNATES]
        args = form.get("gold_turn", {}).get("args", {})
        for path, reference in list(references_of(args)):
            origin = origins.get(path)
            stands = origin is None or any(spelled(place) == reference.text for place in origin.places)
            if recordings > 1 and not stands and parse_reference(reference.text):
                _put(args, path, _get(drafted["gold_turn"]["args"], path))
                turn.note(("gold_turn", "args", *path), f"{reference.text} withdrawn: a recording does not bear it out")
        for path, text in references_of(drafted.get("gold_turn", {}).get("args", {})):
            if recordings > 1 and not any(at == path for at, _ in references_of(args)):
                _put(args, path, text.text)
        turn.form, turn.written = form, True

    def _renumber(self, value: JSON) -> Any:
        def renamed(reference: Any) -> str:
            return spelled((self._renumbered.get(reference.turn_no, reference.turn_no), reference.path))

        return _copied(fill(value, renamed))

    def _joined(self, written: Mapping[str, Any], drafted: Mapping[str, Any]) -> dict[str, Any]:
        """The author's matchers; where both list values the lists are joined, else the author's stands."""
        joined: dict[str, Any] = {}
        for name, matcher in written.items():
            new = drafted.get(name, {})
            if "any_of" in matcher and "any_of" in new:
                more = [item for item in new["any_of"] if item not in matcher["any_of"]]
                joined[name] = {"any_of": [*matcher["any_of"], *more]}
            else:
                joined[name] = matcher
        return joined


def _said(exchange: GoldenExchange) -> str:
    assert exchange.user is not None, "a scripted dialog begins with a User turn"
    return exchange.user.text


def _call(dialog: Dialog, turn: ToolTurn) -> RecordedCall:
    try:
        args = cast("Mapping[str, JSON]", dialog.golden_form(turn.args))
    except LookupError:
        args = turn.args
    return RecordedCall(turn.tool_id, turn.action, args, turn.result if turn.has_result else NOT_CAPTURED, turn.index)


def _text(dialog: Dialog, turn: AgentTurn | None) -> str | None:
    if turn is None or turn.response is None:
        return None
    try:
        return str(dialog.golden_form(turn.response))
    except LookupError:
        return turn.response


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item) for item in value]
    return value


def _get(value: Any, path: JSONPath) -> Any:
    for step in path:
        value = value[step]
    return value


def _put(value: Any, path: JSONPath, new: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new
