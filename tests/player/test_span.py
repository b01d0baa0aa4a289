"""The player's span, whatever the environment asks of OpenTelemetry's SDK."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest

from aem_monitor.errors import UsageError
from aem_monitor.player.faults import Outcome
from aem_monitor.player.span import PlaySpan, tracer

URL = "http://agent.example:8080/chat"


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    tracer.cache_clear()
    yield
    tracer.cache_clear()


def exported(span: PlaySpan, outcome: Outcome = Outcome.ANSWERED, status: int | None = 200, last: bool = False) -> Any:
    request = span.export(URL, 1.5, outcome, status, last=last)
    (resource,) = request.resource_spans
    (scope,) = resource.scope_spans
    (told,) = scope.spans
    assert attributes(resource.resource)["service.name"] == "aem-monitor-canary"
    return told


def attributes(told: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in told.attributes}


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_TRACES_SAMPLER": "always_off"},
        {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"},
        {"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "4", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "4"},
        {"OTEL_ATTRIBUTE_COUNT_LIMIT": "1", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "1"},
        {"OTEL_SERVICE_NAME": "somebody else", "OTEL_RESOURCE_ATTRIBUTES": "service.version=9"},
        {"OTEL_PROPAGATORS": "none"},
    ],
)
def test_it_is_sampled_and_whole_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    span = PlaySpan("refund", "c-1", "a long message " * 1000)
    headers = span.headers()
    told = exported(span, last=True)
    found = attributes(told)
    assert headers["traceparent"][:-2] == f"00-{told.trace_id.hex()}-{told.span_id.hex()}-"
    assert int(headers["traceparent"][-2:], 16) & 1, "sampled"
    assert span.trace_id == told.trace_id.hex()
    assert found.pop("gen_ai.input.messages").count("a long message") == 1000
    assert found == {
        "aem.dialog.id": "refund",
        "aem.run.id": "c-1",
        "gen_ai.conversation.id": "c-1",
        "http.request.method": "POST",
        "server.address": "agent.example",
        "server.port": 8080,
        "http.response.status_code": 200,
        "aem.run.end": True,
    }
    assert not told.parent_span_id
    assert told.end_time_unix_nano - told.start_time_unix_nano == 1_500_000_000
    assert told.status.code == told.status.STATUS_CODE_UNSET


def test_an_exchange_that_came_to_nothing_is_an_error() -> None:
    told = exported(PlaySpan("refund", "c-1", "Hello"), Outcome.TIMEOUT, None)
    assert attributes(told)["error.type"] == "timeout"
    assert "http.response.status_code" not in attributes(told)
    assert told.status.code == told.status.STATUS_CODE_ERROR


def test_names_come_whole_through_baggage() -> None:
    dialog = "refund: 50 % + tax, Zürich=1;x"
    baggage = PlaySpan(dialog, "c-1", "Hello").headers()["baggage"]
    assert dict(one.split("=", 1) for one in baggage.split(","))["aem.dialog.id"] == (
        "refund%3A%2050%20%25%20%2B%20tax%2C%20Z%C3%BCrich%3D1%3Bx"
    )
    assert unquote(baggage.split(",")[0].split("=", 1)[1]) == dialog


def test_an_sdk_that_is_switched_off_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(UsageError, match="OTEL_SDK_DISABLED is set"):
        tracer()
