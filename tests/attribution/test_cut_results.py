"""Of a result only a part of which was captured, the rest is unknown: nothing fails by it, and nothing passes."""

from dataclasses import replace

import pytest

from aem_monitor.model.conversation import Exchange
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import RunResult
from tests.playing import Call, agent, exchange, golden, judged, tool, user, words

BALANCE = golden(
    [
        user("My balance?"),
        tool(1, "bank.Get", {"account": "A-1"}, result={"balance": 50.25, "currency": "EUR"}),
        agent(2, "Your balance is 50.25 EUR.", depends_on=[1]),
        user("Send it to me"),
        tool(3, "mail.send", {"amount": "${1.result.balance}"}),
        agent(4, None, must_mention=["${1.result.balance}"], depends_on=[1]),
    ],
    tools={"bank": {"read_only": ["Get", "List"]}},
)


def asked(result: JSON, reply: str, *more: Call, cut: bool) -> Exchange:
    said = exchange("My balance?", [Call("bank.Get", {"account": "A-1"}, result), *more], reply)
    return replace(said, calls=tuple(replace(call, result_truncated=cut) for call in said.calls))


def run(result: JSON, reply: str, *, cut: bool, amount: float = 70.5) -> RunResult:
    sent = exchange("Send it to me", [Call("mail.send", {"amount": amount})], f"I sent {amount}.", at=100)
    return judged(BALANCE, asked(result, reply, cut=cut), sent)


def test_a_fact_that_may_have_stood_in_the_missing_part_is_not_scored() -> None:
    result = run({"currency": "EUR"}, "Your balance is 70.50 EUR.", cut=True)
    assert words(result) == {1: "pass", 2: "content_truncated", 3: "content_truncated", 4: "content_truncated"}
    assert result.test_pass is None


def test_what_is_left_of_the_result_still_bears_out_what_it_says() -> None:
    result = run({"balance": 70.5}, "Your balance is 70.50 EUR.", cut=True)
    assert words(result) == {1: "pass", 2: "pass", 3: "pass", 4: "pass"}


def test_of_a_whole_result_nothing_is_unknown() -> None:
    result = run({"balance": 50.25, "currency": "EUR"}, "Your balance is 70.50 EUR.", cut=False)
    assert words(result)[2] == "root inconsistent_response"


def test_a_cut_result_of_a_further_call_counts_as_well() -> None:
    further = Call("bank.List", {}, {"accounts": ["A-1"]})
    said = asked(
        {"balance": 50.25, "currency": "EUR"}, "Your balance is 50.25 EUR, of which 20 is new.", further, cut=False
    )
    listed = replace(said, calls=(said.calls[0], replace(said.calls[1], result_truncated=True)))
    sent = exchange("Send it to me", [Call("mail.send", {"amount": 50.25})], "I sent 50.25.", at=100)
    assert words(judged(BALANCE, said, sent))[2] == "root inconsistent_response"
    assert words(judged(BALANCE, listed, sent))[2] == "content_truncated"


def test_what_contradicts_the_reference_is_wrong_whatever_was_cut() -> None:
    refund = golden(
        [user("Refund it"), tool(1, "bank.Refund", {"order": "A-1"}, result={"ok": True}), agent(2, "It was refunded.")]
    )
    said = exchange("Refund it", [Call("bank.Refund", {"order": "A-1"}, {"ok": True})], "It was not refunded.")
    cut = replace(said, calls=tuple(replace(call, result_truncated=True) for call in said.calls))
    assert words(judged(refund, cut))[2] == "root inconsistent_response"


@pytest.mark.parametrize("value", [2**80, "half \ud800", {"account": [10**30]}])
def test_values_that_only_python_can_write_are_judged_like_others(value: JSON) -> None:
    """A number in a text that was cut has as many digits as it had there."""
    note = golden([user("Note it"), tool(1, "notes.add", {"account": 17, "text": "hello"}), agent(2, "Done.")])
    called = Call("notes.add", {"account": value, "text": "hello"}, {"seen": value})
    assert words(judged(note, exchange("Note it", [called], "Done."))) == {
        1: "root inconsistent_parameter_values",
        2: "pass",
    }
