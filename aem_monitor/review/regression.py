"""An answered case as a regression case of ``golden test``: it pins what the person decided, and no more. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aem_monitor.errors import UsageError
from aem_monitor.golden.cases import Case
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.review.answers import Answer
from aem_monitor.review.cases import SHORT_ID


def case_with(present: Sequence[Case], answer: Answer, traces: str, conversation: str, note: str | None) -> Case:
    """The case of the answer's run, with what was decided of it before.

    Args:
        present: the cases of the file; one run has one case there.
        answer: the new decision.
        traces: the trace file, as the case file names it. It holds this run alone.
        conversation: its id in those traces.
        note: why.

    Raises:
        UsageError: nothing was decided.
    """
    result = answer.case.result
    name = f"review {result.run_id[:SHORT_ID]}"
    known = next((case for case in present if case.case == name), None)
    stated: dict[str, Any] = {} if known is None else known.value()
    expect = dict(stated.get("expect", {}))
    if answer.success is None:
        raise UsageError(f"{answer.case.name}: it stays open whether the turn passes, so that no test can expect it")
    if answer.case.turn is None:
        expect["test_pass"] = answer.success
    else:
        turns = [*expect.get("verdict", {}).get("turns", ())]
        kept = [turn for turn in turns if turn["turn_no"] != answer.case.turn.turn_no]
        kept.append(_entry(answer))
        expect["verdict"] = {"turns": sorted(kept, key=lambda turn: int(turn["turn_no"]))}
    notes = [text for text in (stated.get("note"), note) if text]
    value = {
        "case": name,
        "dialog": result.dialog,
        "version": result.dialog_version,
        "traces": [traces],
        "conversation": conversation,
        **({"note": "; ".join(dict.fromkeys(notes))} if notes else {}),
        "expect": expect,
    }
    return Case.model_validate(value)


def _entry(answer: Answer) -> Mapping[str, JSON]:
    turn = answer.case.turn
    assert turn is not None
    entry: dict[str, JSON] = {"turn_no": turn.turn_no, "success": answer.success}
    if answer.success is False and answer.agrees and turn.failure_reason is not None:
        entry |= {"failure_reason": turn.failure_reason.value, "root_cause": turn.root_cause}
    return entry
