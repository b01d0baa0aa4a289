"""``aem-monitor canary check``."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from aem_monitor.canary.gate import Rules, decide
from aem_monitor.canary.pairs import pair
from aem_monitor.canary.played import Release
from aem_monitor.canary.render import facts
from aem_monitor.cli.canaryinput import MAX_LINE
from aem_monitor.cli.main import main
from aem_monitor.store.store import Store
from tests.store.results import run

SCHEMA = json.loads((Path(__file__).parents[2] / "deploy/schemas/canary-result.schema.json").read_text())


def verdicts(path: Path, patterns: dict[str, str], agent: str = "shop") -> Path:
    """A run a letter: ``.`` passes, ``x`` fails, ``?`` is undecided."""
    lines = [
        {
            "run_id": f"{agent}-{release}-{number}",
            "agent": agent,
            "conversation_id": f"{release}-{number}",
            "dialog": "refund|<b>",
            "release": release,
            "test_pass": {".": True, "x": False, "?": None}[letter],
            "root_cause": "tool_mismatch" if letter == "x" else None,
            "turns": [
                {
                    "turn_no": 1,
                    "success": False,
                    "kind": "tool",
                    "root_cause": True,
                    "failure_reason": "tool_mismatch",
                    "tool": "pay",
                    "chain_length": 4,
                }
            ]
            if letter == "x"
            else [],
            "latency_seconds": 1.0,
        }
        for release, pattern in patterns.items()
        for number, letter in enumerate(pattern)
    ]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def check(path: Path, *more: str) -> int:
    return main(["canary", "check", "--baseline", "1", "--candidate", "2", "--verdicts", str(path), *more])


@pytest.mark.parametrize(
    ("patterns", "code", "state"),
    [
        ({"1": "." * 100, "2": "." * 100 + "?"}, 0, "pass"),
        ({"1": "." * 20, "2": "x" * 20}, 1, "regression"),
        ({"1": "." * 3, "2": "." * 3}, 3, "not_enough_evidence"),
        ({"1": "."}, 3, "not_enough_evidence"),
    ],
)
def test_the_state_is_the_exit_code_and_the_json_keeps_to_its_schema(
    patterns: dict[str, str], code: int, state: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(verdicts(tmp_path / "v.jsonl", patterns), "--format", "json") == code
    result = json.loads(capsys.readouterr().out)
    jsonschema.validate(result, SCHEMA)
    assert result["state"] == state


def test_what_is_not_known_is_in_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "." * 100, "2": "." * 100 + "?"})
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**GOOD, "agent": "shop", "dialog": "only here"}) + "\n")
    assert check(path, "--format", "json", "--critical", "only here", "--critical", "misspelt") == 3
    result = json.loads(capsys.readouterr().out)
    jsonschema.validate(result, SCHEMA)
    few = {"independent": 0, "needed": 10}
    assert result["critical_short"] == [
        {"dialog": "misspelt", "ran": False, **few},
        {"dialog": "only here", "ran": True, **few},
    ]
    assert (result["baseline"]["alone"], result["baseline"]["alone_by"]["dialog"]) == (1, {"only here": 1})
    assert result["candidate"]["alone_by"]["run"] == {"refund|<b>": 1}


def test_the_table_says_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(verdicts(tmp_path / "v.jsonl", {"1": "." * 40, "2": "x" * 40})) == 1
    table = capsys.readouterr().out
    for said in (
        "regression in runs that pass",
        "of losses: 1 - alpha, at all looks",
        "1: 40 of 40 runs pass",
        "tool pay: worse",
        "chain length 3+: worse",
        "reason tool_mismatch",
    ):
        assert said in table


def test_what_was_lost_is_named_before_it_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "....", "2": ".x?."})
    assert check(path) == 3
    table = " ".join(capsys.readouterr().out.split())
    assert "first root causes tool_mismatch 0.0 %, now 33.3 %" in table
    assert "dialogs lost 1, by chance or not: refund|<b> (33.3 points) dialogs gained 0" in table
    check(path, "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert found["reasons"] == [{"reason": "tool_mismatch", "baseline": 0.0, "candidate": pytest.approx(1 / 3)}]


def test_of_many_names_the_first_are_told() -> None:
    lost = {f"d{number}": number / 10 for number in range(1, 8)}
    result = replace(decide(pair([], []), Rules()), lost=lost)
    told = dict(facts(("1", "2"), (Release(), Release()), result))["dialogs lost"]
    assert told.startswith("7, by chance or not: d7 (70.0 points); d6 (60.0 points); ")
    assert told.endswith("; d3 (30.0 points); and 2 more")


def test_the_heading_is_text_in_markdown_and_on_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "v.jsonl"
    lines = verdicts(path, {"1": "." * 40, "2": "x" * 40}).read_text(encoding="utf-8")
    path.write_text(lines.replace("refund|<b>", r"\u001b[2J*p*"), encoding="utf-8")
    assert check(path, "--critical", "\x1b[2J*p*", "--format", "markdown") == 1
    assert r"critical dialogs: \\x1b\[2J\*p\*" in capsys.readouterr().out.splitlines()[0]
    assert check(path, "--critical", "\x1b[2J*p*") == 1
    assert r"critical dialogs: \x1b[2J*p*" in capsys.readouterr().out


def test_lines_that_name_no_agent_are_no_runs_of_another_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": ".", "2": "."})
    path.write_text(path.read_text(encoding="utf-8").replace('"agent"', '"other"'), encoding="utf-8")
    assert check(path, "--agent", "shop") == 2
    assert f"{path}:1: the line names no agent" in capsys.readouterr().err


def test_earlier_runs_are_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "xx...", "2": "....."})
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps({**one, "final_at": 100.0 + int(one["run_id"][-1])}) + "\n" for one in lines))
    assert check(path, "--since", "1970-01-01T00:01:42Z") == 3
    table = capsys.readouterr().out
    assert "1: 3 of 3 runs pass" in table
    assert table.count("0 undecided, 2 from before left out") == 2


def test_releases_that_ran_on_other_days_are_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": ".....", "2": "....."})
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    for days, said in ((0.9, False), (12.1, True)):
        later = [{**one, "final_at": 1e9 + (days * 86_400 if one["release"] == "2" else 0.0)} for one in lines]
        path.write_text("".join(json.dumps(one) + "\n" for one in later), encoding="utf-8")
        check(path)
        assert ("12 days between the middle runs of both releases" in capsys.readouterr().out) is said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "7d"], ":1: the line does not say when its run became final: leave --since out"),
        (["--since", "lately"], "--since: 'lately' is no time"),
    ],
)
def test_a_time_that_cannot_be_used_is_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(verdicts(tmp_path / "v.jsonl", {"1": ".", "2": "."}), *words) == 2
    assert said in capsys.readouterr().err


def test_a_release_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": ".", "2": "."})
    assert check(path, "--candidate", "1.1") == 3
    assert "to the candidate '1.1' yet; the last releases seen: '1' of 'shop', '2' of 'shop'" in capsys.readouterr().err


def test_names_are_text_in_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(verdicts(tmp_path / "v.jsonl", {"1": "." * 40, "2": "x" * 40}), "--format", "markdown")
    said = capsys.readouterr().out
    assert said.startswith("### Canary: regression in runs that pass and in turns that are right\n")
    assert "refund\\|&lt;b>" in said


def test_a_picture_is_svg(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(verdicts(tmp_path / "v.jsonl", {"1": "." * 40, "2": "x" * 40}), "--format", "svg") == 1
    said = capsys.readouterr().out
    assert said.startswith("<svg ")
    assert "refund|&lt;b&gt;" in said


def test_a_report_of_tests_is_xml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(verdicts(tmp_path / "v.jsonl", {"1": "." * 40, "2": "x" * 40}), "--format", "junit") == 1
    said = capsys.readouterr().out
    assert said.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    assert '<testcase classname="canary.dialogs" name="refund|&lt;b&gt;" time="0">' in said


def test_the_latest_revision_of_a_run_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "." * 5, "2": "." * 5})
    line = json.loads(path.read_text().splitlines()[-1])
    path.write_text(path.read_text() + json.dumps({**line, "revision": 1, "test_pass": False}) + "\n")
    check(path, "--format", "json")
    found = json.loads(capsys.readouterr().out)["candidate"]
    assert (found["runs"], found["passed"]) == (5, 4)


def test_one_look_decides_on_fewer(tmp_path: Path) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "." * 10, "2": "xxxxxx...."})
    assert (check(path), check(path, "--one-look")) == (3, 1)


GOOD: dict[str, object] = {
    "dialog": "a",
    "release": "1",
    "conversation_id": None,
    "test_pass": True,
    "root_cause": None,
    "turns": [{"turn_no": 1, "kind": "tool", "success": True}],
}


def line(**changes: object) -> str:
    return json.dumps(GOOD | changes)


def turn(**changes: object) -> str:
    return line(turns=[{"kind": "tool"}, {"kind": "tool", **changes}])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", ":1: not valid JSON: Expecting property name"),
        ("[]", ":1: not a JSON object"),
        ("[" * 100_000, ":1: not valid JSON: nested too deeply"),
        ('{"a": NaN}', ":1: not valid JSON: NaN is no JSON"),
        ('{"a": -Infinity}', ":1: not valid JSON: -Infinity is no JSON"),
        ("{}", ":1: no verdict: dialog is missing; give lines of the sink json_lines or of `replay --verdicts`"),
        (line() + "\n\n" + line(release=1), ":3: no verdict: release is not a text or null"),
        (line(test_pass=1), "test_pass is not true or false or null"),
        (line(test_pass="true"), "test_pass is not true or false or null"),
        (line(turns={}), "turns is not a list"),
        (line(run_id=[]), "run_id is not a text"),
        (line(revision="1"), "revision is not a whole number"),
        (line(revision=True), "revision is not a whole number"),
        (line(agent=None), "agent is not a text"),
        (line(draft="no"), "draft is not true or false"),
        (line(latency_seconds=[1]), "latency_seconds is not a whole number or a number or a text or null"),
        (line(turns=[{}, []]), "turns[1] is no JSON object"),
        (turn(tool=["pay"]), "turns[1].tool is not a text or null"),
        (turn(chain_length="2"), "turns[1].chain_length is not a whole number or null"),
        (turn(chain_length=1e300), "turns[1].chain_length is not a whole number or null"),
        (turn(success=0), "turns[1].success is not true or false or null"),
        (turn(root_cause="yes"), "turns[1].root_cause is not true or false"),
        (turn(failure_reason={}), "turns[1].failure_reason is not a text or null"),
        (line(dialog_version="1"), "dialog_version is not a whole number or null"),
        (line(partial=1), "partial is not true or false"),
    ],
)
def test_what_is_no_verdict_is_refused_with_its_place(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(text + "\n")
    assert check(path) == 2
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith(f"{path}:")
    assert said in told


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": "\xff"}\n', ":1: not valid UTF-8 (byte 8)"),
        (b"\x00" * 100, ":1: not valid JSON"),
        (b" " * (MAX_LINE + 1), ":1: longer than 64MiB"),
        (gzip.compress(b"{}\n" * 1000)[:20], ": Compressed file ended before the end-of-stream marker was reached"),
        (gzip.compress(b"")[:10] + b"\xff" * 20, ": Error -3 while decompressing data"),
        (gzip.compress(b"[]\n"), ":1: not a JSON object"),
    ],
    ids=["latin-1", "zeros", "one line", "gzip cut off", "gzip broken", "gzip"],
)
def test_a_file_of_something_else_is_refused(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "v.jsonl"
    path.write_bytes(content)
    assert check(path) == 2
    [told] = capsys.readouterr().err.splitlines()
    assert said in told


def test_files_that_are_not_there_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (check(tmp_path), check(tmp_path / "none")) == (2, 2)
    said = capsys.readouterr().err
    assert f"{tmp_path}: Is a directory" in said
    assert f"{tmp_path / 'none'}: No such file or directory" in said


def test_what_the_gate_does_not_read_may_be_anything_that_the_monitor_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "." * 3, "2": "." * 3})
    lines = path.read_text(encoding="utf-8").replace(
        '"latency_seconds": 1.0', f'"x": [{"9" * 400}, "\\ud800"], "latency_seconds": "inf"'
    )
    (tmp_path / "v.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert check(tmp_path / "v.jsonl.gz", "--format", "json") == 3
    assert json.loads(capsys.readouterr().out)["pairs"] == 3


@pytest.mark.parametrize("words", [[], ["--one-look"], ["--alpha", "1e-9"], ["--tolerance", "0.9999999999999"]])
def test_numbers_are_numbers_whatever_is_asked(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "." * 2000, "2": "x" * 2000})
    path.write_text(path.read_text(encoding="utf-8").replace("refund|<b>", r"\ud800"), encoding="utf-8")
    assert check(path, *words, "--format", "json") == 1
    result = json.loads(capsys.readouterr().out)
    jsonschema.validate(result, SCHEMA)
    assert result["lost"] == {"\ud800": 1.0}


def test_an_empty_file_is_no_pass(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.touch()
    assert check(path) == 3


def test_several_agents_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "." * 40, "2": "." * 40})
    verdicts(path, {"1": "." * 40, "2": "x" * 40}, agent="bank")
    assert check(path) == 2
    assert "give the agent, one of: bank, shop" in capsys.readouterr().err
    assert check(path, "--agent", "bank") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cost", "tool_mismatch"], "'tool_mismatch' is not REASON=COST"),
        (["--cost", "tool_mismach=0.3"], "'tool_mismach' is no reason of a root cause; these are inconsistent_resp"),
        (["--cost", "tool_mismatch=nan"], "the cost of tool_mismatch is nan: give 0 to 1"),
        (["--cost", "tool_mismatch=0", "--cost", "tool_mismatch=1"], "tool_mismatch is given more than once"),
        (["--critical", ""], "critical: give the name of a dialog"),
        (["--margin", "nan"], "margin is nan"),
        (["--alpha", "1e-320"], "give 1e-09 or more, below 0.5"),
        (["--baseline", ""], "the baseline is empty"),
    ],
)
def test_rules_that_cannot_be_used_are_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(verdicts(tmp_path / "v.jsonl", {"1": ".", "2": "."}), *words) == 2
    assert said in capsys.readouterr().err


def test_a_release_is_not_compared_with_itself(tmp_path: Path) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "."})
    assert main(["canary", "check", "--baseline", "1", "--candidate", "1", "--verdicts", str(path)]) == 2


def test_the_store_is_read_where_no_files_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with Store(url, replica="a") as store:
        for number in range(20):
            for release in ("1", "2"):
                one = run(f"{release}-{number}", release=release, test_pass=release == "1")
                store.record_final(one, [], stored_at=float(number))
    config = tmp_path / "c.yaml"
    config.write_text(f"store:\n  url: {url}\n", encoding="utf-8")
    words = ["canary", "check", "--baseline", "1", "--candidate", "2", "--config", str(config), "--format", "json"]
    assert main(words) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["pairs"], result["candidate"]["passed"]) == (20, 0)


def test_a_store_that_cannot_be_read_is_no_regression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "store.db"
    broken.write_bytes(b"no database " * 1000)
    config = tmp_path / "c.yaml"
    config.write_text(f"store:\n  url: sqlite:///{broken}\n", encoding="utf-8")
    assert main(["canary", "check", "--baseline", "1", "--candidate", "2", "--config", str(config)]) == 2
    assert "move the file away or restore a backup" in capsys.readouterr().err
