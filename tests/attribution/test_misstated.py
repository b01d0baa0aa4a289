"""Where a wrong statement of an open dialog was made."""

from tests.playing import agent, entry, exchange, golden, judged, words

DIALOG = golden([agent(1, must_mention=["10"])])


def span_of(*replies: str, asked: str = "How many shirts are there?") -> str | None:
    exchanges = [exchange(asked, reply=reply, at=100 * at) for at, reply in enumerate(replies)]
    result = judged(DIALOG, *exchanges)
    assert words(result) == {1: "root incomplete_response"}
    return entry(result, 1).span_id


def of(number: int) -> str:
    return f"{100 * 100 * number + 99:016x}"


def test_it_is_the_reply_that_states_another_value_in_its_place() -> None:
    assert span_of("Let me look.", "There are 11 shirts.", "You are welcome.") == of(1)


def test_a_value_that_the_user_brought_is_no_statement_of_the_agents() -> None:
    assert span_of("12 of them, I see.", "There are 11 shirts.", asked="Of 12, how many are there?") == of(1)


def test_a_list_numbers_nothing() -> None:
    assert span_of("The colours:\n1. red\n2. blue", "There are 11 shirts.") == of(1)


def test_what_was_merely_left_out_is_seen_at_the_last_reply() -> None:
    assert span_of("Let me look.", "Many.", "You are welcome.") == of(2)
