"""Files with anything in the place of anything: imported, left out or refused with a message, never a traceback."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from aem_monitor.errors import UsageError
from aem_monitor.golden.load import parse_dialog
from aem_monitor.golden.write import write_yaml
from tests.imports.reading import DATA, read

WHOLE = {
    "adk": [DATA / "adk" / "dice_and_tickets.evalset.json"],
    "strands-evals": [DATA / "strands-evals" / "experiment.json"],
    "tau2": [DATA / "airline" / "tasks.json"],
}
LINES = {
    "bfcl": [
        DATA / name for name in ("BFCL_v4_multi_turn_base.json", "possible_answer.json", "gorilla_file_system.json")
    ],
    "api-bank": sorted((DATA / "api-bank").glob("*.jsonl")),
}
OTHERS: list[Any] = [None, 7, "x", "", [], {}, [None], {"parts": 3}, [[1]], True, "\ud800"]


def damaged(value: Any, random: Random) -> Any:
    """The value with one place replaced."""
    at, hops = [value], value
    while isinstance(hops, dict | list) and hops and random.random() < 0.85:
        hops = random.choice(list(hops.values()) if isinstance(hops, dict) else hops)
        at.append(hops)
    target = at[-1]
    other = random.choice(OTHERS)

    def replaced(item: Any) -> Any:
        if item is target:
            return other
        if isinstance(item, dict):
            return {key: replaced(inner) for key, inner in item.items()}
        return [replaced(inner) for inner in item] if isinstance(item, list) else item

    return replaced(value)


def survives(name: str, files: list[Path]) -> None:
    try:
        found = read(name, *files)
    except UsageError:
        return
    for one in found:
        if one.sheet is None:
            assert one.problem
        else:
            parse_dialog(write_yaml(one.sheet.value(), one.sheet.comments()).encode(), "x.yaml")


@pytest.mark.parametrize("name", sorted(WHOLE))
@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file(tmp_path: Path, name: str, seed: int) -> None:
    random = Random(f"{name}{seed}")
    files = []
    for path in WHOLE[name]:
        files.append(tmp_path / path.name)
        files[-1].write_text(json.dumps(damaged(json.loads(path.read_text()), random)))
    survives(name, files)


@pytest.mark.parametrize("name", sorted(LINES))
@pytest.mark.parametrize("seed", range(25))
def test_damaged_lines(tmp_path: Path, name: str, seed: int) -> None:
    random = Random(f"{name}{seed}")
    files = []
    for path in LINES[name]:
        files.append(tmp_path / path.name)
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        files[-1].write_text("\n".join(json.dumps(damaged(line, random)) for line in lines))
    survives(name, files)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"a": 1}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (nested(300), "nested deeper than"),
        ({"note": "${9.result.a}"}, "no dialog can hold it"),
    ],
)
def test_what_no_dialog_can_hold_leaves_its_case_out_and_no_other(
    tmp_path: Path, args: dict[str, Any], problem: str
) -> None:
    cases = [
        {"name": "bad", "input": "x", "expected_trajectory": [{"name": "f", "input": args}]},
        {"name": "good", "input": "x", "expected_trajectory": [{"name": "f", "input": {"a": 1}}]},
    ]
    path = tmp_path / "e.json"
    path.write_text(json.dumps(cases))
    bad, good = read("strands-evals", path)
    assert bad.sheet is None
    assert problem in (bad.problem or "")
    assert len(bad.problem or "") < 1000
    assert good.sheet is not None


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(f'[{{"input": "x", "expected_trajectory": [{{"name": "f", "input": {{"a": {number}}}}}]}}]')
    with pytest.raises(UsageError, match="is no number of JSON"):
        read("strands-evals", path)
