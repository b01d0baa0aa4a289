"""Calls that differ only in ids the run invented: what earlier calls returned tells which expectation each answers."""

from itertools import permutations

import pytest

from tests.playing import Call, agent, entry, exchange, golden, judged, tool, user, words

ASK = "Order a lamp and a desk, then show me both orders."
TOOLS = {"orders": {"read_only": ["Get", "Invoice", "Lines"]}}
BOTH = golden(
    [
        user(ASK),
        tool(1, "orders.Create", {"item": "lamp"}, result={"id": "A-1"}),
        tool(2, "orders.Create", {"item": "desk"}, result={"id": "A-2"}),
        tool(3, "orders.Get", {"order": "${1.result.id}"}, result={"invoice": "I-1"}),
        tool(4, "orders.Get", {"order": "${2.result.id}"}, result={"invoice": "I-2"}),
        tool(5, "orders.Invoice", {"invoice": "${3.result.invoice}"}, tags=["OrderInvariant_i"]),
        tool(6, "orders.Invoice", {"invoice": "${4.result.invoice}"}, tags=["OrderInvariant_i"]),
        agent(7, "Done."),
    ],
    tools=TOOLS,
)
CREATE = [
    Call("orders.Create", {"item": "lamp"}, {"id": "X-7"}),
    Call("orders.Create", {"item": "desk"}, {"id": "X-9"}),
]
GET = [
    Call("orders.Get", {"order": "X-7"}, {"invoice": "J-7"}),
    Call("orders.Get", {"order": "X-9"}, {"invoice": "J-9"}),
]
INVOICE = [Call("orders.Invoice", {"invoice": "J-7"}), Call("orders.Invoice", {"invoice": "J-9"})]


@pytest.mark.parametrize("invoices", list(permutations(INVOICE)))
@pytest.mark.parametrize("gets", list(permutations(GET)))
@pytest.mark.parametrize("creates", list(permutations(CREATE)))
def test_calls_of_one_tool_are_told_apart_by_the_runs_own_ids(
    creates: tuple[Call, ...], gets: tuple[Call, ...], invoices: tuple[Call, ...]
) -> None:
    result = judged(BOTH, exchange(ASK, [*creates, *gets, *invoices], "Done."))
    assert set(words(result).values()) == {"pass"}


def test_ids_of_an_earlier_exchange_tell_as_well() -> None:
    show = "Show me both."
    dialog = golden(
        [
            user(ASK),
            tool(1, "orders.Create", {"item": "lamp"}, result={"id": "A-1"}),
            tool(2, "orders.Create", {"item": "desk"}, result={"id": "A-2"}),
            agent(3, "Done."),
            user(show),
            tool(4, "orders.Get", {"order": "${1.result.id}"}),
            tool(5, "orders.Get", {"order": "A-2"}, depends_on=[2]),
            agent(6, "Here they are."),
        ],
        tools=TOOLS,
    )
    result = judged(dialog, exchange(ASK, CREATE, "Done."), exchange(show, GET[::-1], "Here they are.", at=100))
    assert set(words(result).values()) == {"pass"}


def test_of_several_reads_the_one_with_the_runs_own_id_is_judged_wherever_it_stands() -> None:
    dialog = golden(
        [
            user(ASK),
            tool(1, "orders.Create", {"item": "lamp"}, result={"id": "A-1"}),
            tool(2, "orders.Get", {"order": "${1.result.id}"}),
            agent(3, "Done."),
        ],
        tools=TOOLS,
    )
    for order in permutations((GET[0], Call("orders.Get", {"order": "X-1"}), Call("orders.Get", {"order": "A-1"}))):
        result = judged(dialog, exchange(ASK, [CREATE[0], *order], "Done."))
        assert words(result) == {1: "pass", 2: "pass", 3: "pass"}


def test_an_optional_turn_is_answered_only_by_a_call_with_the_runs_own_id() -> None:
    dialog = golden(
        [
            user(ASK),
            tool(1, "orders.Create", {"item": "lamp"}, result={"id": "A-1"}),
            tool(2, "orders.Get", {"order": "${1.result.id}"}, presence="optional"),
            agent(3, "Done."),
        ],
        tools=TOOLS,
    )
    own = judged(dialog, exchange(ASK, [CREATE[0], GET[0]], "Done."))
    other = judged(dialog, exchange(ASK, [CREATE[0], GET[1]], "Done."))
    assert words(own) == {1: "pass", 2: "pass", 3: "pass"}
    assert words(other) == {1: "pass", 3: "pass"}


def test_where_the_creating_call_failed_its_ids_tell_nothing() -> None:
    creates = [Call("orders.Create", {"item": "sofa"}, {"id": "X-7"}), CREATE[1]]
    result = judged(BOTH, exchange(ASK, [*creates, *GET[::-1], *INVOICE], "Done."))
    assert words(result)[1] == "root inconsistent_parameter_values"
    assert [words(result)[number] for number in (2, 4, 6)] == ["pass", "pass", "pass"]
    assert entry(result, 3).blames == (1,)
