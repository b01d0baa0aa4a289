"""A stored run is judged by the dialog as it is now, becomes another revision of itself, and is not counted again."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from aem_monitor.cli import rescore as command
from aem_monitor.cli.main import main
from aem_monitor.cli.since import since
from aem_monitor.cli.stored import configuration, judging
from aem_monitor.errors import StoreError, UsageError
from aem_monitor.model.verdict import NotScored
from aem_monitor.review.rescore import Outcome, Rescorer
from aem_monitor.store import RunFilter, Store
from tests.playing import Call, agent, exchange, tool, user
from tests.review.stored import ASK, REPORT, RIGHT, WRONG, Monitor, sales


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    return Monitor(tmp_path)


def rescored(monitor: Monitor, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[list[Any], str]:
    """The objects on standard output, and what was said beside."""
    assert main(["rescore", "--config", str(monitor.config), "--json", *options]) == 0
    captured = capsys.readouterr()
    return [json.loads(line) for line in captured.out.splitlines()], captured.err.strip()


def shown(monitor: Monitor, run_id: str) -> tuple[int, int, bool | None, str]:
    with monitor.open() as store:
        stored = store.run(run_id)
        assert stored is not None
        return stored.result.dialog_version, stored.result.revision, stored.result.test_pass, stored.cause


def test_a_new_version_makes_a_new_revision_that_says_what_changed(
    monitor: Monitor, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = monitor.play("c-1", RIGHT), monitor.play("c-2", WRONG, at=1001.0)
    monitor.write(sales(2, metric="profit"))
    found, said = rescored(monitor, capsys)
    assert said == "2 runs: 2 changed"
    assert [one["run_id"] for one in found] == [wrong, right]
    one, other = found
    assert one["dialog_version"] == {"from": 1, "to": 2}
    assert one["revision"] == {"from": 0, "to": 1}
    assert one["test_pass"] == {"from": False, "to": True}
    assert [(turn["turn_no"], turn["from"], turn["to"]) for turn in one["turns"]] == [
        (2, "ROOT CAUSE inconsistent_parameter_values", "pass"),
        (3, "cascade of turn 2 (provenance)", "pass"),
    ]
    assert other["test_pass"] == {"from": True, "to": False}
    assert shown(monitor, wrong) == (2, 1, True, "rescore")
    assert shown(monitor, right) == (2, 1, False, "rescore")
    with monitor.open() as store:
        history = store.history(wrong)
        assert [(one.result.dialog_version, one.result.test_pass) for one in history] == [(1, False), (2, True)]


def test_only_revisions_are_counted(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("c-1", "c-2"):
        monitor.play(name, WRONG)
    with monitor.open() as store:
        before = {(total.metric, total.labels): total.value for total in store.totals()}
    monitor.write(sales(2, metric="profit"))
    rescored(monitor, capsys)
    with monitor.open() as store:
        after = {(total.metric, total.labels): total.value for total in store.totals()}
    counted = {key: value for key, value in after.items() if before.get(key) != value}
    assert counted == {("aem_verdict_revisions_total", (("cause", "rescore"),)): 2.0}


def test_a_second_time_nothing_changes(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    run_id = monitor.play("c-1", WRONG)
    monitor.write(sales(2, metric="profit"))
    rescored(monitor, capsys)
    assert rescored(monitor, capsys) == ([], "1 run: 0 changed; 1 as before")
    assert shown(monitor, run_id)[:2] == (2, 1)


def test_another_version_with_the_same_verdict_is_a_revision_too(
    monitor: Monitor, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = monitor.play("c-1", RIGHT)
    monitor.write(sales(2))
    (one,), _ = rescored(monitor, capsys)
    assert one["turns"] == []
    assert one["test_pass"] == {"from": True, "to": True}
    assert shown(monitor, run_id) == (2, 1, True, "rescore")


def test_a_dry_run_says_the_same_and_changes_nothing(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    run_id = monitor.play("c-1", WRONG)
    monitor.write(sales(2, metric="profit"))
    found, said = rescored(monitor, capsys, "--dry-run")
    assert said == "1 run: 1 would change"
    assert found[0]["test_pass"] == {"from": False, "to": True}
    assert found[0]["revision"] == {"from": 0, "to": None}
    assert shown(monitor, run_id) == (1, 0, False, "final")


def test_runs_are_chosen_by_dialog_and_time(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    monitor.write({**sales(), "dialog": "other", "recognise": {"first_user": ["Other"]}})
    monitor.play("c-1", WRONG)
    monitor.play("c-2", WRONG, at=2000.0)
    monitor.play("c-3", WRONG, dialog="other", at=3000.0)
    monitor.write(sales(2))
    found, _ = rescored(monitor, capsys, "--dialog", "sales", "--since", "1970-01-01T00:30", "--dry-run")
    assert [one["conversation_id"] for one in found] == ["c-2"]


def test_pages_are_read_to_the_end(
    monitor: Monitor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_PAGE", 2)
    for number in range(5):
        monitor.play(f"c-{number}", RIGHT, at=float(1000 + number // 2))
    monitor.write(sales(2))
    found, _ = rescored(monitor, capsys)
    assert sorted(one["conversation_id"] for one in found) == [f"c-{number}" for number in range(5)]


def test_a_table_names_runs_and_turns(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    run_id = monitor.play("c-1", WRONG)
    monitor.write(sales(2, metric="profit"))
    assert main(["rescore", "--config", str(monitor.config)]) == 0
    out = capsys.readouterr().out
    assert run_id[:12] in out
    assert "fail -> pass" in out
    assert "2: ROOT CAUSE inconsistent_parameter_values -> pass" in out


def test_what_cannot_be_judged_again_is_counted_by_its_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor = Monitor(tmp_path, sales(), {**sales(), "dialog": "old", "recognise": {"first_user": ["Old"]}})
    monitor.play("c-1", RIGHT)
    monitor.play("c-2", RIGHT, dialog="old")
    small = Monitor(tmp_path, store={"conversations": {"max_bytes": "10B"}})
    small.play("c-3", RIGHT)
    off = Monitor(tmp_path, store={"conversations": {"keep": False}})
    off.play("c-4", RIGHT)
    off.golden("old").unlink()
    found, said = rescored(off, capsys)
    assert found == []
    assert said == (
        "4 runs: 0 changed; 1 as before; 1 without a conversation in the store; 1 whose conversation was too large to "
        "be kept; 1 of dialogs that are not loaded"
    )


def test_extra_calls_come_and_go(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    monitor.play("c-1", exchange(ASK, [REPORT, Call("mail.send", {"to": "x"})], "It was 1,240,000."))
    monitor.write(sales(2, extra_calls="ignore"))
    (one,), _ = rescored(monitor, capsys)
    assert one["turns"] == [
        {
            "turn_no": None,
            "kind": "tool",
            "called": "mail.send",
            "from": "ROOT CAUSE tool_mismatch (unexpected_call)",
            "to": "not there",
        }
    ]


# Beside the daemon


def rescorer(monitor: Monitor, store: Store) -> Rescorer:
    class Arguments:
        config = monitor.config

    rules = judging(configuration(Arguments()))  # type: ignore[arg-type]
    return Rescorer(rules.pipeline, rules.dialogs, store, rules.expert)


def test_a_late_span_that_comes_between_is_not_undone(monitor: Monitor) -> None:
    run_id = monitor.play("c-1", WRONG)
    monitor.write(sales(2, metric="profit"))
    with monitor.open() as store:
        judge = rescorer(monitor, store)
        (looked_at,) = judge.look_at(RunFilter())
        later = monitor.run("c-1", [replace(RIGHT, missing_parents=True)])
        stored = store.run(run_id)
        assert stored is not None
        late = replace(stored.result, complete=False)
        store.record_revision(late, "late_span", 1100.0, (), store.pack(later.own_conversation))
        done = judge.store(looked_at, 1200.0)
        assert (done.outcome, done.revision) == (Outcome.CHANGED, 2)
        assert done.after is not None
        assert done.after.test_pass is False, "of the later conversation, which has the revenue"
        assert store.conversations([run_id])[run_id].conversation == later.own_conversation


def test_a_run_that_changes_all_the_time_is_left_for_the_next_time(
    monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor.play("c-1", WRONG)
    monitor.write(sales(2, metric="profit"))
    with monitor.open() as store:
        judge = rescorer(monitor, store)
        (looked_at,) = judge.look_at(RunFilter())
        monkeypatch.setattr(store, "record_revision", lambda *_, **__: None)
        assert judge.store(looked_at, 1200.0).outcome is Outcome.OVERTAKEN


def test_two_at_once_make_one_revision_of_each_run(monitor: Monitor) -> None:
    ids = [monitor.play(f"c-{number}", WRONG, at=1000.0 + number) for number in range(12)]
    monitor.write(sales(2, metric="profit"))
    together = threading.Barrier(2)
    failures: list[StoreError] = []

    def work() -> None:
        with monitor.open() as store:
            judge = rescorer(monitor, store)
            looked_at = list(judge.look_at(RunFilter()))
            together.wait()
            try:
                for one in looked_at:
                    judge.store(one, 1200.0)
            except StoreError as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The one that counts first creates the series; a collision is reported, and the next call goes on.
    assert {error.reason for error in failures} <= {"integrity"}
    assert [shown(monitor, run_id)[1] for run_id in ids].count(1) >= 11
    with monitor.open() as store:
        revisions = sum(len(store.history(run_id)) - 1 for run_id in ids)
        (total,) = store.totals(metric="aem_verdict_revisions_total")
        assert total.value == revisions


def test_what_is_done_stays_done_when_it_is_interrupted(
    monitor: Monitor, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        monitor.play(f"c-{number}", WRONG, at=1000.0 + number)
    monitor.write(sales(2, metric="profit"))
    store = Rescorer.store
    seen: list[object] = []

    def interrupted(self: Rescorer, one: Any, now: float) -> Any:
        seen.append(one)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return store(self, one, now)

    with monkeypatch.context() as patch:
        patch.setattr(Rescorer, "store", interrupted)
        assert main(["rescore", "--config", str(monitor.config)]) == 130
    captured = capsys.readouterr()
    assert "1 run: 1 changed" in captured.err
    assert "c-2" in captured.out
    assert rescored(monitor, capsys)[1] == "3 runs: 2 changed; 1 as before"


# Redaction and experts


def test_what_was_redacted_is_not_scored_and_never_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor = Monitor(tmp_path, store={"redact": {"fields": ["region"], "patterns": {"money": r"1\.24 million"}}})
    run_id = monitor.play("c-1", RIGHT)
    assert shown(monitor, run_id)[2] is True, "it was judged by the whole content"
    assert rescored(monitor, capsys) == (
        [],
        "1 run: 0 changed; 1 left alone: redacted since, and of the same version",
    )
    monitor.write(sales(2))
    (one,), _ = rescored(monitor, capsys)
    assert one["test_pass"] == {"from": True, "to": None}
    assert [(turn["turn_no"], turn["to"]) for turn in one["turns"]] == [
        (2, "not scored (content_truncated)"),
        (3, "not scored (content_missing)"),
    ]
    assert rescored(monitor, capsys)[0] == []


def test_stored_answers_of_an_expert_count_and_open_questions_are_not_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = {
        "dialog": "note",
        "version": 1,
        "review": {"status": "human"},
        "turns": [user("Note it"), tool(2, "notes.add", {"text": "the customer wants his money returned"})],
    }
    monitor = Monitor(tmp_path, golden)
    config = yaml.safe_load(monitor.config.read_text(encoding="utf-8"))
    config["scoring"] = {"band": 0.5}
    config["experts"] = {"judge": {"url": "http://127.0.0.1:1/v1", "model": "small"}}
    said = exchange("Note it", [Call("notes.add", {"text": "a refund is what the client asks for"})], "Noted.")
    run_id = monitor.play("c-1", said, dialog="note")
    monitor.config.write_text(yaml.safe_dump(config), encoding="utf-8")
    (one,), text = rescored(monitor, capsys)
    assert "1 question to an expert without an answer" in text
    assert one["turns"][0]["to"] == "not scored (scorer_error)"
    with monitor.open() as store:
        judge = rescorer(monitor, store)
        (found,) = judge.look_at(RunFilter())
        assert found.after is not None
        assert found.after.turns[0].not_scored is NotScored.SCORER_ERROR

    def answered(self: Store, keys: Any, scorer: str) -> dict[str, float]:
        assert scorer.startswith("judge:small")
        return dict.fromkeys(keys, 0.95)

    monkeypatch.setattr(Store, "answers", answered)
    (one,), text = rescored(monitor, capsys)
    assert (one["run_id"], one["turns"][0]["to"]) == (run_id, "pass")
    assert "without an answer" not in text


# Bad input


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["rescore", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_what_cannot_be_used_is_said(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    config = ("--config", str(monitor.config))
    assert "there is no store" in refused(capsys, *config)
    assert not monitor.path.exists()
    monitor.play("c-1", RIGHT)
    assert "no golden dialog gone; known: sales" in refused(capsys, *config, "--dialog", "gone")
    assert "--since: 'yesterday' is no time" in refused(capsys, *config, "--since", "yesterday")
    monitor.config.write_text("store: {url: 'sqlite://'}\ngolden: {paths: [golden]}\n", encoding="utf-8")
    assert "in memory" in refused(capsys, *config)
    monitor.config.write_text(f"store: {{url: 'sqlite:///{monitor.path}'}}\n", encoding="utf-8")
    assert "no golden dialogs are named" in refused(capsys, *config)


def test_a_store_that_is_none_is_said(monitor: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    monitor.path.write_bytes(b"This is no database at all. " * 200)
    assert main(["rescore", "--config", str(monitor.config)]) == 1
    assert "restore a backup" in capsys.readouterr().err


def test_times_are_read_as_people_write_them() -> None:
    assert since(None, 100.0) is None
    assert since("1h30m", 10_000.0) == 4600.0
    assert since("1970-01-02", 0.0) == 86400.0
    assert since("1970-01-01T01:00+01:00", 0.0) == 0.0
    for text in ("", "7", "-1d", "2026-13-01"):
        with pytest.raises(UsageError, match="--since"):
            since(text, 0.0)


def test_a_fact_from_a_redacted_result_makes_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def balance(version: int) -> dict[str, Any]:
        turns = [
            user("My balance?"),
            tool(2, "bank.Get", {"account": "A-1"}, result={"balance": 50.25, "currency": "EUR"}),
            agent(3, "Your balance is 50.25 EUR.", depends_on=[2]),
        ]
        return {"dialog": "balance", "version": version, "review": {"status": "human"}, "turns": turns}

    monitor = Monitor(tmp_path, balance(1), store={"redact": {"fields": ["Balance"]}})
    own = Call("bank.Get", {"account": "A-1"}, {"balance": 70.5, "currency": "EUR"})
    monitor.play("c-1", exchange("My balance?", [own], "Your balance is 70.50 EUR."), dialog="balance")
    monitor.write(balance(2))
    (one,), _ = rescored(monitor, capsys)
    assert [(turn["turn_no"], turn["from"], turn["to"]) for turn in one["turns"]] == [
        (3, "pass", "not scored (content_truncated)")
    ]
