"""A driver's span above the agent says which dialog is played and what the user said; it is no turn itself."""

from dataclasses import replace

import pytest

from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_proto import decode_traces_proto
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.span import Span
from aem_monitor.player.faults import Outcome
from aem_monitor.player.span import PlaySpan
from tests.assembly.building import T0, agent, chat, span, text, tool
from tests.assembly.recordings import REGISTRY, SETTINGS, assembled

SAID = 'Refund "A-1", please.\u2028Thanks \ud83d\ude00'.encode("utf-16", "surrogatepass").decode("utf-16")
DRIVER = "d" * 16


def driven(*below: Span, lost: bool = False, last: bool = False) -> Conversation:
    """The one conversation of the player's own span, as the monitor decodes it, and the spans below it."""
    played = PlaySpan("refund", "play-1", SAID)
    request = played.export("http://agent:8000/chat", 10.0, Outcome.ANSWERED, 200, last=last)
    decoded = decode_traces_proto(
        request.SerializeToString(), Limits(), Prefilter([*REGISTRY.markers, *SETTINGS.markers])
    )
    (sent,) = decoded.spans
    own = replace(sent, trace_id="a" * 32, span_id=DRIVER, start_ns=T0, end_ns=T0 + 10**10)
    assert REGISTRY.read(own) is None
    (found,) = assembled([*below] if lost else [own, *below])
    return found


WORKING = (tool("2", "1", "pay", start=2, end=3), agent("1", DRIVER, user=SAID, reply="Done.", end=9))


def test_the_agents_own_spans_are_the_turns_of_the_run_that_the_driver_names() -> None:
    found = driven(*WORKING)
    assert (found.dialog_ids, found.run_ids, found.ended) == (("refund",), ("play-1",), False)
    assert (found.conversation_id, found.aliases) == ("play-1", ())
    assert (found.agent, found.release) == ("shop", "1.0")
    (exchange,) = found.exchanges
    assert (exchange.user.text, [call.name for call in exchange.calls]) == (SAID, ["pay"])
    assert exchange.response is not None
    assert (exchange.response.text, exchange.response.span_id) == ("Done.", "1")
    # The driver's time is not the agent's.
    assert exchange.start_ns == T0
    assert exchange.end_ns == T0 + 9 * 10**9


def test_without_the_driver_the_same_spans_name_no_dialog() -> None:
    assert driven(*WORKING, lost=True).dialog_ids == ()


def test_a_lost_span_between_driver_and_agent_changes_nothing() -> None:
    # The agent's clock is behind; where the chain is whole, that is corrected.
    below = [agent("1", "gone", user=SAID, reply="Done.", start=-1, end=9), tool("2", "1", "pay", start=2, end=3)]
    found = driven(*below)
    assert (found.dialog_ids, found.conversation_id, len(found.exchanges)) == (("refund",), "play-1", 1)
    server = span("5", DRIVER, end=9)
    assert driven(server, agent("1", "5", user=SAID, reply="Done.", end=9)).dialog_ids == ("refund",)


@pytest.mark.parametrize("shown", [None, f"Today is Monday. The customer says: {SAID} Answer politely."])
def test_the_user_said_what_the_driver_says_whatever_the_model_was_shown(shown: str | None) -> None:
    (exchange,) = driven(agent("1", DRIVER, user=shown, reply="Done.")).exchanges
    assert exchange.user.text == SAID


def test_calls_whose_agent_span_was_lost_belong_to_what_the_user_said() -> None:
    (exchange,) = driven(tool("2", "gone", "pay", start=2, end=3)).exchanges
    assert (exchange.user.text, [call.name for call in exchange.calls]) == (SAID, ["pay"])
    assert (exchange.response, exchange.complete) == (None, False)


def test_a_driver_that_broke_off_ends_the_conversation() -> None:
    assert driven(*WORKING, last=True).ended is True


def test_a_plain_span_that_names_no_dialog_says_nothing_of_the_user() -> None:
    plain = span("9", attributes={"gen_ai.input.messages": '[{"role": "user", "content": "Something else"}]'})
    (found,) = assembled([plain, chat("1", "9", input=[text("user", "Hi")], output=[text("assistant", "Hello")])])
    assert found.exchanges[0].user.text == "Hi"


def test_agents_that_work_on_one_message_one_after_the_other_are_one_exchange() -> None:
    router = agent("1", DRIVER, agent_name="router", user="Which team?", reply="billing", start=1, end=2)
    billing = agent("2", DRIVER, agent_name="billing", user=f"Team: billing. {SAID}", reply="Done.", start=3, end=9)
    (exchange,) = driven(router, billing, tool("3", "2", "pay", start=4, end=5)).exchanges
    assert (exchange.user.text, [call.name for call in exchange.calls]) == (SAID, ["pay"])
    assert exchange.response is not None
    assert (exchange.response.text, exchange.complete) == ("Done.", True)
