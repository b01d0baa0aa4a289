"""A golden dialog that more recordings are added to: what its author wrote stays unless a recording contradicts it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, cast

from aem_monitor.bootstrap.proof import Numbering, Origin, spelled
from aem_monitor.bootstrap.recorded import RecordedCall, RecordedExchange, Recording
from aem_monitor.bootstrap.rewrite import in_order, rewritten
from aem_monitor.bootstrap.script import Scene
from aem_monitor.bootstrap.sheet import DraftTurn, Sheet
from aem_monitor.errors import UsageError
from aem_monitor.golden.dialog import AgentTurn, Dialog, GoldenExchange, ToolTurn
from aem_monitor.golden.form import MAX_ALTERNATES
from aem_monitor.golden.reference import JSONPath, Reference, fill, parse_reference, references_of
from aem_monitor.golden.write import write_yaml
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.jsontree import step_into


@dataclass(slots=True)
class Existing:
    """``value`` is the file's content, ``recording`` the same read as the first recording of its script.

    ``text`` is the file as it stands. ``lost`` tells what of it could not be kept.
    """

    dialog: Dialog
    value: Mapping[str, Any]
    text: str
    recording: Recording
    _turns: dict[int, Mapping[str, Any]]
    _replies: list[Mapping[str, Any] | None]
    lost: list[str] = field(default_factory=list)
    _renumbered: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, dialog: Dialog, value: Mapping[str, Any], day: date, text: str) -> "Existing":
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
        return cls(dialog, value, text, recording, turns, replies)

    @property
    def top(self) -> Mapping[str, Any]:
        """The keys beside the turns."""
        return {key: item for key, item in self.value.items() if key != "turns"}

    @property
    def tools(self) -> Mapping[str, Any]:
        """The entries of ``tools`` as written."""
        return cast("Mapping[str, Any]", self.value.get("tools", {}))

    def rewritten(self, sheet: Sheet) -> str:
        """The file with what recordings changed. JSON has but its order of keys to keep."""
        new = sheet.value()
        if not self.text.lstrip().startswith("{"):
            text = rewritten(self.text, self.value, new, sheet.comments(), {("turns",): sheet.places()})
            if text is not None:
                return text
            self.lost.append("comments and layout, since the file is written in a form that cannot be changed in parts")
        ordered = {name: new[name] for name in in_order(new, list(self.value))}
        return write_yaml(ordered, sheet.comments())

    def mark(self, scenes: Sequence[Scene]) -> None:
        """Tell each step and reply of a script which turn of the file it is."""
        for scene, reply in zip(scenes, self._replies, strict=True):
            scene.written_reply = reply
            for step in scene.steps:
                call = step.calls.get(0)
                step.written = self._turns.get(id(call)) if call is not None else None

    def number(self, scenes: Sequence[Scene]) -> Numbering:
        """Number the turns: those of the file as they are, others between them, or all anew where no number is free."""
        known: dict[tuple[int, int], int] = {}
        for index, scene in enumerate(scenes):
            written = [(at, step.written) for at, step in enumerate(scene.steps)]
            for at, turn in [*written, (-1, scene.written_reply)]:
                if turn is not None:
                    known[index, at] = int(str(turn["turn_no"]))
        kept = Numbering.keeping(scenes, known)
        numbering = kept or Numbering.rising(scenes)
        self._renumbered = {number: numbering.of[key] for key, number in known.items()}
        if kept is None:
            moves = ", ".join(f"{old} is {new}" for old, new in self._renumbered.items() if old != new)
            self.lost.append(f"turn numbers given anew, since none was free where a turn came in: {moves}")
        return numbering

    def user_places(self) -> list[int]:
        """Where the User turns are among the turns."""
        return [index for index, turn in enumerate(self.value["turns"]) if turn["turn"] == "User"]

    def restore(
        self,
        turn: DraftTurn,
        written: Mapping[str, Any],
        origins: Mapping[JSONPath, Origin],
        calls: Sequence[RecordedCall],
    ) -> None:
        """Make a drafted turn what the file has, with what the recordings add; ``calls`` are theirs and the file's own.

        A reference of the author's is withdrawn where several recordings made the call and do not agree on it, and a
        value of his gives way to one only where a recording has another value.
        """
        drafted = turn.form
        turn.place = next(index for index, one in enumerate(self.value["turns"]) if one is written)
        form: dict[str, Any] = {**written, "turn_no": drafted["turn_no"]}
        for key in ("gold_turn", "must_mention", "alternates"):
            if key in form:
                form[key] = self._renumber(form[key])
        depends = [self._renumbered[number] for number in written.get("depends_on", ())]
        depends += sorted(set(drafted.get("depends_on", ())) - set(depends))
        if depends:
            form["depends_on"] = depends
        # What recordings show is added; what the kind of a value suggests the author could have written.
        shown = {name: one for name, one in drafted.get("match", {}).items() if "any_of" in one or "set" in one}
        if shown:
            joined = self._joined(written.get("match", {}), shown)
            form["match"] = {**joined, **{name: one for name, one in shown.items() if name not in joined}}
        known = form.get("alternates", [])
        more = [other for other in drafted.get("alternates", ()) if other not in known]
        if more:
            form["alternates"] = [*known, *more][:MAX_ALTERNATES]
        # What is said about proposals that the author's own words stand against is not said.
        told = form.get("match", {})
        about: set[JSONPath] = {("match", name) for name in shown if told[name] != written.get("match", {}).get(name)}
        if len(form.get("alternates", ())) > len(written.get("alternates", ())):
            about.add(("alternates",))
        turn.notes = {path: lines for path, lines in turn.notes.items() if path in about}
        args = form.get("gold_turn", {}).get("args", {})
        for path, reference in list(references_of(args)):
            origin = origins.get(path)
            stands = origin is None or (reference.turn_no, tuple(reference.path)) in origin.places
            if len(calls) > 1 and not stands and parse_reference(reference.text):
                _put(args, path, _get(drafted["gold_turn"]["args"], path))
                turn.note(("gold_turn", "args", *path), f"{reference.text} withdrawn: a recording does not bear it out")
        for path, text in references_of(drafted.get("gold_turn", {}).get("args", {})):
            if _differ(calls, path) and not any(at == path for at, _ in references_of(args)):
                _put(args, path, text.text)
                turn.note(("gold_turn", "args", *path), f"{len(calls)} recordings bear this reference out: confirm")
        turn.form = form

    def _renumber(self, value: JSON) -> Any:
        def renamed(reference: Reference) -> str:
            number = self._renumbered.get(reference.turn_no, reference.turn_no)
            return reference.text if number == reference.turn_no else spelled((number, reference.path))

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


def _differ(calls: Sequence[RecordedCall], path: JSONPath) -> bool:
    """Whether calls have different values at a place that the first of them has."""
    found = [step_into(call.args, path) for call in calls if call.args is not None]
    return any(value is not NOT_CAPTURED and value != found[0] for value in found)


def _put(value: Any, path: JSONPath, new: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new
