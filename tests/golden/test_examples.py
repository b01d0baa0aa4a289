"""The examples against real recorded spans: what ran well passes, and a dialog that expects something else fails."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.build import PipelineSettings, build_pipeline, build_prefilter, build_registry
from aem_monitor.examples import example_dialogs
from aem_monitor.golden.load import dialog_from, load_dialogs
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.model.verdict import RunResult
from aem_monitor.pipeline import Collected, score_conversations
from aem_monitor.yamlfile import read_yaml

TRACES = Path(__file__).parents[1] / "data" / "traces"
RUNS = [
    ("strands/genai-batches-refund.jsonl", "refund-damaged-order"),
    ("strands/legacy-refund.json", "refund-damaged-order"),
    ("strands/v1.0.0-refund.json", "refund-damaged-order"),
    ("strands/genai-sales.json", "quarterly-sales"),
    ("otel-genai/langchain-refund.json", "refund-damaged-order"),
    ("otel-genai/openai-loop-sales.json", "quarterly-sales"),
    ("otel-genai/agno-flights.json", "flight-booking"),
    ("otel-genai/openai-agents-with-client-sales.json", "quarterly-sales"),
]


def score(trace: str, edited: Any = None) -> RunResult:
    dialogs = list(load_dialogs([example_dialogs()])) if edited is None else [dialog_from(edited)]
    settings = replace(PipelineSettings(), require_where=False)
    conventions = build_registry()
    pipeline = build_pipeline(dialogs, settings, conventions)
    collected = Collected()
    for decoded in read_files([TRACES / trace], Limits(), build_prefilter(conventions, settings.assembly)):
        collected.add(decoded)
    (result,) = score_conversations(pipeline, collected.conversations(pipeline)).results
    return result


@pytest.mark.parametrize(("trace", "dialog"), RUNS)
def test_a_recorded_run_passes_the_example_that_it_plays(trace: str, dialog: str) -> None:
    result = score(trace)
    assert result.dialog == dialog
    assert (result.success_rate, result.test_pass) == (1.0, True)
    assert not result.draft


def test_a_dialog_that_expects_another_reason_finds_the_one_turn_that_differs() -> None:
    text: Any = read_yaml(example_dialogs() / "refund-damaged-order.yaml").value
    text["turns"][4]["gold_turn"]["args"]["reason"] = "wrong colour"
    result = score("strands/legacy-refund.json", text)
    assert result.test_pass is False
    assert (result.first_failure_turn, result.root_cause, result.root_cause_count) == (
        3,
        "inconsistent_parameter_values",
        1,
    )
    assert [turn.turn_no for turn in result.turns if turn.success is False] == [3]


@pytest.mark.parametrize(("grouped_by", "passes"), [("", True), ("region", False)])
def test_an_argument_that_a_run_left_out_is_the_default_of_the_schema_on_its_spans(
    grouped_by: str, passes: bool
) -> None:
    text: Any = read_yaml(example_dialogs() / "quarterly-sales.yaml").value
    text["turns"][1]["gold_turn"]["args"]["group_by"] = grouped_by
    result = score("strands/genai-sales.json", text)
    assert result.turns[0].success is passes
    assert result.turns[0].failure_reason == (None if passes else "missing_parameters")
