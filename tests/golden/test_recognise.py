import pytest

from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.recognise import OUTCOMES, Recogniser, Where, starts
from tests.golden.builders import agent, conversation, dialog, tool, user

ORDER = dialog(user("Where is my order?"), tool(1), agent(2, "Here."), user("Refund it"), tool(3), name="order")
REPORT = dialog(user("Create a report"), tool(1), name="report", recognise={"first_user": ["Make a report"]})
OPEN = dialog(tool(1), name="open")


def replay(*dialogs: Dialog) -> Recogniser:
    return Recogniser(dialogs, require_where=False)


def test_an_id_on_the_spans_decides_whatever_the_user_says() -> None:
    found = replay(ORDER, OPEN).recognise(conversation("Where is my order?", dialog_ids=("open",)))
    assert (found.outcome, found.by, found.dialog) == ("recognised", "id", OPEN)


def test_an_id_needs_no_restriction_in_the_daemon() -> None:
    assert Recogniser([OPEN]).recognise(conversation("hi", dialog_ids=("open",))).dialog == OPEN


def test_an_unknown_id_is_an_outcome_of_its_own_and_no_reason_to_read_the_words() -> None:
    found = replay(ORDER).recognise(conversation("Where is my order?", dialog_ids=("gone",)))
    assert (found.outcome, found.dialog) == ("unknown_id", None)


def test_of_several_ids_the_one_known_dialog_is_played_and_two_are_ambiguous() -> None:
    recogniser = replay(ORDER, OPEN)
    assert recogniser.recognise(conversation("x", dialog_ids=("some-test", "open"))).dialog == OPEN
    found = recogniser.recognise(conversation("x", dialog_ids=("order", "open")))
    assert (found.outcome, found.candidates) == ("ambiguous", ("order", "open"))


@pytest.mark.parametrize("text", ["Where is my order?", "where is  my ORDER", "“Where is my order”"])
def test_the_first_message_in_any_spelling_recognises(text: str) -> None:
    found = replay(ORDER, REPORT).recognise(conversation(text))
    assert (found.outcome, found.by, found.dialog) == ("recognised", "text", ORDER)


@pytest.mark.parametrize("text", ["Make a report", "create a report."])
def test_listed_spellings_count_beside_the_first_user_turn(text: str) -> None:
    assert replay(ORDER, REPORT).recognise(conversation(text)).dialog == REPORT
    assert starts(REPORT, text)
    assert not starts(ORDER, text)


def test_a_later_message_may_start_a_play() -> None:
    assert replay(ORDER).recognise(conversation("Hello!", "Where is my order?")).dialog == ORDER


def test_messages_that_were_not_captured_recognise_nothing() -> None:
    assert replay(ORDER).recognise(conversation(None)).outcome == "none"
    assert replay(ORDER).recognise(conversation()).outcome == "none"
    assert replay(ORDER).recognise(conversation(None, "Where is my order?")).dialog == ORDER


def test_other_traffic_is_none() -> None:
    assert replay(ORDER, REPORT, OPEN).recognise(conversation("What is the weather?")).outcome == "none"


def test_two_dialogs_that_begin_alike_are_ambiguous_until_a_later_message_tells() -> None:
    cancel = dialog(user("Where is my order?"), tool(1), user("Cancel it"), tool(2), name="cancel")
    recogniser = replay(ORDER, cancel)
    found = recogniser.recognise(conversation("Where is my order?"))
    assert (found.outcome, found.dialog, found.candidates) == ("ambiguous", None, ("order", "cancel"))
    assert recogniser.recognise(conversation("Where is my order?", "cancel it!")).dialog == cancel
    assert recogniser.recognise(conversation("Where is my order?", "Refund it")).dialog == ORDER
    assert recogniser.recognise(conversation("Where is my order?", "Paint it")).outcome == "ambiguous"


def test_a_dialog_of_one_agent_is_not_played_by_another() -> None:
    mine = dialog(user("Hi"), name="mine", agent="shop")
    other = dialog(user("Hi"), name="other", agent="bank")
    assert replay(mine, other).recognise(conversation("Hi", agent_name="bank")).dialog == other
    assert replay(mine).recognise(conversation("Hi", agent_name="bank")).outcome == "none"
    found = replay(mine).recognise(conversation("Hi", agent_name="bank", dialog_ids=("mine",)))
    assert (found.outcome, found.candidates) == ("not_allowed", ("mine",))


def restricted(where: object, name: str = "hi") -> Dialog:
    return dialog(user("Hi"), name=name, recognise={"where": where})


@pytest.mark.parametrize(
    ("dialog_where", "default", "outcome"),
    [
        (None, None, "not_allowed"),
        (None, "any", "recognised"),
        ("any", None, "recognised"),
        (None, {"env": ["canary"]}, "recognised"),
        (None, {"env": ["prod"]}, "not_allowed"),
        ({"env": "canary"}, {"env": ["prod"]}, "recognised"),
        ({"env": "canary", "zone": "b"}, None, "not_allowed"),
        ({"env": ["test", "canary"]}, None, "recognised"),
        ({"missing": "x"}, "any", "not_allowed"),
    ],
)
def test_in_the_daemon_words_count_only_where_attributes_allow_it(
    dialog_where: object, default: Where, outcome: str
) -> None:
    found = Recogniser([restricted(dialog_where)], default).recognise(conversation("Hi", env="canary", zone="a"))
    assert found.outcome == outcome


def test_replay_needs_no_restriction_but_heeds_one_that_is_written() -> None:
    assert replay(restricted(None)).recognise(conversation("Hi")).outcome == "recognised"
    assert replay(restricted({"env": "canary"})).recognise(conversation("Hi", env="prod")).outcome == "not_allowed"


@pytest.mark.parametrize("value", [True, "true", ["x", "true"]])
def test_attribute_values_are_compared_as_text_and_any_of_a_list_will_do(value: object) -> None:
    assert replay(restricted({"canary": True})).recognise(conversation("Hi", canary=value)).dialog  # type: ignore[arg-type]


def test_restrictions_tell_dialogs_with_the_same_words_apart() -> None:
    one, two = restricted({"env": "a"}, "one"), restricted({"env": "b"}, "two")
    assert replay(one, two).recognise(conversation("Hi", env="b")).dialog == two


def test_the_attributes_that_restrictions_read_are_known() -> None:
    recogniser = Recogniser([restricted({"env": "a"}), restricted(None, "other")], {"zone": ["x"]})
    assert recogniser.attributes == {"env", "zone"}


def similar(scores: dict[str, float], *dialogs: Dialog) -> Recogniser:
    return Recogniser(dialogs, None, require_where=False, similarity=lambda golden, _: scores.get(golden, 0.0))


def test_a_similar_message_recognises_with_a_lead_over_the_second_best() -> None:
    found = similar({"Create a report": 0.95, "Where is my order?": 0.8}, ORDER, REPORT).recognise(
        conversation("A report")
    )
    assert (found.outcome, found.by, found.dialog) == ("recognised", "similar", REPORT)


def test_without_a_lead_the_outcome_is_ambiguous() -> None:
    scores = {"Create a report": 0.95, "Where is my order?": 0.9}
    found = similar(scores, ORDER, REPORT).recognise(conversation("An order report"))
    assert (found.outcome, found.candidates) == ("ambiguous", ("report", "order"))


def test_below_the_threshold_nothing_is_guessed() -> None:
    assert similar({"Create a report": 0.84}, REPORT).recognise(conversation("A report")).outcome == "none"


def test_two_spellings_of_one_dialog_do_not_compete() -> None:
    scores = {"Create a report": 0.95, "Make a report": 0.94}
    assert similar(scores, REPORT).recognise(conversation("A report")).dialog == REPORT


def test_similarity_is_not_asked_where_words_do_not_count() -> None:
    def fail(_: str, __: str) -> float:
        raise AssertionError("asked")

    recogniser = Recogniser([ORDER], similarity=fail)
    assert recogniser.recognise(conversation("Where might my order be?")).outcome == "none"


def test_similar_messages_with_other_numbers_are_not_the_same() -> None:
    numbered = dialog(user("Where is order 7?"), name="numbered")
    assert similar({"Where is order 7?": 1.0}, numbered).recognise(conversation("Where is order 8?")).outcome == "none"


def test_a_cut_first_message_recognises_by_its_beginning() -> None:
    long = dialog(user("Create a sales report for the last quarter of the year"), name="long")
    cut = "Create a sales report for the la"
    assert replay(long).recognise(conversation(cut, truncated=True)).dialog == long
    assert replay(long).recognise(conversation(cut)).outcome == "none"


def test_outcomes_are_a_closed_set() -> None:
    assert set(OUTCOMES) == {"recognised", "none", "ambiguous", "unknown_id", "not_allowed"}
