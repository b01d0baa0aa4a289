"""Configuration of the sinks: where final verdicts go beside the store."""

import re
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, model_validator

from aem_monitor.config.ingest import KafkaClient
from aem_monitor.config.names import Broker, TopicName
from aem_monitor.config.section import FileName, Section
from aem_monitor.config.units import Duration, Size
from aem_monitor.sinks.faults import SINKS
from aem_monitor.validation import KeyFaultError

HEADER_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
"""What the value of an HTTP header may be: printable ASCII."""

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS: Final = frozenset(
    {"connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding"}
)


class JsonLines(Section):
    """A file with every final verdict and revision as a line of JSON, off until it has a path."""

    path: FileName = Field(
        description="File that is written, readable by its owner only. Its folder has to be there. The files before it "
        "are beside it: `verdicts.jsonl.1` is the latest of them. Each replica needs a path of its own."
    )
    max_bytes: Size = Field(
        64 * 1024 * 1024, gt=0, description="Longest file; a line that is longer has a file of its own."
    )
    max_files: int = Field(
        10, ge=2, le=10000, description="Most files, the one that is written included; the oldest goes."
    )
    max_age: Duration = Field(
        86400.0, gt=0, description="How long a file is written at most, so that others may take it whole."
    )


class KafkaSink(Section):
    """A topic with every final verdict and revision as a message, off until it is named. It has to exist."""

    bootstrap_servers: Annotated[tuple[Broker, ...], Field(strict=False)] = Field(
        min_length=1, description="Brokers to begin with, each `host:port`."
    )
    topic: TopicName = Field(
        description="Name of the topic; not one that is read. A verdict longer than its `max.message.bytes` is lost to "
        "the sink.",
    )
    client: KafkaClient = Field(default_factory=KafkaClient, description="Security settings of the client.")


class OtlpSink(Section):
    """A receiver of OTLP/HTTP log records that gets every final verdict and revision as `gen_ai.evaluation.result`
    events beside the judged spans; off until it has an endpoint."""

    endpoint: str = Field(
        description="Whole URL of the receiver for log records, such as `http://collector:4318/v1/logs`."
    )
    headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="HTTP headers of each request; what is secret is better kept in a file."
    )
    authorization_file: FileName | None = Field(
        None, description="File that holds the value of the header `Authorization`, such as `Bearer ...`."
    )
    timeout: Duration = Field(10.0, gt=0, description="Longest wait for the receiver.")
    cafile: FileName | None = Field(
        None, description="PEM file of the authorities that sign the receiver; default: the system's."
    )

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if not is_url(self.endpoint):
            raise KeyFaultError(
                "endpoint", "must be a whole URL without credentials: http://collector:4318/v1/logs, or https://..."
            )
        # Log records read as spans are not always refused: both messages begin alike.
        if urlsplit(self.endpoint).path.endswith(("/v1/traces", "/v1/metrics")):
            raise KeyFaultError("endpoint", "is not for log records; most receivers have them at /v1/logs")
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _OWN_HEADERS:
                raise KeyFaultError(("headers", name), "cannot be set; give the name of another HTTP header")
            if not HEADER_VALUE.fullmatch(value.get_secret_value()):
                raise KeyFaultError(("headers", name), "must be printable ASCII on one line")
            if name.lower() == "authorization" and self.authorization_file is not None:
                raise KeyFaultError(("headers", name), "is given here and by authorization_file; keep one")
        return self


def is_url(text: str) -> bool:
    """Whether requests can be sent there. Credentials in it would not be."""
    if not re.fullmatch(r"https?://[\x21-\x7e]+", text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:  # of a host or port that is none
        return False


class Sinks(Section):
    """Where final verdicts go beside the store."""

    # With all of its keys commented out, as in the example, the section is null.
    model_config = ConfigDict(json_schema_extra={"type": ["object", "null"]})

    json_lines: JsonLines | None = Field(None)
    kafka: KafkaSink | None = Field(None)
    otlp: OtlpSink | None = Field(None)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the sinks that are on."""
        return tuple(name for name in SINKS if getattr(self, name) is not None)
