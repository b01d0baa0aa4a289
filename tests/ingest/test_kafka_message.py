"""One message becomes agent telemetry by its topic's signal and encoding."""

import pytest

from aem_monitor.errors import ConfigError, DecodeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.kafka_message import decode_message, sniff
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from tests.services.agent import agent_spans
from tests.services.collector import otlp_json, otlp_proto

EVERYTHING = Prefilter([""])


@pytest.mark.parametrize("encoding", ["otlp_proto", "auto"])
def test_protobuf_spans(encoding: str) -> None:
    topic = KafkaTopic("t", encoding=encoding)  # type: ignore[arg-type]
    spans = agent_spans(conversation="c-1")
    decoded = decode_message(otlp_proto(spans), topic, Limits(), EVERYTHING)
    assert {span.name for span in decoded.spans} == {span.name for span in spans}


@pytest.mark.parametrize("encoding", ["otlp_json", "auto"])
def test_json_spans_are_the_same_as_protobuf_ones(encoding: str) -> None:
    topic = KafkaTopic("t", encoding=encoding)  # type: ignore[arg-type]
    spans = agent_spans(conversation="c-1")
    decoded = decode_message(otlp_json(spans), topic, Limits(), EVERYTHING)
    assert decoded == decode_message(otlp_proto(spans), KafkaTopic("t"), Limits(), EVERYTHING)


def test_a_message_in_the_other_encoding_than_configured_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_message(otlp_json(agent_spans()), KafkaTopic("t", encoding="otlp_proto"), Limits(), EVERYTHING)
    assert caught.value.reason == Refused.MALFORMED


def test_a_zipkin_array_is_named_as_such() -> None:
    with pytest.raises(DecodeError, match="zipkin") as caught:
        sniff(b'[{"traceId": "1"}]')
    assert caught.value.reason == Refused.UNSUPPORTED_ENCODING


def test_a_tombstone_holds_nothing() -> None:
    assert decode_message(None, KafkaTopic("t"), Limits(), EVERYTHING) == Decoded()


def test_a_message_over_the_limit_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_message(otlp_proto(agent_spans()), KafkaTopic("t"), Limits(max_body_bytes=10), EVERYTHING)
    assert caught.value.reason == Refused.TOO_LARGE


def test_security_settings_reach_the_client_and_stay_out_of_logs() -> None:
    settings = KafkaSettings(("b:9092",), client={"security_protocol": "SASL_SSL", "sasl_plain_password": "secret"})
    assert settings.consumer_arguments()["sasl_plain_password"] == "secret"
    assert "secret" not in repr(settings)


def test_a_broker_that_is_back_is_found_within_a_second_where_nothing_else_is_said() -> None:
    assert KafkaSettings(("b:9092",)).consumer_arguments()["reconnect_backoff_max_ms"] == 1000
    patient = KafkaSettings(("b:9092",), client={"reconnect_backoff_max_ms": 30_000})
    assert patient.consumer_arguments()["reconnect_backoff_max_ms"] == 30_000


@pytest.mark.parametrize("name", ["enable_auto_commit", "auto_offset_reset", "group_id", "no_such_setting"])
def test_a_client_setting_that_would_break_the_promises_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        KafkaSettings(("b:9092",), client={name: True}).consumer_arguments()
