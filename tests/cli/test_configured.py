"""Commands over files go by the daemon's configuration where one is named."""

import json
import re
from pathlib import Path

import pytest

from aem_monitor.cli.main import main

PAGE = Path(__file__).parents[2] / "deploy" / "docs" / "conventions.md"
GOLDEN = """
dialog: "where"
version: 1
review: {status: "human"}
recognise: {first_user: ["Where is A-1?"]}
turns:
  - {turn: "User", text: "Where is A-1?"}
  - turn_no: 1
    turn: "Tool"
    gold_turn: {tool_id: "lookup_order", args: {order_id: "A-1"}}
  - {turn_no: 2, turn: "Agent", gold_turn: {response: "It has shipped."}}
"""


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    """A turn with one call, written by the instrumentation that the page describes."""

    def span(span_id: str, parent: str, name: str, at: int, **attributes: str) -> dict[str, object]:
        return {
            "traceId": "ab" * 16,
            "spanId": span_id * 8,
            "parentSpanId": parent * 8,
            "name": name,
            "startTimeUnixNano": str(1_796_000_000_000_000_000 + at),
            "endTimeUnixNano": str(1_796_000_000_000_000_000 + at + 10),
            "attributes": [{"key": f"app.{k}", "value": {"stringValue": v}} for k, v in attributes.items()],
        }

    turn = span("01", "", "turn", 0, kind="turn", session="s-1", question="Where is A-1?", answer="It has shipped.")
    call = span("02", "01", "tool", 2, kind="tool", tool="lookup_order", output='{"data": {"status": "shipped"}}')
    call["attributes"] += [{"key": "app.args.order_id", "value": {"stringValue": "A-1"}}]  # type: ignore[operator]
    path = tmp_path / "spans.json"
    scope = {"scope": {"name": "shop.agent"}, "spans": [turn, call]}
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}), encoding="utf-8")
    return path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "where.yaml").write_text(GOLDEN, encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "aem-monitor.yaml"
    path.write_text(
        f"golden: {{paths: [golden]}}\nrecognise: {{where: {{app.env: canary}}}}\n{block}", encoding="utf-8"
    )
    return path


def test_replay_reads_house_made_spans_by_the_configurations_mapping(
    spans: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--conversations", "--config", str(config), str(spans)]) == 0
    (conversation,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert conversation["conversation_id"] == "s-1"
    assert [(turn["kind"], turn.get("text") or turn.get("tool")) for turn in conversation["turns"]] == [
        ("user", "Where is A-1?"),
        ("tool", "lookup_order"),
        ("response", "It has shipped."),
    ]


def test_without_the_configuration_they_are_no_conversation(spans: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--conversations", str(spans)]) == 0
    assert capsys.readouterr().out == ""


def test_replay_takes_the_golden_dialogs_of_the_configuration_and_recognises_without_restriction(
    spans: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--verdicts", "--config", str(config), str(spans)]) == 0
    (result,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (result["dialog"], result["test_pass"]) == ("where", True)


def test_explain_names_the_mapping(spans: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--json", "--config", str(config), str(spans)]) == 0
    notes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(note["convention"], note["kind"]) for note in notes] == [("shop-agent", "agent"), ("shop-agent", "tool")]


def test_a_configuration_with_faults_is_an_input_error(
    spans: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("conventions: {mapings: []}\n", encoding="utf-8")
    assert main(["replay", "--conversations", "--config", str(path), str(spans)]) == 2
    assert "did you mean 'mappings'?" in capsys.readouterr().err
