"""What a reply has to mention, where the turn that it tells of went wrong."""

from aem_monitor.model.verdict import Basis
from tests.playing import Call, agent, entry, exchange, golden, judged, tool, user, words

ASK = "E-mail the report to Dana."
MAIL = golden(
    [
        user(ASK),
        tool(1, "send_email", {"to": "dana@example.com", "subject": "Report"}, result={"sent": True}),
        agent(2, must_mention=["dana@example.com"], depends_on=[1]),
    ]
)


def sent(to: str, said: str) -> dict[int | None, str]:
    return words(
        judged(MAIL, exchange(ASK, [Call("send_email", {"to": to, "subject": "Report"}, {"sent": True})], said))
    )


def test_a_reply_that_names_the_wrong_address_that_was_really_written_to_inherits_it() -> None:
    call = Call("send_email", {"to": "dana@example.org", "subject": "Report"}, {"sent": True})
    result = judged(MAIL, exchange(ASK, [call], "I e-mailed it to dana@example.org."))
    assert words(result) == {1: "root inconsistent_parameter_values", 2: "cascade of 1"}
    assert entry(result, 2).basis is Basis.PROVENANCE


def test_a_reply_that_names_yet_another_address_or_none_is_wrong_by_itself() -> None:
    for said in ("I e-mailed it to rosa@example.com.", "I e-mailed it."):
        assert sent("dana@example.org", said)[2] == "root incomplete_response"


def test_a_wrong_address_in_the_reply_alone_is_the_replys_fault() -> None:
    assert sent("dana@example.com", "I e-mailed it to dana@example.org.")[2] == "root incomplete_response"
