"""The expected reply of an exchange: its text with references, and the facts that it has to mention."""

from collections.abc import Sequence
from typing import Any, Final

from aem_monitor.bootstrap.existing import Existing
from aem_monitor.bootstrap.proof import Numbering, Origin, Proofs, spelled
from aem_monitor.bootstrap.script import Scene
from aem_monitor.bootstrap.sheet import DraftTurn
from aem_monitor.golden.reference import resolve, spoken
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.values import Fact

_NOT_MENTIONED: Final = frozenset({"quoted"})
"""Kinds of facts that are words rather than values."""


def draft_reply(
    number: int,
    scene: Scene,
    numbering: Numbering,
    proofs: Proofs,
    results: dict[int, JSON],
    existing: Existing | None = None,
) -> DraftTurn | None:
    """The Agent turn of a scene, or None where no recording has a reply. ``results`` are golden results by turn."""
    turn_no = numbering.of.get((number, -1))
    if turn_no is None:
        return None
    turn = DraftTurn({"turn_no": turn_no, "turn": "Agent"})
    if scene.written_reply is not None and existing is not None:
        existing.restore(turn, scene.written_reply, {}, ())
        return turn
    run = min(scene.replies)
    write_reply(turn, scene.replies[run], proofs.facts.get((turn_no, run), []), results)
    return turn


def write_reply(turn: DraftTurn, text: str, found: Sequence[tuple[Fact, Origin]], results: dict[int, JSON]) -> None:
    """Write the reference text and its mentions into a turn."""
    mentions: dict[str, None] = {}
    said: set[str] = set()
    depends: set[int] = set()
    out = text
    for fact, origin in reversed(found):
        proven = origin.proven
        if proven is None:
            depends |= set(origin.turns)
            continue
        held = _held(results, proven[0], proven[1])
        if held is not NOT_CAPTURED and spoken(held) == fact.text == text[fact.start : fact.end]:
            out = out[: fact.start] + spelled(proven) + out[fact.end :]
    for fact, origin in found:
        if fact.kind in _NOT_MENTIONED or not origin.turns or fact.text.casefold() in said:
            continue
        said.add(fact.text.casefold())
        mentions[spelled(origin.proven) if origin.proven is not None else fact.text] = None
    turn.form["gold_turn"] = {"response": out}
    if mentions:
        turn.form["must_mention"] = list(mentions)
        turn.note(("must_mention",), "what the reply took from results: keep what every good reply has to say")
    referred = {origin.proven[0] for _, origin in found if origin.proven is not None}
    if depends - referred:
        turn.form["depends_on"] = sorted(depends - referred)


def _held(results: dict[int, JSON], turn_no: int, path: tuple[str | int, ...]) -> Any:
    try:
        return resolve(path, results[turn_no])
    except LookupError:
        return NOT_CAPTURED
