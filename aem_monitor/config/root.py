"""The whole configuration."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from aem_monitor.config.alerting import Alerting
from aem_monitor.config.assembly import Assembly
from aem_monitor.config.conventions import Conventions
from aem_monitor.config.experts import Experts
from aem_monitor.config.ingest import Ingest
from aem_monitor.config.rekey import Rekey
from aem_monitor.config.section import FileName, Listener, Section
from aem_monitor.config.sinks import Sinks
from aem_monitor.config.store import Store
from aem_monitor.config.units import Address, Duration, ListenAddress, format_duration
from aem_monitor.config.web import Web
from aem_monitor.validation import KeyFaultError

AttributeScalar: TypeAlias = str | bool | int | float

_WHERE_FORM = "must be null, the word any, or attributes with a value or a list of values: {deployment.name: canary}"


def _where(value: Any) -> Any:
    """Every value of the condition as a list, so that only one form is read later."""
    if value is None or value == "any":
        return value
    if not isinstance(value, dict) or not value:
        raise ValueError(_WHERE_FORM)
    lists = {key: wanted if isinstance(wanted, list | tuple) else [wanted] for key, wanted in value.items()}
    for key, wanted in lists.items():
        if not wanted or not all(isinstance(one, str | bool | int | float) for one in wanted):
            raise KeyFaultError(key, "must be a text, number or boolean, or a list of them that is not empty")
    return lists


Where: TypeAlias = Annotated[
    Literal["any"] | dict[str, Annotated[tuple[AttributeScalar, ...], Field(strict=False)]] | None,
    BeforeValidator(_where),
    WithJsonSchema({"anyOf": [{"const": "any"}, {"type": "object"}, {"type": "null"}]}),
]
"""None: no recognition by text; ``any``: unrestricted; else attributes, each with the values any of which will do."""


class Golden(Section):
    """The golden dialogs."""

    paths: Annotated[tuple[FileName, ...], Field(strict=False)] = Field(
        (),
        description="Files or folders with golden dialogs (`*.yaml`, `*.yml`, `*.json`). Relative paths count from the "
        "configuration file. `run` needs at least one; `demo` brings its own.",
    )


class Recognise(Section):
    """Which conversations are plays of a golden dialog. A dialog named on the spans needs none of this."""

    where: Where = Field(
        None,
        description="Recognition by the user's words is off until this restricts it: resource or span attributes a "
        "conversation must carry, each with a value or a list of values any of which will do. `any` lifts the "
        "restriction; then a customer who says a golden sentence is taken for a canary. A dialog's own "
        "`recognise.where` goes first.",
    )
    similarity: float = Field(
        0.85, ge=0, le=1, description="Least similarity of the first user message to a golden one."
    )
    margin: float = Field(
        0.1, ge=0, le=1, description="Least lead over the second best dialog; with less the outcome is `ambiguous`."
    )


class ReplyThresholds(Section):
    """From which share of right claims a reply passes. What must (not) be mentioned is not weighed with them."""

    completeness: float = Field(
        1.0, ge=0, le=1, description="Of what the reference text says, how much the reply has to say; 1: all of it."
    )
    truthfulness: float = Field(
        1.0,
        ge=0,
        le=1,
        description="Of the statements of the reply, how many have to be borne out by the reference, the user or a "
        "healthy result; 1: all of them.",
    )


class Scoring(Section):
    """How values and replies are judged. Typed rules come first; these bounds count only where similarity decides."""

    threshold: float = Field(0.5, ge=0, le=1, description="Least score that counts as equivalent.")
    band: float = Field(0.08, ge=0, le=0.5, description="Scores this close to the threshold are marked uncertain.")
    calibration: FileName | None = Field(
        None,
        description="File that `aem-monitor calibrate` wrote; its thresholds of the sub-metrics `value`, "
        "`response_completeness` and `response_truthfulness` take the place of `threshold` and `reply`.",
    )
    reply: ReplyThresholds = Field(
        default_factory=ReplyThresholds,
        description="Thresholds of replies; a golden turn's own `thresholds` go first.",
    )
    composition: str = Field(
        "mean",
        min_length=1,
        description="How the turns of a run become its `score`: `mean`, `weighted_mean` (by `weight`), `gated` (0 if a "
        "`critical` turn failed), `minimum` (the weakest sub-metric), or the name of an installed rule. `success_rate` "
        "is always the share of passing turns.",
    )


class Metrics(Listener):
    """The Prometheus endpoint: `/metrics`, `/-/healthy`, `/-/ready`."""

    listen: ListenAddress = Field(
        Address("127.0.0.1", 21464),
        description="Address of the endpoint. The port lies outside 9100 to 9999, all of which are taken in "
        "Prometheus' list of exporters, and below the range that systems hand out to outgoing connections.",
    )
    max_label_values: int = Field(
        200,
        gt=0,
        description="Most values of one label (agent, release, model, dialog, tool); the rest is counted as `other`.",
    )


class Admin(Listener):
    """The administration endpoint: `POST /-/reload`, the API and the pages over stored runs."""

    listen: ListenAddress = Field(Address("127.0.0.1", 21465), description="Address of the endpoint.")


class Log(Section):
    """Log lines on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severity that is written.")
    format: Literal["text", "json"] = Field("text", description="Form of a line.")


class Shutdown(Section):
    """What happens on SIGTERM."""

    grace: Duration = Field(
        20.0,
        gt=0,
        description="Time to drain what was taken in; keep it below the orchestrator's own limit (Kubernetes: 30s).",
    )


class Config(Section):
    """The configuration of the daemon. Only `ingest.kafka.bootstrap_servers` has no default."""

    golden: Golden = Field(default_factory=Golden)
    ingest: Ingest = Field(default_factory=Ingest)
    rekey: Rekey = Field(default_factory=Rekey)
    conventions: Conventions = Field(default_factory=Conventions)
    assembly: Assembly = Field(default_factory=Assembly)
    recognise: Recognise = Field(default_factory=Recognise)
    scoring: Scoring = Field(default_factory=Scoring)
    experts: Experts = Field(default_factory=Experts)
    store: Store = Field(default_factory=Store)
    sinks: Sinks = Field(default_factory=Sinks)
    alerting: Alerting = Field(default_factory=Alerting)
    metrics: Metrics = Field(default_factory=Metrics)
    admin: Admin = Field(default_factory=Admin)
    web: Web = Field(default_factory=Web)
    log: Log = Field(default_factory=Log)
    shutdown: Shutdown = Field(default_factory=Shutdown)

    @model_validator(mode="after")
    def _verdicts_are_not_read(self) -> Self:
        source, sink = self.ingest.kafka, self.sinks.kafka
        if source is None or sink is None or not set(source.bootstrap_servers) & set(sink.bootstrap_servers):
            return self
        if sink.topic == source.dead_letters.topic:
            raise KeyFaultError(
                ("sinks", "kafka", "topic"),
                f"topic {sink.topic!r} is ingest.kafka.dead_letters.topic; verdicts need a topic of their own",
            )
        if sink.topic in {topic.name for topic in source.topics}:
            raise KeyFaultError(
                ("sinks", "kafka", "topic"),
                f"topic {sink.topic!r} is one of ingest.kafka; verdicts need a topic of their own",
            )
        return self

    @model_validator(mode="after")
    def _rekey_is_apart(self) -> Self:
        source = self.ingest.kafka
        if source is None:
            return self
        if self.rekey.group_id == source.group_id:
            raise KeyFaultError(
                ("rekey", "group_id"),
                f"{source.group_id!r} is the monitor's own (ingest.kafka.group_id); a group reads one set of topics, "
                "give rekey another one",
            )
        for number, topic in enumerate(self.rekey.topics):
            if topic.to == source.dead_letters.topic:
                raise KeyFaultError(
                    ("rekey", "topics", number, "to"),
                    f"topic {topic.to!r} is ingest.kafka.dead_letters.topic; no monitor reads spans there",
                )
        return self

    @model_validator(mode="after")
    def _store_remembers_what_comes_again(self) -> Self:
        journal = self.ingest.otlp_journal
        if self.ingest.takes_otlp and journal.enabled and self.store.retention < journal.max_age:
            raise KeyFaultError(
                ("store", "retention"),
                f"{format_duration(self.store.retention)} is shorter than ingest.otlp_journal.max_age, "
                f"{format_duration(journal.max_age)}: a request that is read again would count again; make it as long",
            )
        return self

    @model_validator(mode="after")
    def _listeners_differ(self) -> Self:
        listeners: list[tuple[tuple[str, ...], Address]] = [
            (("metrics", "listen"), self.metrics.listen),
            (("admin", "listen"), self.admin.listen),
            (("rekey", "listen"), self.rekey.listen),
        ]
        if self.ingest.otlp_http.enabled:
            listeners.insert(0, (("ingest", "otlp_http", "listen"), self.ingest.otlp_http.listen))
        if self.ingest.otlp_grpc.enabled:
            listeners.insert(0, (("ingest", "otlp_grpc", "listen"), self.ingest.otlp_grpc.listen))
        for number, (path, address) in enumerate(listeners):
            for other_path, other in listeners[:number]:
                if address.overlaps(other):
                    taken = ".".join(other_path)
                    raise KeyFaultError(path, f"{address} is already taken by {taken}; give each listener its own port")
        return self
