"""``explain`` says of every span what it was taken for, and which turn rests on it or why none does."""

import json
from pathlib import Path

import pytest

from aem_monitor.cli.main import main

TRACES = Path(__file__).parents[1] / "data" / "traces"


def notes(capsys: pytest.CaptureFixture[str], *files: Path) -> list[dict[str, object]]:
    assert main(["explain", "--json", *map(str, files)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_span_has_one_note(capsys: pytest.CaptureFixture[str]) -> None:
    found = notes(capsys, TRACES / "strands" / "legacy-refund.json")
    assert len(found) == len({(note["trace_id"], note["span_id"]) for note in found}) == 15
    assert {note["convention"] for note in found} == {"strands"}
    assert all(note["became"] for note in found)


def test_turns_are_traced_to_their_spans(capsys: pytest.CaptureFixture[str]) -> None:
    found = notes(capsys, TRACES / "strands" / "legacy-refund.json")
    became = [text for note in found for text in note["became"] if not str(text).startswith("no turn")]  # type: ignore[attr-defined]
    assert sum(text.startswith("user message") for text in became) == 3
    assert sum(text.startswith("call of lookup_order") for text in became) == 1
    assert sum(text.startswith("reply") for text in became) == 3


def test_a_call_without_arguments_says_where_they_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    found = notes(capsys, TRACES / "otel-genai" / "openai-loop-sales.json")
    tools = [note for note in found if note["kind"] == "tool"]
    assert tools
    assert all("taken from the model's messages" in str(note["says"]) for note in tools)


def test_a_span_of_no_agent_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    span = {"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "GET /", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    path = tmp_path / "plain.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}), encoding="utf-8")
    (note,) = notes(capsys, path)
    assert note["convention"] is None
    assert "nothing of an agent" in str(note["became"])


def test_only_one_trace_is_shown_where_one_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    path = TRACES / "strands" / "legacy-refund.json"
    trace = str(notes(capsys, path)[0]["trace_id"])
    assert main(["explain", "--trace", trace[:8], str(path)]) == 0
    out = capsys.readouterr().out
    assert out.count("trace ") >= 1
    assert [line for line in out.splitlines() if line.startswith("trace ")] == [f"trace {trace}"]


def test_operations_on_a_servers_threads_say_what_they_tell(capsys: pytest.CaptureFixture[str]) -> None:
    found = notes(capsys, TRACES / "azure-ai-agents" / "steps-flights.json")
    steps = [note for note in found if note["name"] == "list_run_steps"]
    assert len(steps) == 2
    assert all(note["kind"] == "report" and "calls of" in str(note["says"]) for note in steps)
    assert all("fills in the turns of a run" in str(note["became"]) for note in steps)
