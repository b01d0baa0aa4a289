"""Whose conversation, which release, which golden dialog."""

import pytest

from aem_monitor.assembly import AssemblySettings
from aem_monitor.model.verdict import MIXED
from tests.assembly.building import agent, chat, span, text, tool
from tests.assembly.recordings import assembled


def test_an_id_is_inherited_from_above() -> None:
    (found,) = assembled([span("0", attributes={"session.id": "s"}), agent("1", "0", conversation=None, user="x")])
    assert found.conversation_id == "s"


def test_an_id_on_a_child_is_the_exchange_s() -> None:
    (found,) = assembled(
        [agent("1", conversation=None, user="x"), chat("2", "1", more={"gen_ai.conversation.id": "c"})]
    )
    assert found.conversation_id == "c"


def test_an_id_elsewhere_in_the_trace_is_the_last_resort() -> None:
    (found,) = assembled(
        [
            span("0"),
            agent("1", "0", conversation=None, user="x"),
            span("2", "0", attributes={"session.id": "s"}),
        ]
    )
    assert found.conversation_id == "s"


def test_the_id_of_highest_precedence_wins_and_the_others_are_aliases() -> None:
    (found,) = assembled([agent("1", user="x", conversation="c", more={"session.id": "s", "langfuse.session.id": "l"})])
    assert (found.conversation_id, found.key, found.aliases) == ("c", "c", ("s", "l"))


def test_of_two_ids_of_one_name_the_outermost_wins() -> None:
    (found,) = assembled([agent("1", user="x", conversation="outer", end=3), agent("2", "1", conversation="inner")])
    assert found.conversation_id == "outer"


def test_an_id_inside_a_tool_call_is_another_conversation_s() -> None:
    (found,) = assembled(
        [
            agent("1", user="x", conversation=None, end=5, more={"session.id": "s"}),
            tool("2", "1", "ask", start=1, end=4),
            agent("3", "2", agent_name="expert", conversation="inner", start=2, end=3),
        ]
    )
    assert (found.conversation_id, found.aliases) == ("s", ())


@pytest.mark.parametrize("value", ["[Scrubbed due to 'session']", "", "  ", "resp_0123", "[REDACTED]"])
def test_what_is_no_id(value: str) -> None:
    (found,) = assembled([agent("1", user="x", conversation=value, more={"mcp.session.id": "m"})])
    assert (found.conversation_id, found.key) == (None, "a" * 32)


def test_the_number_of_an_operating_system_thread_is_no_conversation() -> None:
    # OpenTelemetry's Java agent writes thread.id on every span, also on a gateway's above the agent.
    found = assembled(
        [
            span("0", attributes={"thread.id": 31}, trace="a" * 32),
            agent("1", "0", user="x", conversation="one", trace="a" * 32),
            span("2", attributes={"thread.id": 31}, trace="b" * 32),
            agent("3", "2", user="y", conversation="two", trace="b" * 32),
        ]
    )
    assert [one.conversation_id for one in found] == ["one", "two"]
    assert all(not one.aliases for one in found)


def test_the_list_of_attributes_is_configurable() -> None:
    settings = AssemblySettings(conversation_id=("shop.chat", "gen_ai.conversation.id"))
    (found,) = assembled([agent("1", user="x", more={"shop.chat": 17})], settings=settings)
    assert (found.conversation_id, found.aliases) == ("17", ("c-1",))


def test_an_id_may_be_the_resource_s() -> None:
    settings = AssemblySettings(conversation_id=("shop.chat", "resource:service.name", "session.id"))
    (found,) = assembled([agent("1", user="x", more={"session.id": "s"})], settings=settings)
    assert (found.conversation_id, found.aliases) == ("shop", ("s",))


def test_one_trace_may_hold_several_conversations() -> None:
    found = assembled(
        [
            span("0", end=9),
            agent("1", "0", user="x", conversation="a", start=1, end=2),
            agent("2", "0", user="y", conversation="b", start=1.5, end=3),
            agent("3", "0", user="z", conversation="a", start=4, end=5),
        ]
    )
    assert [(c.conversation_id, [e.user.text for e in c.exchanges]) for c in found] == [("a", ["x", "z"]), ("b", ["y"])]


def test_several_conversations_of_one_trace_without_ids_have_keys_of_their_own() -> None:
    found = assembled(
        [
            span("0", end=9),
            agent("1", "0", user="x", reply="1", conversation=None, start=1, end=2),
            agent("2", "0", user="y", reply="2", conversation=None, start=3, end=4),
        ]
    )
    assert len({c.key for c in found}) == len(found)


def test_ids_made_anew_for_each_run_give_way_to_the_session() -> None:
    (found,) = assembled(
        [
            agent("1", trace="1" * 32, user="x", reply="y", conversation="run-1", more={"session.id": "s"}),
            agent("2", trace="2" * 32, user="z", reply="w", conversation="run-2", more={"session.id": "s"}, start=5),
        ]
    )
    assert found.conversation_id == "s"
    assert set(found.aliases) == {"run-1", "run-2"}


def test_conversations_of_one_session_stay_apart() -> None:
    found = assembled(
        [
            agent("1", trace="1" * 32, user="x", reply="y", conversation="a", more={"session.id": "s"}),
            agent("2", trace="2" * 32, user="z", reply="w", conversation="b", more={"session.id": "s"}, start=5),
            agent("3", trace="3" * 32, user="u", reply="v", conversation="a", more={"session.id": "s"}, start=9),
        ]
    )
    assert [(c.conversation_id, len(c.exchanges)) for c in found] == [("a", 2), ("b", 1)]


def test_a_turn_that_carries_only_the_alias_belongs_to_the_conversation() -> None:
    (found,) = assembled(
        [
            agent("1", trace="1" * 32, user="x", reply="y", conversation="a", more={"session.id": "s"}),
            agent("2", trace="2" * 32, user="z", reply="w", conversation=None, more={"session.id": "s"}, start=5),
        ]
    )
    assert (found.conversation_id, len(found.exchanges)) == ("a", 2)


def test_the_release_is_that_of_the_agent_s_own_resource() -> None:
    (found,) = assembled(
        [
            span("0", service="driver", release="9.9", attributes={"release": "8.8"}),
            agent("1", "0", user="x", service="shop", release="1.0", more={"gen_ai.agent.version": "7"}),
            tool("2", "1", "t", service="mcp", release="3.3"),
        ]
    )
    assert (found.release, found.agent) == ("1.0", "shop")
    assert [c.release for c in found.exchanges[0].calls] == ["1.0"]


def test_without_a_resource_version_the_list_decides() -> None:
    (found,) = assembled(
        [
            span("0", service="driver", release="9.9", attributes={"release": "8.8"}),
            agent("1", "0", user="x", release=None, more={"release": "2", "gen_ai.agent.version": "7"}),
        ]
    )
    assert found.release == "7"
    (bare,) = assembled([agent("1", user="x", release=None)])
    assert bare.release is None


def test_turns_of_two_releases_are_a_mixed_conversation() -> None:
    (found,) = assembled(
        [
            agent("1", trace="1" * 32, user="x", release="1.0"),
            agent("2", trace="2" * 32, user="y", release="1.1", start=5),
        ]
    )
    assert found.release == MIXED
    assert [e.response.release for e in found.exchanges if e.response] == ["1.0", "1.1"]


def test_an_sdk_s_default_service_name_is_no_agent() -> None:
    (found,) = assembled([agent("1", user="x", service="unknown_service:python", agent_name="shop_agent")])
    assert found.agent == "shop_agent"


def test_marks_on_the_driver_s_span_are_the_conversation_s() -> None:
    (found,) = assembled(
        [
            span(
                "0",
                service="driver",
                attributes={"aem.dialog.id": "refund", "aem.run.id": "r-1", "aem.run.end": True, "canary": "yes"},
            ),
            agent("1", "0", user="x"),
        ]
    )
    assert (found.dialog_ids, found.run_ids, found.ended) == (("refund",), ("r-1",), True)
    assert found.attributes["canary"] == "yes"
    assert found.attributes["service.name"] == "shop"


def test_an_end_marker_that_says_false_does_not_end() -> None:
    (found,) = assembled([agent("1", user="x", more={"aem.run.end": False})])
    assert not found.ended


def test_response_ids_chain_turns_of_a_server_side_conversation() -> None:
    def turn(number: int, previous: str | None) -> list[object]:
        more = {"gen_ai.response.id": f"resp_{number}"}
        if previous:
            more["gen_ai.request.previous_response.id"] = previous
        return [
            chat(
                str(number),
                trace=str(number) * 32,
                input=[text("user", f"u{number}")],
                output=[text("assistant", f"a{number}")],
                start=number * 5,
                more=more,
            )
        ]

    (found,) = assembled([*turn(1, None), *turn(2, "resp_1"), *turn(3, "resp_2")])  # type: ignore[list-item]
    assert [e.user.text for e in found.exchanges] == ["u1", "u2", "u3"]
