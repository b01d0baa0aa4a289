"""A golden dialog drafted from recordings: turns, references, matchers and mentions, each with what it rests on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aem_monitor.attribution.graph import leaves
from aem_monitor.attribution.steps import Judge
from aem_monitor.bootstrap.arguments import compare_arguments
from aem_monitor.bootstrap.check import AnotherReply, Checked, hold_against
from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.existing import Existing
from aem_monitor.bootstrap.proof import Numbering, Origin, Place, Proofs, gold_call, proofs_of, spelled
from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.bootstrap.replies import draft_reply, write_reply
from aem_monitor.bootstrap.script import Scene, Step, scenes_of
from aem_monitor.bootstrap.sheet import DraftTurn, Sheet
from aem_monitor.bootstrap.tools import CallName, Toolbox
from aem_monitor.golden.form import MAX_ALTERNATES
from aem_monitor.golden.knownvalues import known_from
from aem_monitor.golden.load import dialog_from
from aem_monitor.golden.reference import JSONPath, references_of
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.scoring.values import ValueContext

_SHOWN_PLACES: Final = 3
_HEAD: Final = frozenset(
    {"dialog", "version", "agent", "review", "recognise", "reference_date", "tools", "extra_calls", "turns"}
)
"""Keys before the turns; what else an existing dialog has follows them."""


@dataclass(slots=True)
class Drafter:
    """Makes a sheet of recordings with the same script. ``existing`` is a dialog that they are to be added to."""

    recordings: Sequence[Recording]
    definitions: Mapping[str, ToolDefinition]
    split: Callable[[str], CallName]
    scorer: Scorer
    name: str
    note: str
    existing: Existing | None = None

    def draft(self, judge: Judge) -> tuple[Sheet, Checked]:
        """The draft, loosened until every recording passes it."""
        sheet, another = self.sheet()
        return sheet, hold_against(sheet, self.recordings, judge, another)

    def sheet(self) -> tuple[Sheet, AnotherReply]:
        """The draft, not yet held against its recordings, and the way to accept other recordings' replies in it."""
        runs = [*([self.existing.recording] if self.existing else []), *self.recordings]
        contexts = {index: ValueContext(recording.day) for index, recording in enumerate(runs)}
        called = {(call.tool, call.action) for run in runs for exchange in run.exchanges for call in exchange.calls}
        tools = Toolbox.of(
            called,
            self.definitions,
            self.split,
            self.existing.dialog.tools if self.existing else {},
            self.existing.tools if self.existing else {},
        )
        scenes = scenes_of(runs, contexts[len(contexts) - 1], self.scorer, tools.all_reads)
        if self.existing:
            self.existing.mark(scenes)
        numbering = self.existing.number(scenes) if self.existing else Numbering.rising(scenes)
        users = self.existing.user_places() if self.existing else []
        proofs = proofs_of(scenes, numbering, contexts)
        left_out: dict[CallName, frozenset[str]] = {}
        turns: list[DraftTurn] = []
        for number, scene in enumerate(scenes):
            place = users[number] if users else None
            turns.append(DraftTurn({"turn": "User", "text": scene.user}, list(scene.remarks), place=place))
            said = [earlier.user for earlier in scenes[: number + 1]]
            for at, step in enumerate(scene.steps):
                turn = self._step(step, numbering.of[number, at], proofs, contexts, left_out, tools, said)
                self._presence(turn, step, tools, len(runs))
                turns.append(turn)
            self._order(number, scene, numbering, turns)
            results = {known.number: known.form["result"] for known in turns if known.number and "result" in known.form}
            reply = draft_reply(number, scene, numbering, proofs, results, self.existing)
            if reply is not None:
                turns.append(reply)
        sheet = self._sheet(runs, turns, tools, left_out)
        settle_presence(sheet, tools.all_reads)
        declare_known(sheet)
        return sheet, _other_replies(runs, scenes, numbering, proofs, turns)

    def _sheet(
        self,
        runs: Sequence[Recording],
        turns: list[DraftTurn],
        tools: Toolbox,
        left_out: Mapping[CallName, frozenset[str]],
    ) -> Sheet:
        entries, notes = tools.entries(left_out)
        notes.setdefault((), []).insert(
            0,
            "Draft: every proposal below says what it rests on. Confirm or correct each, remove the comments, and set "
            "review: {status: human}.",
        )
        written = self.existing.top if self.existing else {}
        top: dict[str, Any] = {
            "dialog": self.name,
            "version": written.get("version", 1),
            "review": {"status": "draft", "note": self.note},
        }
        if self.existing and not self.existing.dialog.draft:
            top["version"] += 1
        if "agent" in written:
            top["agent"] = written["agent"]
        spellings = dict.fromkeys(run.exchanges[0].user for run in runs)
        recognise = dict(written.get("recognise", {}))
        known = recognise.get("first_user", [])
        # The first User turn counts as a spelling of itself; a file that leaves it at that goes on to.
        if self.existing:
            spellings.pop(runs[0].exchanges[0].user)
        if more := [spelling for spelling in spellings if spelling not in known]:
            recognise["first_user"] = [*known, *more]
        if recognise:
            top["recognise"] = recognise
        if "reference_date" in written:
            top["reference_date"] = written["reference_date"]
        elif not self.existing:
            top["reference_date"] = runs[0].day.isoformat()
            notes[("reference_date",)] = [
                'The day of the recording: what "today" means in it. Without it the day of each run counts.'
            ]
        if entries:
            top["tools"] = entries
        if not self.existing or "extra_calls" in written:
            top["extra_calls"] = written.get("extra_calls", "ignore_read_only")
        rest = {key: item for key, item in written.items() if key not in _HEAD}
        return Sheet(top, turns, rest, notes)

    def _step(
        self,
        step: Step,
        number: int,
        proofs: Proofs,
        contexts: Mapping[int, ValueContext],
        left_out: dict[CallName, frozenset[str]],
        tools: Toolbox,
        said: Sequence[str],
    ) -> DraftTurn:
        call = step.first
        turn = DraftTurn({"turn_no": number, "turn": "Tool", "gold_turn": gold_call(call)})
        if call.args is None:
            turn.remark("The arguments were not captured whole: write them, or this turn judges none.")
        if call.result is not NOT_CAPTURED:
            turn.form["result"] = call.result
        origins = proofs.arguments.get(number, {})
        depends: set[int] = set()
        replaced: dict[JSONPath, str] = {}
        for path, _ in leaves(call.args or {}):
            origin = origins.get(path, Origin())
            at: JSONPath = ("gold_turn", "args", *path)
            proven = origin.proven
            if proven is not None:
                replaced[path] = spelled(proven)
                if len(contexts) > 1 and len(step.calls) > 1:
                    turn.note(at, f"confirmed by {len(step.calls)} recordings")
                elif len(origin.places) > 1:
                    turn.note(at, f"an identifier, which stands as well in {_listed(origin.places[1:])}")
            elif origin.places:
                turn.note(at, _ambiguous(origin.places))
            elif origin.keyed:
                turn.note(
                    at,
                    f"from the result of turn {origin.turns[-1]}, below a key that is data itself, where no reference "
                    "can lead: in a run with other keys the value cannot be told",
                )
            if proven is None:
                depends |= set(origin.turns)
        replaced |= proofs.texts.get(number, {})
        absent = compare_arguments(
            turn, step, replaced, contexts, self.scorer, tools.schemas((call.tool, call.action)), said
        )
        if absent:
            name = call.tool, call.action
            left_out[name] = left_out.get(name, frozenset()) | absent
        for path, reference in replaced.items():
            put(turn.form["gold_turn"]["args"], path, reference)
        if depends:
            turn.form["depends_on"] = sorted(depends)
        self._alternates(turn, step, origins)
        if step.written is not None and self.existing:
            self.existing.restore(turn, step.written, origins, list(step.calls.values()))
        return turn

    def _alternates(self, turn: DraftTurn, step: Step, origins: Mapping[JSONPath, Origin]) -> None:
        for call in step.others[:MAX_ALTERNATES]:
            other = gold_call(call)
            for path, _ in leaves(call.args or {}):
                proven = origins.get(path, Origin()).proven
                if proven is not None:
                    put(other["args"], path, spelled(proven))
            if call.result is not NOT_CAPTURED:
                other["result"] = call.result
            turn.form.setdefault("alternates", []).append(other)
            turn.note(("alternates",), "what another recording did instead: confirm that it will do as well")

    def _presence(self, turn: DraftTurn, step: Step, tools: Toolbox, runs: int) -> None:
        if "presence" in turn.form:
            return
        if len(step.calls) < runs:
            turn.form["presence"] = "optional"
            if tools.reads((step.first.tool, step.first.action)):
                turn.remark(f"In {len(step.calls)} of {runs} recordings.")
            else:
                turn.remark(
                    f"A write that {len(step.calls)} of {runs} recordings make: confirm that it may be left out."
                )

    def _order(self, number: int, scene: Scene, numbering: Numbering, turns: Sequence[DraftTurn]) -> None:
        by_number = {turn.number: turn for turn in turns}
        for index, group in enumerate(scene.together, start=1):
            tag = f"OrderInvariant_{number + 1}_{index}"
            for at in group:
                turn = by_number[numbering.of[number, at]]
                tags = turn.form.setdefault("tags", [])
                if not any(str(known).startswith("OrderInvariant_") for known in tags):
                    tags.append(tag)
                    turn.note(("tags",), "recordings made these calls in different orders")


def _other_replies(
    runs: Sequence[Recording],
    scenes: Sequence[Scene],
    numbering: Numbering,
    proofs: Proofs,
    turns: Sequence[DraftTurn],
) -> AnotherReply:
    results = {turn.number: turn.form["result"] for turn in turns if turn.number is not None and "result" in turn.form}
    scene_of = {numbering.of[number, -1]: scene for number, scene in enumerate(scenes) if (number, -1) in numbering.of}

    def another(turn: DraftTurn, recording: Recording) -> bool:
        number = turn.number or 0
        run = next(index for index, known in enumerate(runs) if known is recording)
        text = scene_of[number].replies.get(run)
        if text is None:
            return False
        draft = DraftTurn({})
        write_reply(draft, text, proofs.facts.get((number, run), []), results)
        known = turn.form.get("alternates", [])
        other = {"response": draft.form["gold_turn"]["response"]}
        if other in known or other == turn.form["gold_turn"] or len(known) >= MAX_ALTERNATES:
            return False
        turn.form["alternates"] = [*known, other]
        return True

    return another


def settle_presence(sheet: Sheet, reads: frozenset[CallName]) -> None:
    """Reads are optional where nothing refers to their results; what something refers to has to be there."""
    referred = referred_turns(sheet)
    for number, turn in sheet.numbered().items():
        gold = turn.form.get("gold_turn", {})
        if turn.form["turn"] != "Tool" or (gold.get("tool_id"), gold.get("action")) not in reads:
            continue
        if "presence" not in turn.form and number not in referred and not turn.written:
            turn.form["presence"] = "optional"
        elif turn.form.get("presence") == "optional" and number in referred:
            turn.remark("Its result is referred to below: without it the golden value is expected there.")


def declare_known(sheet: Sheet) -> None:
    """Declare what ``golden lint`` would miss: dependencies by values that are not traced because they are common."""
    turns = sheet.turns
    for known in known_from(dialog_from(sheet.value(), "the draft")):
        form = turns[int(known.place[1])].form
        form["depends_on"] = sorted({*form.get("depends_on", ()), known.turn_no})


def referred_turns(sheet: Sheet) -> set[int]:
    """The turns to whose results some reference points."""
    found: set[int] = set()
    for turn in sheet.turns:
        parts: list[JSON] = [turn.form.get("gold_turn"), turn.form.get("must_mention")]
        found |= {reference.turn_no for part in parts for _, reference in references_of(part)}
    return found


def put(value: Any, path: JSONPath, new: JSON) -> None:
    """Replace a leaf, copying the containers on the way: recordings stay as they are."""
    for step in path[:-1]:
        inner = value[step]
        value[step] = dict(inner) if isinstance(inner, Mapping) else list(inner)
        value = value[step]
    value[path[-1]] = new


def _ambiguous(places: Sequence[Place]) -> str:
    return f"may come from {_listed(places)}: write the one that is meant, or leave the value"


def _listed(places: Sequence[Place]) -> str:
    shown = " or ".join(spelled(place) for place in places[:_SHOWN_PLACES])
    return shown + (f" or {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else "")
