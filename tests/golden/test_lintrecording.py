"""Golden calls that recorded runs speak against."""

from typing import Any

from aem_monitor.attribution.steps import Judge, ScoringSettings
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.lintrecording import Recorded, against_recordings
from tests.playing import SCORER, Call, agent, exchange, golden, runs, tool, user

ASK = user("Cancel order A-1")
BEFORE = {"order": "A-1", "status": "open"}
AFTER = {"order": "A-1", "status": "cancelled"}
READS = {"orders": {"read_only": ["Get"]}}


def dialog(*more: dict[str, Any], **top: Any) -> Dialog:
    cancel = tool(2, "orders.Cancel", {"order": "A-1"})
    return golden([ASK, cancel, *more], tools=READS, **top)


def found(dialog: Dialog, *recordings: list[Call]) -> list[tuple[str, str]]:
    """Code and message, the turn's name left out."""
    judge = Judge(SCORER, ScoringSettings())
    recorded = [
        Recorded(run, judge.plan(run).result)
        for calls in recordings
        for run in runs(dialog, exchange("Cancel order A-1", calls, "It is done."))
    ]
    return [(code, remark.message) for code, remark in against_recordings([dialog], recorded)]


def codes(dialog: Dialog, *recordings: list[Call]) -> list[str]:
    return [code for code, _ in found(dialog, *recordings)]


def get(result: Any) -> Call:
    return Call("orders.Get", {"order": "A-1"}, result)


def cancel(result: Any = "ok", **more: Any) -> Call:
    return Call("orders.Cancel", {"order": "A-1"}, result, **more)


def test_a_dialog_without_a_recording_is_said() -> None:
    assert found(dialog()) == [("not-in-recording", "no run of this dialog is in the recordings")]


def test_a_call_that_goes_well_and_changes_something_is_fine() -> None:
    assert found(dialog(), [get(BEFORE), cancel(), get(AFTER)]) == []
    assert found(dialog(), [get(BEFORE), cancel(AFTER)]) == []


def test_a_call_that_ends_in_an_error_wherever_it_is_made_is_found() -> None:
    refused = cancel(None, error="not allowed")
    ((code, message),) = found(dialog(), [refused], [refused])
    assert code == "call-fails-in-recording"
    assert "turn 2, orders.Cancel, ends in an error wherever it is made (not allowed)" in message
    assert found(dialog(), [refused], [get(BEFORE), cancel(AFTER)]) == []


def test_what_an_optional_call_does_is_only_worth_knowing() -> None:
    judge = Judge(SCORER, ScoringSettings())
    asked = golden([ASK, tool(2, "orders.Cancel", {"order": "A-1"}, presence="optional")], tools=READS)
    for calls in ([cancel(None, error="no")], [get(BEFORE), cancel(BEFORE)]):
        (run,) = runs(asked, exchange("Cancel order A-1", calls, "It is done."))
        ((_, remark),) = against_recordings([asked], [Recorded(run, judge.plan(run).result)])
        assert remark.severity == "hint"


def test_a_write_that_returns_what_was_read_before_changes_nothing() -> None:
    ((code, message),) = found(dialog(), [get(BEFORE), cancel(BEFORE)])
    assert code == "no-effect-in-recording"
    assert "changes nothing in 1 recorded run:" in message


def test_a_write_after_which_a_read_shows_the_same_changes_nothing() -> None:
    assert codes(dialog(), [get(BEFORE), cancel(), get(BEFORE)]) == ["no-effect-in-recording"]


def test_one_run_in_which_it_changes_something_is_enough() -> None:
    assert codes(dialog(), [get(BEFORE), cancel(), get(BEFORE)], [get(BEFORE), cancel(), get(AFTER)]) == []


def test_what_does_not_tell_is_not_taken_for_no_effect() -> None:
    other = Call("orders.Get", {"order": "B-2"}, BEFORE)
    assert codes(dialog(), [other, cancel(), other]) == []
    assert codes(dialog(), [get("ok"), cancel("ok"), get("ok")]) == []
    assert codes(dialog(), [cancel(), get(BEFORE)]) == []
    # Another write between the reads may have changed it back.
    refund = Call("refunds.Create", {"order": "A-1"}, "ok")
    assert codes(dialog(extra_calls="ignore"), [get(BEFORE), cancel(), refund, get(BEFORE)]) == []


def test_a_read_changes_nothing_and_is_no_finding() -> None:
    reading = golden([ASK, tool(1, "orders.Get", {"order": "A-1"})], tools=READS)
    assert found(reading, [get(BEFORE), get(BEFORE)]) == []


def test_a_required_call_that_no_run_makes_is_found_and_an_optional_one_is_not() -> None:
    more = tool(3, "mail.Send", {"to": "dana"})
    assert found(dialog(more), [get(BEFORE), cancel(AFTER)]) == [
        ("never-in-recording", "turn 3, mail.Send, is made in none of 1 recorded run: is it needed?")
    ]
    assert found(dialog({**more, "presence": "optional"}), [get(BEFORE), cancel(AFTER)]) == []
    assert found(dialog({**more, "presence": "forbidden"}), [get(BEFORE), cancel(AFTER)]) == []
    made = Call("mail.Send", {"to": "dana"}, "ok")
    assert found(dialog(more), [get(BEFORE), cancel(AFTER)], [get(BEFORE), cancel(AFTER), made]) == []


def test_a_call_that_may_have_been_lost_is_not_called_needless() -> None:
    judge = Judge(SCORER, ScoringSettings())
    asked = dialog(agent(3, "Done."))
    (run,) = runs(asked, exchange("Cancel order A-1", [], complete=False))
    assert list(against_recordings([asked], [Recorded(run, judge.plan(run).result)])) == []
