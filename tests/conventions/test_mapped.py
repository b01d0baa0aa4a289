"""House-made spans, read by a declarative mapping."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from aem_monitor.assembly import AssemblySettings, assemble
from aem_monitor.build import build_prefilter, build_registry
from aem_monitor.config.effective import effective_yaml
from aem_monitor.config.root import Config
from aem_monitor.config.schema import json_schema
from aem_monitor.config.settings import span_mappings
from aem_monitor.conventions.mapped import Fields, KindRule, Mapped, SpanMapping, as_text, value_at
from aem_monitor.conventions.parts import TextPart
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Span, SpanEvent
from tests.assembly.building import span

PAGE = Path(__file__).parents[2] / "deploy" / "docs" / "conventions.md"


def documented() -> tuple[SpanMapping, ...]:
    """The mapping that the page shows."""
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return span_mappings(Config.model_validate(yaml.safe_load(block)))


def house_made(trace: str, at: float, question: str, answer: str, *calls: dict[str, AttributeValue]) -> list[Span]:
    """A turn as the page describes it."""
    turn: dict[str, AttributeValue] = {
        "app.kind": "turn",
        "app.session": "s-1",
        "app.question": question,
        "app.answer": answer,
    }
    spans = [
        span(f"{trace}0", trace=trace * 32, scope="shop.agent", name="turn", start=at, end=at + 9, attributes=turn)
    ]
    for number, call in enumerate(calls, start=1):
        attributes = {"app.kind": "tool", **call}
        one = span(
            f"{trace}{number}",
            f"{trace}0",
            trace=trace * 32,
            scope="shop.agent",
            start=at + number,
            attributes=attributes,
        )
        spans.append(one)
    return spans


def test_the_documented_mapping_reads_the_documented_spans() -> None:
    look: dict[str, AttributeValue] = {
        "app.tool": "lookup_order",
        "app.args.order_id": "A-1",
        "app.output": '{"data": {"status": "shipped"}}',
        "app.failed": False,
    }
    mail: dict[str, AttributeValue] = {
        "app.tool": "mail.send",
        "app.args.to": ["dana@example.com"],
        "app.failed": True,
        "app.error_message": "timeout",
    }
    spans = house_made("a", 0, "Where is A-1?", "Shipped.", look) + house_made("b", 20, "Mail it.", "I cannot.", mail)
    registry = build_registry(documented())
    (conversation,) = assemble(spans, (), registry, AssemblySettings())
    assert (conversation.conversation_id, conversation.release) == ("s-1", "1.0")
    first, second = conversation.exchanges
    assert (first.user.text, second.user.text) == ("Where is A-1?", "Mail it.")
    assert first.response is not None
    assert first.response.text == "Shipped."
    (call,) = first.calls
    assert (call.tool, call.arguments, call.result, call.error) == (
        "lookup_order",
        {"order_id": "A-1"},
        {"status": "shipped"},
        None,
    )
    (call,) = second.calls
    assert (call.tool, call.action, call.arguments) == ("mail", "send", {"to": ["dana@example.com"]})
    assert (call.result, call.error) == (NOT_CAPTURED, "timeout")


def test_calls_without_spans_come_from_the_models_messages() -> None:
    asked = [{"role": "user", "content": "Where is A-1?"}]
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"order": "A-1"}'}}
    calls = [{"role": "assistant", "tool_calls": [call]}]
    tool = {"role": "tool", "tool_call_id": "c", "content": "shipped"}
    reply = [{"role": "assistant", "content": "Shipped."}]

    def model(span_id: str, at: float, said: list[Any], answered: list[Any]) -> Span:
        attributes: dict[str, AttributeValue] = {
            "app.kind": "llm",
            "app.model": "m-1",
            "app.prompt": json.dumps(said),
            "app.completion": json.dumps(answered),
        }
        return span(span_id, scope="shop.agent", start=at, attributes=attributes)

    spans = [model("1", 0, asked, calls), model("2", 3, [*asked, *calls, tool], reply)]
    (conversation,) = assemble(spans, (), build_registry(documented()), AssemblySettings())
    (exchange,) = conversation.exchanges
    (found,) = exchange.calls
    assert (found.name, found.arguments, found.result, found.model) == ("look", {"order": "A-1"}, "shipped", "m-1")
    assert exchange.response is not None
    assert exchange.response.text == "Shipped."


def test_a_mapping_goes_before_the_built_in_conventions() -> None:
    mapping = SpanMapping("mine", scope="shop.*", kind=KindRule(default=SpanKind.TOOL))
    attributes: dict[str, AttributeValue] = {"gen_ai.operation.name": "invoke_agent"}
    reading = build_registry([mapping]).read(span("1", scope="shop.agent", attributes=attributes))
    assert reading is not None
    assert (reading.convention, reading.kind) == ("mine", SpanKind.TOOL)


@pytest.mark.parametrize(
    ("mapping", "known"),
    [
        (SpanMapping("m", scope="shop.agent"), True),
        (SpanMapping("m", scope="shop"), False),
        (SpanMapping("m", scope="shop*"), True),
        (SpanMapping("m", attributes={"app.kind": ("*",)}), True),
        (SpanMapping("m", attributes={"app.kind": ("llm", "tool")}), True),
        (SpanMapping("m", attributes={"app.kind": ("to*",)}), True),
        (SpanMapping("m", attributes={"app.kind": ("llm",)}), False),
        (SpanMapping("m", attributes={"app.version": ("2",)}), True),
        (SpanMapping("m", attributes={"app.canary": ("true",)}), True),
        (SpanMapping("m", attributes={"app.other": ("*",)}), False),
        (SpanMapping("m", scope="shop.agent", resource={"service.name": ("shop",)}), True),
        (SpanMapping("m", scope="shop.agent", resource={"service.name": ("other",)}), False),
        (SpanMapping("m", scope="other", attributes={"app.kind": ("*",)}), False),
    ],
)
def test_all_that_a_mapping_asks_for_must_hold(mapping: SpanMapping, known: bool) -> None:
    attributes: dict[str, AttributeValue] = {"app.kind": "tool", "app.version": 2, "app.canary": True}
    assert Mapped(mapping).detect(span("1", scope="shop.agent", attributes=attributes)) is known


@pytest.mark.parametrize(
    "mapping",
    [
        SpanMapping("m", scope="house.tracer*"),
        SpanMapping("m", attributes={"app.kind": ("*",), "app.version.of.it": ("*",)}),
    ],
)
def test_the_prefilter_lets_the_spans_of_a_mapping_pass(mapping: SpanMapping) -> None:
    keep = build_prefilter(build_registry([mapping]), AssemblySettings())
    names = [(mapping.scope or "").rstrip("*") + ".v2", *mapping.attributes]
    assert any(keep.in_name(name) for name in names)
    assert not keep.in_name("http.request.method")


CARRYING = span(
    "1",
    name="tool look",
    attributes={
        "text": "hello",
        "empty": "",
        "json": '{"data": {"items": [{"n": 1}, {"n": 2}]}, "text": "{\\"a\\": 5}"}',
        "list": ["x", "y"],
        "args.order": "A-1",
        "args.lines.0.sku": "S",
        "number": 3,
        "flag": False,
    },
    events=[SpanEvent("answer", 0, {"text": "first"}), SpanEvent("answer", 1, {"text": "last"})],
)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("text", "hello"),
        ("empty", ""),
        ("number", 3),
        ("flag", False),
        ("missing", NOT_CAPTURED),
        ("json#data.items.1.n", 2),
        ("json#data.items.-1.n", 2),
        ("json#data.items.2.n", NOT_CAPTURED),
        ("json#data.items.x", NOT_CAPTURED),
        ("json#text.a", 5),
        ("text#a", NOT_CAPTURED),
        ("list#0", "x"),
        ("args.*", {"order": "A-1", "lines": [{"sku": "S"}]}),
        ("args.*#order", "A-1"),
        ("other.*", NOT_CAPTURED),
        ("event:answer:text", "last"),
        ("event:answer:other", NOT_CAPTURED),
        ("event:question:text", NOT_CAPTURED),
        ("resource:service.name", "shop"),
        ("span:name", "tool look"),
    ],
)
def test_what_a_place_on_a_span_holds(source: str, value: object) -> None:
    assert value_at(CARRYING, source) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), ("", None), (3, "3"), (True, "true"), (None, None), ({}, None), ([], None), (NOT_CAPTURED, None)],
)
def test_names_and_ids_are_texts(value: Any, text: str | None) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("llm", SpanKind.MODEL),
        ("tool", SpanKind.TOOL),
        ("tool-remote", SpanKind.AGENT),
        ("tool-local", SpanKind.TOOL),
        ("plan", SpanKind.OTHER),
        (None, SpanKind.OTHER),
    ],
)
def test_the_kind_goes_by_a_value_and_the_longest_beginning_wins(value: str | None, kind: SpanKind) -> None:
    values = {"llm": SpanKind.MODEL, "tool*": SpanKind.TOOL, "tool-re*": SpanKind.AGENT}
    rule = KindRule("app.kind", values, SpanKind.OTHER)
    assert rule.of(span("1", attributes={} if value is None else {"app.kind": value})) is kind


def read(
    fields: Fields, kind: SpanKind, attributes: dict[str, AttributeValue], error: str | None = None
) -> SpanReading:
    mapping = SpanMapping("m", scope="test", kind=KindRule(default=kind), fields=fields)
    return Mapped(mapping).read(span("1", name="look", attributes=attributes, error=error), ())


@pytest.mark.parametrize(
    ("value", "error"),
    [("boom", "boom"), (True, ""), (False, None), ("false", None), ("", None), (0, None), (1, "1"), ("OK", None)],
)
def test_an_error_is_a_text_or_a_flag(value: AttributeValue, error: str | None) -> None:
    assert read(Fields(error=("app.error",)), SpanKind.TOOL, {"app.error": value}).error == error


def test_a_failed_status_is_an_error_whatever_the_mapping_says() -> None:
    assert read(Fields(error=("app.error",)), SpanKind.TOOL, {"app.error": False}, "broken").error == "broken"


def test_the_first_place_that_a_span_carries_wins() -> None:
    fields = Fields(user=("app.b", "app.a"), response=("app.c#text", "app.c"))
    reading = read(fields, SpanKind.AGENT, {"app.a": "A", "app.c": '{"text": "C"}'})
    assert reading.input.items[0].text == TextPart("A")
    assert reading.output.items[0].text == TextPart("C")


@pytest.mark.parametrize("value", ['{"tools": [{"name": "find", "input_schema": {"type": "object"}}]}', None])
def test_definitions_of_tools_are_read_where_the_mapping_says(value: AttributeValue) -> None:
    reading = read(Fields(tool_definitions=("app.request#tools",)), SpanKind.MODEL, {"app.request": value})
    found = [(tool.name, tool.schema) for tool in reading.tools.tools]
    assert found == ([] if value is None else [("find", '{"type":"object"}')])


def test_messages_go_before_texts() -> None:
    fields = Fields(user=("app.a",), input_messages=("app.m",))
    attributes: dict[str, AttributeValue] = {"app.a": "A", "app.m": '[{"role": "user", "content": "M"}]'}
    assert read(fields, SpanKind.AGENT, attributes).input.items[0].text == TextPart("M")
    assert read(fields, SpanKind.AGENT, {"app.a": "A"}).input.items[0].text == TextPart("A")


def test_content_that_was_taken_away_is_not_captured() -> None:
    fields = Fields(user=("app.a",), arguments=("app.args",), result=("app.out",))
    scrubbed: dict[str, AttributeValue] = {"app.a": "[REDACTED]", "app.args": "[REDACTED]", "app.out": "[REDACTED]"}
    assert read(fields, SpanKind.AGENT, scrubbed).input.items[0].text == TextPart(None)
    tool = read(fields, SpanKind.TOOL, scrubbed).tool
    assert tool is not None
    assert (tool.arguments, tool.bare, tool.result) == (None, NOT_CAPTURED, NOT_CAPTURED)


def test_arguments_that_were_cut_are_marked() -> None:
    tool = read(Fields(arguments=("app.args",)), SpanKind.TOOL, {"app.args": '{"order": "A-1", "note": "bro'}).tool
    assert tool is not None
    assert (tool.arguments, tool.arguments_truncated) == ({"order": "A-1", "note": "bro"}, True)


def test_tool_and_action_may_be_two_attributes() -> None:
    fields = Fields(tool=("app.tool",), action=("app.action",))
    tool = read(fields, SpanKind.TOOL, {"app.tool": "reports", "app.action": "Filter"}).tool
    assert tool is not None
    assert (tool.name, tool.tool, tool.action) == ("reports.Filter", "reports", "Filter")
    unnamed = read(fields, SpanKind.TOOL, {}).tool
    assert unnamed is not None
    assert (unnamed.name, unnamed.tool) == ("look", None)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=30) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_NAMES = ("a", "a.b", "a.b.0", "a.c")
_SOURCES = st.sampled_from((*_NAMES, "a.*", "a#b.0", "a.*#b.0", "event:a:b", "resource:a", "span:name"))


@given(st.dictionaries(st.sampled_from(_NAMES), _VALUES), st.lists(_SOURCES, max_size=3), st.sampled_from(SpanKind))
def test_whatever_the_contents_nothing_is_raised(
    attributes: dict[str, AttributeValue], sources: list[str], kind: SpanKind
) -> None:
    fields = Fields(**{name: tuple(sources) for name in Fields.__dataclass_fields__})
    read(fields, kind, attributes)


def test_the_documented_mapping_is_what_the_schema_says() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert list(Draft202012Validator(json_schema()).iter_errors(yaml.safe_load(block))) == []


def test_a_mapping_survives_being_shown_as_the_configuration_in_force() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    config = Config.model_validate(yaml.safe_load(block))
    assert Config.model_validate(yaml.safe_load(effective_yaml(config))) == config
