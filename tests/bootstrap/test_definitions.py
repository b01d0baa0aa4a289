"""Definitions of tools in the attributes of real spans, and the effects that they and names propose."""

from pathlib import Path

import pytest

from aem_monitor.bootstrap.definitions import ToolDefinition, definitions_in
from aem_monitor.bootstrap.effects import effect_of
from aem_monitor.build import PipelineSettings, build_prefilter, build_registry
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.model.span import Span

TRACES = Path(__file__).parents[1] / "data" / "traces"


def spans_of(name: str) -> list[Span]:
    keep = build_prefilter(build_registry(), PipelineSettings().assembly)
    return [span for decoded in read_files([TRACES / name], Limits(), keep) for span in decoded.spans]


@pytest.mark.parametrize(
    ("trace", "tool", "required"),
    [
        ("strands/genai-sales.json", "query_sales", {"metric", "quarter", "year"}),
        ("openinference/langchain-refund.json", "create_refund", {"order_id", "amount", "reason"}),
        ("pydantic-ai/v5-flights.json", "search_flights", {"origin", "destination", "date", "max_price", "non_stop"}),
        ("vercel-ai/v7-refund.json", "lookup_order", {"order_id"}),
        ("semantic-kernel/refund.json", "shop-lookup_order", {"order_id"}),
    ],
)
def test_definitions_of_several_frameworks_are_read(trace: str, tool: str, required: set[str]) -> None:
    definition = definitions_in(spans_of(trace))[tool]
    assert definition.required == frozenset(required)
    assert definition.description


def test_a_default_in_the_schema_is_an_optional_argument() -> None:
    assert definitions_in(spans_of("strands/genai-sales.json"))["query_sales"].defaults() == {"group_by": ""}


def test_hints_of_the_model_context_protocol_win_over_the_name() -> None:
    assert effect_of("get_and_burn", None, ToolDefinition("get_and_burn", destructive=True)).effect == "write"
    assert effect_of("send_probe", None, ToolDefinition("send_probe", read_only=True)).effect == "read"
    assert effect_of("get_x", None, ToolDefinition("get_x", read_only=False)).effect == "write"


@pytest.mark.parametrize(
    ("tool", "action", "effect"),
    [
        ("lookup_order", None, "read"),
        ("reports", "ListRegions", "read"),
        ("reports", "DeleteReport", "write"),
        ("get_or_create_user", None, "write"),
        ("check_in", None, "write"),
        ("return_delivered_order_items", None, "write"),
        ("find_user_id_by_email", None, "read"),
        ("SearchFlights", None, "read"),
        ("x", None, "write"),
        ("", None, "write"),
    ],
)
def test_the_first_telling_verb_of_a_name_decides_and_without_one_it_is_a_write(
    tool: str, action: str | None, effect: str
) -> None:
    assert effect_of(tool, action, None).effect == effect
