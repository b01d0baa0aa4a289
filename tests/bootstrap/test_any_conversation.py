"""Whatever was said and done: a draft loads, and the conversation that it was made from does not fail it."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aem_monitor.bootstrap.recorded import Recording
from aem_monitor.model.jsonvalue import JSON
from tests.bootstrap.drafting import drafted, loaded, passes, recorded
from tests.playing import Call, exchange

NAMES = st.sampled_from(["get_order", "create_refund", "reports.Find", "reports.Share", "frobnicate"])
KEYS = st.sampled_from(["id", "order_id", "amount", "note", "day", "a key", "address_1", "items"])
SAID = """A-1042|R-7781|2026-11-30|19:30|7:30 pm|59.9|credit_card_4411|yes||The box was damaged badly|Dana Lee|12
dana@example.com|next Thursday|#W2378156|10 %|EUR 5"""
WORDS = st.sampled_from([*SAID.replace("\n", "|").split("|"), "two\nlines"])
SCALARS: st.SearchStrategy[JSON] = st.one_of(
    WORDS, st.integers(-5, 5000), st.sampled_from([59.9, 0.05, 1e20, -3.25]), st.booleans(), st.none()
)
VALUES: st.SearchStrategy[JSON] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
CALLS = st.builds(
    Call,
    NAMES,
    st.one_of(st.none(), st.dictionaries(KEYS, VALUES, max_size=3)),
    VALUES,
    st.sampled_from([None, None, None, "timeout"]),
)
SENTENCES = st.lists(WORDS, max_size=4).map(lambda words: f"I have {', '.join(words)} for you.")


@st.composite
def recordings(draw: st.DrawFn, count: int | None = None) -> Recording:
    """``count`` exchanges whose first messages are always the same."""
    count = count or draw(st.integers(1, 3))
    return recorded(
        *(
            exchange(
                f"Message {number} about A-1042",
                draw(st.lists(CALLS, max_size=3)),
                draw(st.one_of(st.none(), SENTENCES)),
                at=number * 1000,
            )
            for number in range(count)
        )
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(recordings())
def test_a_draft_loads_and_its_own_conversation_does_not_fail_it(recording: Recording) -> None:
    sheet, checked = drafted(recording)
    dialog = loaded(sheet)
    assert False not in passes(dialog, recording), (checked.loosened, checked.failing)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(recordings(count=2), recordings(count=2))
def test_a_draft_of_two_conversations_loads_and_neither_fails_it(one: Recording, other: Recording) -> None:
    sheet, checked = drafted(one, other)
    dialog = loaded(sheet)
    assert False not in passes(dialog, one, other), (checked.loosened, checked.failing)
