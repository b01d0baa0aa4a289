"""Configuration of ``aem-monitor rekey``."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from aem_monitor.config.names import TopicName
from aem_monitor.config.section import Listener, Section
from aem_monitor.config.units import Address, Duration, ListenAddress, Size
from aem_monitor.validation import KeyFaultError


class RekeyTopic(Section):
    """One topic that `rekey` reads, and the one it writes to."""

    name: TopicName = Field(description="Name of the topic that is read.")
    to: TopicName = Field(
        description="Name of the topic that is written to; the monitor reads this one. It has to exist. Those of "
        "traces and logs need the same number of partitions.",
    )
    signal: Literal["traces", "logs"] = Field("traces", description="What its messages are export requests of.")
    encoding: Literal["auto", "otlp_proto", "otlp_json"] = Field(
        "auto", description="Encoding of its messages; they are written in the one they are read in."
    )


class Rekey(Listener):
    """`aem-monitor rekey`, a process of its own that publishes spans again, keyed by conversation. Brokers, client and
    the bounds of reading are those of `ingest.kafka` and `ingest.limits`; see [scale-out.md](scale-out.md)."""

    listen: ListenAddress = Field(
        Address("127.0.0.1", 21466), description="Address of its `/metrics`, `/-/healthy` and `/-/ready`."
    )
    group_id: str = Field(
        "aem-monitor-rekey", min_length=1, description="Consumer group of `rekey`, not the monitor's."
    )
    group_instance_id: str | None = Field(
        None,
        description="Static member name, unique for each process; a restart then moves no partitions.",
    )
    topics: Annotated[tuple[RekeyTopic, ...], Field(strict=False)] = Field(
        (RekeyTopic(name="otlp_spans", to="otlp_spans_by_conversation"),),
        min_length=1,
        description="Topics to read, each with the topic to write to.",
    )
    wait: Duration = Field(
        10.0,
        gt=0,
        description="Silence after which a trace that names its conversation is published although its root or a "
        "parent is missing. Also how long a published trace is remembered over a restart, for what comes late.",
    )
    wait_without_id: Duration = Field(
        60.0,
        gt=0,
        description="Silence after which a trace is published that does not name its conversation. Longer than the "
        "agents' longest step: the span that carries the id often ends last.",
    )
    max_traces: int = Field(50_000, gt=0, description="Most traces that wait; beyond it the oldest are published.")
    max_bytes: Size = Field(2**28, gt=0, description="Most bytes that wait; beyond it the oldest are published.")
    without_id: Literal["agent", "trace"] = Field(
        "agent",
        description="Key of traces that name no conversation: their agent, so that one replica joins them, or their "
        "own id, which spreads them but tears conversations of several traces apart.",
    )

    @model_validator(mode="after")
    def _topics_make_sense(self) -> Self:
        names = [topic.name for topic in self.topics]
        signal_of: dict[str, str] = {}
        for number, topic in enumerate(self.topics):
            if topic.name in names[:number]:
                raise KeyFaultError(("topics", number, "name"), f"topic {topic.name!r} is listed twice; keep one")
            if topic.to in names:
                raise KeyFaultError(
                    ("topics", number, "to"), f"topic {topic.to!r} is read as well; what is written would come again"
                )
            if signal_of.setdefault(topic.to, topic.signal) != topic.signal:
                raise KeyFaultError(
                    ("topics", number, "to"), f"topic {topic.to!r} is given traces and logs; write them apart"
                )
        return self

    @model_validator(mode="after")
    def _waits_longer_without_id(self) -> Self:
        if self.wait_without_id < self.wait:
            raise KeyFaultError("wait_without_id", "must not be shorter than wait")
        return self
