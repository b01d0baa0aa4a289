"""``aem-monitor review``: what is to be decided is listed once, and answers become what they are said to become."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from aem_monitor.cli.main import main
from aem_monitor.golden.load import load_dialogs
from tests.playing import Call, agent, exchange, tool, user
from tests.review.stored import RIGHT, Monitor, sales

WANTED = "the customer wants his money returned"
NOTE = {
    "dialog": "note",
    "version": 3,
    "review": {"status": "human", "note": "by dana"},
    "turns": [
        user("Note it"),
        tool(
            2,
            "notes.add",
            {"text": "the customer wants his money returned", "to": "desk"},
            match={"text": {"text": True}},
        ),
        agent(3, None, must_mention=["noted"]),
    ],
}
REFUND = {
    "dialog": "refund",
    "version": 7,
    "review": {"status": "human"},
    "turns": [
        user("Refund it"),
        tool(2, "orders.Refund", {"order": "A-1"}, result={"ok": True}),
        agent(3, None, must_mention=["refunded"]),
    ],
    "outcome": [{"tool_id": "bank", "action": "Pay", "args": {"order": "A-1"}}],
}
LIKE = Call("notes.add", {"text": "the customer wants his money back", "to": "desk"}, {"id": 1})
PAID = exchange("Refund it", [Call("bank.Pay", {"order": "A-1", "amount": 5}, {"ok": True})], "It was refunded.")


class Desk(Monitor):
    """A monitor whose verdicts a person decides on."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], **options: Any) -> None:
        super().__init__(folder, sales(), NOTE, REFUND, band=0.5, **options)
        self._capsys = capsys

    def note(self, name: str = "c-1", text: str | None = None) -> str:
        call = LIKE if text is None else Call("notes.add", {"text": text, "to": "desk"}, {"id": 1})
        return self.play(name, exchange("Note it", [call], "It is noted."), dialog="note")

    def refund(self, name: str = "c-2") -> str:
        return self.play(name, PAID, dialog="refund")

    def say(self, action: str, *words: str, code: int = 0) -> tuple[str, str]:
        """Carry an action out; standard output and standard error."""
        assert main(["review", action, "--config", str(self.config), *words]) == code
        captured = self._capsys.readouterr()
        return captured.out, captured.err

    def listed(self, *words: str) -> list[Any]:
        return [json.loads(line) for line in self.say("list", "--format", "json", *words)[0].splitlines()]

    def names(self, *words: str) -> list[str]:
        return [one["case"] for one in self.listed(*words)]


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


# Listing


def test_doubtful_turns_and_other_paths_are_listed_and_nothing_else(desk: Desk) -> None:
    noted, refunded = desk.note(), desk.refund()
    desk.play("c-3", RIGHT)
    found = desk.listed()
    assert {(one["case"], one["kind"]) for one in found} == {
        (f"{noted[:12]}:2", "uncertain"),
        (f"{refunded[:12]}:path", "another_path"),
    }
    (turn,) = [one for one in found if one["kind"] == "uncertain"]
    (doubt,) = turn["checks"]
    assert (doubt["check"], doubt["field"], doubt["passed"], doubt["actual"]) == (1, "text", True, LIKE.args["text"])  # type: ignore[index]
    assert desk.names("--kind", "another_path") == [f"{refunded[:12]}:path"]
    assert desk.names("--dialog", "note") == [f"{noted[:12]}:2"]
    assert len(desk.names("--limit", "1")) == 1
    assert desk.names("--since", "1d") == []


def test_the_table_says_what_is_in_doubt(desk: Desk) -> None:
    noted = desk.note()
    out, _ = desk.say("list")
    assert f"{noted[:12]}:2" in out
    assert "score near its threshold" in out
    desk.say("accept", noted[:6])
    assert desk.say("list") == ("", "nothing is to be decided\n")
    assert "accept by" in desk.say("list", "--all")[0]


def test_all_pages_are_looked_at(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aem_monitor.cli.review._PAGE", 2)
    ids = [desk.note(f"c-{number}") for number in range(5)]
    assert sorted(desk.names()) == sorted(f"{run_id[:12]}:2" for run_id in ids)


def test_a_case_is_shown_with_the_conversation_and_its_revisions(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = desk.note()
    out, _ = desk.say("show", f"{noted[:12]}:2")
    for text in (
        "check 1: text (truthfulness) passes, score 0.",
        "expected the customer wants his money returned",
        "got      the customer wants his money back",
        "user: Note it",
        "agent: It is noted.",
        "revision 0 (final, ",
    ):
        assert text in out
    desk.write({**NOTE, "version": 4})
    assert main(["rescore", "--config", str(desk.config)]) == 0
    capsys.readouterr()
    (found,) = [json.loads(line) for line in desk.say("show", noted, "--format", "json")[0].splitlines()]
    assert [(one["revision"], one["dialog_version"]) for one in found["revisions"]] == [(0, 3), (1, 4)]
    assert found["run"]["conversation_id"] == "c-1"


# Answers


def test_an_answered_case_is_not_listed_again_until_its_verdict_changes(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = desk.note()
    desk.say("accept", noted, "--by", "dana", "--note", "same thing")
    assert desk.names() == []
    (answered,) = desk.listed("--all")
    assert (answered["answer"]["who"], answered["answer"]["note"]) == ("dana", "same thing")
    assert main(["rescore", "--config", str(desk.config)]) == 0
    desk.write({**NOTE, "version": 4})
    assert main(["rescore", "--config", str(desk.config)]) == 0
    capsys.readouterr()
    assert desk.names() == [], "another version, the same verdict"
    stricter = [*NOTE["turns"]]  # type: ignore[misc]
    stricter[1] = {**stricter[1], "match": {"text": {"text": {"threshold": 0.95}}}}
    desk.write({**NOTE, "version": 5, "turns": stricter})
    assert main(["rescore", "--config", str(desk.config)]) == 0
    capsys.readouterr()
    assert desk.names() == [f"{noted[:12]}:2"]


def test_answers_change_no_verdict_and_no_counter(desk: Desk) -> None:
    noted = desk.note()
    with desk.open() as store:
        before = store.run(noted), store.totals()
    desk.say("reject", noted)
    with desk.open() as store:
        assert (store.run(noted), store.totals()) == before


def test_answers_become_labels_that_calibrate_reads(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, path = (
        desk.note("c-1"),
        desk.note("c-2", "the customer wants a refund of his money"),
        desk.refund("c-3"),
    )
    desk.say("reject", one)
    desk.say("accept", one)
    desk.say("accept", other, "--label", "pass")
    desk.say("accept", path)
    file = tmp_path / "labels.jsonl"
    _, said = desk.say("export", "--labels", str(file))
    assert said == "2 labels of 3 answers; 1 without any: about a path, or a turn that nobody can decide\n"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(row["a"], row["equivalent"], row["group"]) for row in rows] == [
        ("the customer wants his money back", True, one),
        ("the customer wants a refund of his money", True, other),
    ]
    assert desk.say("export")[0] == file.read_text(encoding="utf-8")
    assert desk.say("export", "--dialog", "refund")[0] == ""
    assert main(["calibrate", "--json", str(file)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["submetric"], found["labels"]) == ("value", 2)


# Regression cases


def test_an_answer_becomes_a_case_of_golden_test(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = desk.note()
    folder = tmp_path / "golden"
    desk.say("accept", noted, "--case", str(folder), "--note", "same thing")
    (case,) = yaml.safe_load((folder / "note.cases.yaml").read_text(encoding="utf-8"))["cases"]
    assert case["expect"] == {"verdict": {"turns": [{"turn_no": 2, "success": True}]}}
    assert case["note"] == "same thing"
    assert len(load_dialogs([folder])) == 3, "a folder of golden dialogs stays one"
    assert main(["golden", "test", str(folder), "--config", str(desk.config)]) == 0
    assert "1 case, all as expected" in capsys.readouterr().out
    desk.write({**NOTE, "turns": [NOTE["turns"][0], {**NOTE["turns"][1], "match": {"text": {"exact": True}}}]})  # type: ignore[index]
    assert main(["golden", "test", str(folder), "--config", str(desk.config)]) == 1


def test_a_rejected_verdict_is_a_case_that_fails_until_the_dialog_is_mended(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = desk.note()
    folder = tmp_path / "cases"
    desk.say("reject", noted, "--case", str(folder))
    words = ["golden", "test", str(desk.folder / "golden"), str(folder), "--config", str(desk.config)]
    assert main(words) == 1
    assert "turn 2" in capsys.readouterr().out
    stricter = [*NOTE["turns"]]  # type: ignore[misc]
    stricter[1] = {**stricter[1], "match": {"text": {"exact": True}}}
    desk.write({**NOTE, "version": 4, "turns": stricter})
    assert main(words) == 0


def test_a_conversation_that_spans_do_not_tell_alike_is_no_case(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = desk.note()

    def without_calls(conversation: Any, dialog: str) -> dict[str, Any]:
        from aem_monitor.review.spans import export_request

        request = export_request(conversation, dialog)
        for one in request["resourceSpans"]:
            for scope in one["scopeSpans"]:
                scope["spans"] = [span for span in scope["spans"] if "invoke_agent" in span["name"]]
        return request

    monkeypatch.setattr("aem_monitor.cli.review_answer.export_request", without_calls)
    folder = tmp_path / "cases"
    _, said = desk.say("accept", noted, "--case", str(folder), code=2)
    assert "turn 2 is ROOT CAUSE tool_mismatch (not_called) instead of pass" in said
    assert [path.name for path in folder.rglob("*") if path.is_file()] == []
    assert desk.names() == [f"{noted[:12]}:2"], "the answer was not given"


# Drafts


def draft_of(text: str) -> dict[str, Any]:
    found = yaml.safe_load(text)
    assert isinstance(found, dict)
    return found


def test_another_path_becomes_a_variant_in_a_draft_that_the_run_passes(desk: Desk, tmp_path: Path) -> None:
    refunded = desk.refund()
    target = tmp_path / "draft.yaml"
    before = desk.golden("refund").read_bytes()
    _, said = desk.say("accept", refunded, "--alternate", "-o", str(target), "--note", "the bank pays at once")
    assert f"a draft of version 8 of {desk.golden('refund')}; the run passes with it" in said
    draft = draft_of(target.read_text(encoding="utf-8"))
    assert draft["review"]["status"] == "draft"
    assert "the bank pays at once" in draft["review"]["note"]
    (variant,) = draft["variants"]
    assert [turn.get("gold_turn", {}).get("tool_id") for turn in variant["turns"]] == [None, "bank", None]
    assert draft["turns"] == REFUND["turns"]
    assert desk.golden("refund").read_bytes() == before


def test_a_value_that_is_right_becomes_an_alternate_of_its_turn(desk: Desk) -> None:
    text = "the customer wants his money back"
    stricter = [*NOTE["turns"]]  # type: ignore[misc]
    stricter[1] = {**stricter[1], "match": {"text": {"text": {"threshold": 0.95}}, "to": {"exact": True}}}
    desk.write({**NOTE, "turns": stricter})
    run_id = desk.note("c-1", text)
    (case,) = desk.listed()
    assert case["checks"][0]["passed"] is False
    out, said = desk.say("reject", run_id, "--case", str(desk.folder / "cases"))
    assert out == ""
    out, said = desk.say("accept", run_id, "--label", "pass", "--alternate")
    draft = draft_of(out)
    assert "the run passes with it" in said
    assert draft["version"] == 4
    assert draft["turns"][1]["alternates"] == [
        {
            "tool_id": "notes",
            "action": "add",
            "args": {"text": text, "to": "desk"},
            "match": {"to": {"exact": True}},
        }
    ]
    assert draft["turns"][1]["gold_turn"] == NOTE["turns"][1]["gold_turn"]  # type: ignore[index]


def test_a_reviewed_file_is_only_replaced_by_force(desk: Desk) -> None:
    refunded = desk.refund()
    reviewed = desk.golden("refund")
    before = reviewed.read_bytes()
    _, said = desk.say("accept", refunded, "--alternate", "-o", str(reviewed), code=2)
    assert "--force" in said
    assert reviewed.read_bytes() == before
    desk.say("accept", refunded, "--alternate", "-o", str(reviewed), "--force")
    assert draft_of(reviewed.read_text(encoding="utf-8"))["review"]["status"] == "draft"
    desk.say("accept", refunded, "--alternate", "-o", str(reviewed), "--force")
    again = draft_of(reviewed.read_text(encoding="utf-8"))
    assert (again["version"], len(again["variants"])) == (8, 1), "a draft stays the draft that it is"


def test_what_the_dialog_takes_already_is_no_alternate(desk: Desk) -> None:
    noted = desk.note()
    assert "takes this already" in desk.say("accept", noted, "--alternate", code=2)[1]
    assert "what is right" in desk.say("accept", noted, "--label", "fail", "--alternate", code=2)[1]
    assert desk.names() == [f"{noted[:12]}:2"]


# Bad input


def test_what_cannot_be_used_is_said(desk: Desk, tmp_path: Path) -> None:
    desk.play("c-0", RIGHT)
    noted, refunded = desk.note(), desk.refund()
    with desk.open() as store:
        plain = next(one.result.run_id for one in store.runs() if one.result.dialog == "sales")

    def refused(*words: str) -> str:
        out, said = desk.say(*words, code=2)
        assert out == ""
        return said

    assert "is no case" in refused("show", "../../etc")
    assert "is no case" in refused("accept", f"{noted}:2:3")
    assert "there is no run ffffff" in refused("show", "ffffff:2")
    assert f"name one of {noted[:12]}:2" in refused("show", f"{noted[:12]}:3")
    assert "nothing of this run is to be decided" in refused("show", plain)
    assert "--turn 3 is another turn" in refused("show", f"{noted[:12]}:2", "--turn", "3")
    assert "is the file of --alternate" in refused("accept", noted, "-o", "x.yaml")
    assert "leave out --label" in refused("accept", refunded, "--label", "pass")
    assert "--limit" in refused("list", "--limit", "0")
    assert "--since" in refused("list", "--since", "soon")
    assert "cannot be written" in refused("export", "--labels", str(tmp_path))
    desk.golden("note").unlink()
    assert "is not loaded" in refused("accept", noted, "--case", str(tmp_path / "cases"))


def test_without_its_conversation_a_case_can_be_answered_and_nothing_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, capsys, store={"conversations": {"keep": False}})
    noted = desk.note()
    assert "does not have its conversation" in desk.say("accept", noted, "--case", str(tmp_path), code=2)[1]
    assert "does not have its conversation" in desk.say("show", noted)[0]
    desk.say("accept", noted)
    assert desk.names() == []


def test_redacted_content_stays_out_of_cases_labels_and_drafts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, capsys, store={"redact": {"patterns": {"money": "money back"}}})
    noted = desk.note()
    folder = tmp_path / "cases"
    desk.say("accept", noted, "--case", str(folder))
    assert not re.search("money back", "".join(path.read_text() for path in folder.rglob("*") if path.is_file()))
    (row,) = [json.loads(line) for line in desk.say("export")[0].splitlines()]
    assert row["submetric"] == "value"
    assert "a" not in row


def test_help_says_what_becomes_of_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for text in ("labels for `calibrate`", "regression cases for `golden test` (--case)", "(--alternate)"):
        assert text in out


def test_whatever_a_tool_returned_is_shown(desk: Desk) -> None:
    strange: Any = {"big": 2**80, "half": "\ud800 \x1b[31m", "none": float("inf")}
    run_id = desk.play("c-1", exchange("Note it", [Call(LIKE.name, LIKE.args, strange)], "It is noted."), dialog="note")
    (found,) = [json.loads(line) for line in desk.say("show", run_id, "--format", "json")[0].splitlines()]
    assert found["run"]["conversation_id"] == "c-1"
    assert "\x1b" not in desk.say("show", run_id)[0]
    assert len(desk.listed()) == 1
