"""Every metric that aem-monitor exposes. Registration, the documentation table and the checks of dashboards and rules
all read this list; nothing is exposed that is not in it.

A label has either a closed set of values or a limit. What is outside of the set, or new beyond the limit, is counted
under ``other``, so that no input can make the number of series grow without bound.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Final

from aem_monitor.alerting.faults import OBSERVED, RECEIVERS
from aem_monitor.alerting.faults import RESULTS as NOTIFICATION_RESULTS
from aem_monitor.conventions.tooldefinitions import Unread
from aem_monitor.deadletters.causes import CAUSES as LETTER_CAUSES
from aem_monitor.deadletters.causes import Bound, Kept
from aem_monitor.ingest.causes import Altered, Refused, Skipped, Stall
from aem_monitor.journal.faults import REASONS as JOURNAL_REASONS
from aem_monitor.journal.faults import Damaged, Evicted
from aem_monitor.model.increment import Labels
from aem_monitor.model.verdict import FailureReason, MismatchDetail, NotScored, TurnKind
from aem_monitor.sinks.faults import LOST, SINKS
from aem_monitor.sinks.faults import REASONS as SINK_REASONS
from aem_monitor.store.database import REASONS as STORE_REASONS

OTHER: Final = "other"
"""The value that takes what a label has no room for."""


class Kind(StrEnum):
    """Metric types of the Prometheus exposition formats."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Label:
    """A label name with its bound.

    ``values`` is the closed set, empty for an open label. ``limit`` is how many values an open label may have; 0 means
    the configured ``metrics.max_label_values``.
    """

    name: str
    help: str
    values: tuple[str, ...] = ()
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric family. ``stored`` totals survive restarts in the store; all other counters start at zero."""

    name: str
    kind: Kind
    help: str
    labels: tuple[Label, ...] = ()
    buckets: tuple[float, ...] = ()
    stored: bool = False

    @property
    def label_names(self) -> tuple[str, ...]:
        """The label names in order."""
        return tuple(label.name for label in self.labels)

    def label_set(self, **values: str) -> Labels:
        """The labels of one series in the catalogue's order."""
        return tuple((name, values[name]) for name in self.label_names)

    def bucket(self, value: float) -> float:
        """Upper bound (inclusive) of the bucket that an observation falls into."""
        return next((bound for bound in self.buckets if value <= bound), math.inf)

    def known_series(self) -> Sequence[Labels]:
        """All label sets, when every label is closed; none otherwise."""
        if not all(label.values for label in self.labels):
            return ()
        return [
            tuple(zip(self.label_names, values, strict=True))
            for values in product(*(label.values for label in self.labels))
        ]


def _values(kind: type[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for member in kind)


ROOT_REASONS: Final = tuple(reason.value for reason in FailureReason if reason is not FailureReason.PRIOR_ACTION_FAILED)
"""Reasons that a root cause can have; ``prior_action_failed`` is what a cascade has instead."""

RUN_RESULTS: Final = ("pass", "fail", "undecided")

_AGENT = Label("agent", "service name of the agent's resource")
_RELEASE = Label("release", "version of the agent from the span's own resource; `mixed` if turns of a run differ")
_MODEL = Label("model", "model of the call that asked for the turn; `mixed` if turns of a run differ")
_DIALOG = Label("dialog", "name of the golden dialog")
_TOOL = Label("tool", "tool id of the golden turn; of an unexpected call the called tool if a golden dialog names it")
_CHAIN = Label("chain_length", "number of golden action turns in the exchange", ("0", "1", "2", "3+"))
_SOURCE = Label("source", "input", ("otlp_http", "otlp_grpc", "kafka", "file"))
_PARTITION = (Label("topic", "topic", limit=50), Label("partition", "partition", limit=1000))
_RUN_RESULT = Label("result", "result of the run", RUN_RESULTS)
_SINK = Label("sink", "sink, as in the configuration", SINKS)
_RECEIVER = Label("receiver", "receiver of notifications, as in the configuration", RECEIVERS)

INCOMPLETE_CAUSES: Final = ("unfinished", "partial")

MIN_CORRELATED: Final = 30
"""Fewest runs that a rank correlation is given for: the standard error of none at all is then 1 / sqrt(29) = 0.19."""

CORRELATED_RUNS: Final = 5000
"""Most runs, newest first, that rank correlations are computed from; reading them takes some 0.1 s a minute."""

CORRELATED_DAYS: Final = 7

LATENCY_BUCKETS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
TURN_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_FAST_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

_QUALITY: Final = (
    Metric(
        "aem_turns_total",
        Kind.COUNTER,
        "Turns of final runs by verdict. Turn success rate: pass / (pass + root + cascade).",
        (
            _AGENT,
            _RELEASE,
            _MODEL,
            _CHAIN,
            Label("kind", "what the turn is", _values(TurnKind)),
            Label("result", "verdict of the turn", ("pass", "root", "cascade", "not_scored")),
        ),
        stored=True,
    ),
    Metric(
        "aem_submetric_results_total",
        Kind.COUNTER,
        "Turns of final runs by the result of each sub-metric that was asked about them.",
        (
            _AGENT,
            _RELEASE,
            _MODEL,
            Label("submetric", "part of correctness: structural, completeness, truthfulness or a plug-in's", limit=20),
            Label(
                "result",
                "inherited: every failing check is explained by an earlier failed turn",
                ("pass", "fail", "inherited", "not_scored"),
            ),
        ),
        stored=True,
    ),
    Metric(
        "aem_root_causes_total",
        Kind.COUNTER,
        "Root causes of final runs; cascades are not among them.",
        (
            _AGENT,
            _RELEASE,
            _MODEL,
            Label("reason", "failure reason", ROOT_REASONS),
            Label("detail", "second word of tool_mismatch, else empty", ("", *_values(MismatchDetail))),
            Label("tool", f"{_TOOL.help}, else `{OTHER}`; empty for a response"),
        ),
        stored=True,
    ),
    Metric(
        "aem_not_scored_total",
        Kind.COUNTER,
        "Turns of final runs without a verdict by cause.",
        (_AGENT, Label("cause", "why there is no verdict", _values(NotScored))),
        stored=True,
    ),
    Metric(
        "aem_runs_total",
        Kind.COUNTER,
        "Final runs of reviewed golden dialogs.",
        (_AGENT, _RELEASE, _MODEL, _DIALOG, _RUN_RESULT),
        stored=True,
    ),
    Metric(
        "aem_another_path_runs_total",
        Kind.COUNTER,
        "Final runs that failed turns but reached the end state their dialog names: paths for its author to look at.",
        (_AGENT, _RELEASE, _DIALOG),
        stored=True,
    ),
    Metric(
        "aem_draft_runs_total",
        Kind.COUNTER,
        "Final runs of golden dialogs that nobody has reviewed yet; they are in no other metric of quality.",
        (_DIALOG, _RUN_RESULT),
        stored=True,
    ),
    Metric(
        "aem_run_latency_seconds",
        Kind.HISTOGRAM,
        "Accumulated latency of final runs: first agent span to end of reply, summed over the exchanges.",
        (_AGENT, _RELEASE, _RUN_RESULT),
        buckets=LATENCY_BUCKETS,
        stored=True,
    ),
    Metric(
        "aem_exchange_latency_seconds",
        Kind.HISTOGRAM,
        "Latency of the exchanges of final runs: first agent span to end of reply.",
        (_AGENT, _RELEASE),
        buckets=LATENCY_BUCKETS,
        stored=True,
    ),
    Metric(
        "aem_turn_latency_seconds",
        Kind.HISTOGRAM,
        "Latency of turns of final runs: of a tool turn its call, of a response turn user message to reply.",
        (_AGENT, _RELEASE, Label("kind", "what the turn is", _values(TurnKind))),
        buckets=TURN_BUCKETS,
        stored=True,
    ),
    Metric(
        "aem_latency_correctness_count_total",
        Kind.COUNTER,
        "Runs with both an accumulated latency x (seconds) and a success rate y: n of their correlation.",
        (_AGENT, _RELEASE),
        stored=True,
    ),
    Metric(
        "aem_latency_correctness_latency_sum_total",
        Kind.COUNTER,
        "Sum of the accumulated latency x in seconds over the runs of aem_latency_correctness_count_total.",
        (_AGENT, _RELEASE),
        stored=True,
    ),
    Metric(
        "aem_latency_correctness_success_sum_total",
        Kind.COUNTER,
        "Sum of the success rate y over the runs of aem_latency_correctness_count_total.",
        (_AGENT, _RELEASE),
        stored=True,
    ),
    Metric(
        "aem_latency_correctness_latency_square_sum_total",
        Kind.COUNTER,
        "Sum of the squared accumulated latency over the runs of aem_latency_correctness_count_total.",
        (_AGENT, _RELEASE),
        stored=True,
    ),
    Metric(
        "aem_latency_correctness_success_square_sum_total",
        Kind.COUNTER,
        "Sum of the squared success rate over the runs of aem_latency_correctness_count_total.",
        (_AGENT, _RELEASE),
        stored=True,
    ),
    Metric(
        "aem_latency_correctness_product_sum_total",
        Kind.COUNTER,
        "Sum of latency times success rate over the runs of aem_latency_correctness_count_total.",
        (_AGENT, _RELEASE),
        stored=True,
    ),
    Metric(
        "aem_latency_correctness_spearman",
        Kind.GAUGE,
        f"Rank correlation of accumulated latency and success rate over the newest {CORRELATED_RUNS:,} final runs "
        f"of {CORRELATED_DAYS} days in the store. Absent under {MIN_CORRELATED} runs, and where one of the two does "
        "not vary.",
        (_AGENT, _RELEASE),
    ),
    Metric(
        "aem_latency_correctness_spearman_samples",
        Kind.GAUGE,
        "Runs that aem_latency_correctness_spearman is computed from, or would be.",
        (_AGENT, _RELEASE),
    ),
    Metric(
        "aem_recovered_turns_total",
        Kind.COUNTER,
        "Turns of final runs whose judged call followed an attempt that failed.",
        (_AGENT, _RELEASE, _TOOL),
        stored=True,
    ),
    Metric(
        "aem_incomplete_runs_total",
        Kind.COUNTER,
        "Final runs that ended before all was seen. partial: closed early at a bound of the monitor; "
        "unfinished: an expected exchange did not come, or spans of one are missing.",
        (_AGENT, _RELEASE, Label("cause", "why", INCOMPLETE_CAUSES)),
        stored=True,
    ),
    Metric(
        "aem_verdict_revisions_total",
        Kind.COUNTER,
        "Final verdicts that changed afterwards; a revision is never counted as a run.",
        (Label("cause", "what changed the verdict", ("late_span", "rescore")),),
        stored=True,
    ),
    Metric(
        "aem_tool_errors_total",
        Kind.COUNTER,
        "Expected calls all of whose attempts ended in an error: a broken backend, not the agent's fault.",
        (_TOOL,),
        stored=True,
    ),
    Metric(
        "aem_dialog_last_run_timestamp_seconds",
        Kind.GAUGE,
        "End of the latest final run of a golden dialog.",
        (_DIALOG,),
    ),
    Metric(
        "aem_dialog_loaded_timestamp_seconds",
        Kind.GAUGE,
        "When this process first loaded a reviewed golden dialog that it has loaded now: what should run, beside "
        "aem_dialog_last_run_timestamp_seconds, which says what ran.",
        (_DIALOG,),
    ),
    Metric(
        "aem_release_first_seen_timestamp_seconds",
        Kind.GAUGE,
        "When a release of an agent was first seen.",
        (_AGENT, _RELEASE),
    ),
)

_SELF: Final = (
    Metric(
        "aem_monitor_build_info",
        Kind.INFO,
        "Constant 1, labelled with the version that runs.",
        (Label("version", "version of aem-monitor", limit=1), Label("python", "version of Python", limit=1)),
    ),
    Metric("aem_monitor_received_spans_total", Kind.COUNTER, "Spans received, skipped ones included.", (_SOURCE,)),
    Metric("aem_monitor_received_logs_total", Kind.COUNTER, "Log records received.", (_SOURCE,)),
    Metric("aem_monitor_received_bytes_total", Kind.COUNTER, "Bytes received, after decompression.", (_SOURCE,)),
    Metric("aem_monitor_received_batches_total", Kind.COUNTER, "Requests and messages received.", (_SOURCE,)),
    Metric(
        "aem_monitor_refused_requests_total",
        Kind.COUNTER,
        "Requests and messages that were not taken.",
        (_SOURCE, Label("cause", "why", _values(Refused))),
    ),
    Metric(
        "aem_monitor_skipped_spans_total",
        Kind.COUNTER,
        "Spans and log records of taken requests that were left out.",
        (Label("cause", "why", _values(Skipped)),),
    ),
    Metric(
        "aem_monitor_altered_values_total",
        Kind.COUNTER,
        "Values of kept spans and log records that were cut or repaired.",
        (Label("cause", "how", _values(Altered)),),
    ),
    Metric(
        "aem_monitor_unread_tool_definitions_total",
        Kind.COUNTER,
        "Spans that carry definitions of tools of which some could not be read.",
        (Label("cause", "why", _values(Unread)),),
    ),
    Metric("aem_monitor_late_spans_total", Kind.COUNTER, "Spans that came after the verdict of their run was final."),
    Metric("aem_monitor_duplicate_spans_total", Kind.COUNTER, "Spans that were received before."),
    Metric("aem_monitor_pending_traces", Kind.GAUGE, "Traces that may still become part of a run."),
    Metric("aem_monitor_pending_bytes", Kind.GAUGE, "Estimated size of the pending traces."),
    Metric("aem_monitor_pending_expired_total", Kind.COUNTER, "Pending traces dropped at their bound in age or size."),
    Metric(
        "aem_monitor_evicted_conversations_total",
        Kind.COUNTER,
        "Open conversations closed early at a bound; their runs are scored as far as they go and marked partial.",
        (Label("cause", "which bound", ("conversations", "spans", "bytes", "offsets", "age")),),
    ),
    Metric("aem_monitor_open_conversations", Kind.GAUGE, "Conversations that are not complete."),
    Metric("aem_monitor_open_runs", Kind.GAUGE, "Runs of golden dialogs without a final verdict."),
    Metric(
        "aem_monitor_oldest_open_run_timestamp_seconds",
        Kind.GAUGE,
        "When the oldest of aem_monitor_open_runs was first seen; absent where there is none.",
    ),
    Metric(
        "aem_monitor_unrecognised_conversations_total",
        Kind.COUNTER,
        "Conversations that are a play of no golden dialog.",
        (
            Label(
                "outcome",
                "what recognition found",
                ("none", "ambiguous", "unknown_id", "not_allowed"),
            ),
        ),
    ),
    Metric(
        "aem_monitor_recognised_conversations_total",
        Kind.COUNTER,
        "Conversations recognised as a play of a golden dialog.",
        (Label("by", "what named the dialog", ("id", "text", "similar")),),
    ),
    Metric("aem_monitor_queue_depth", Kind.GAUGE, "Batches that wait for the engine."),
    Metric("aem_monitor_queue_capacity", Kind.GAUGE, "Most batches that may wait; sources are held back beyond."),
    Metric("aem_monitor_watermark_timestamp_seconds", Kind.GAUGE, "Event time up to which the input is complete."),
    Metric(
        "aem_monitor_engine_tick_seconds",
        Kind.HISTOGRAM,
        "Time that the engine took to advance: closing conversations, scoring, storing.",
        buckets=_FAST_BUCKETS,
    ),
    Metric(
        "aem_monitor_clock_jumps_total",
        Kind.COUNTER,
        "Jumps of the machine's clock by a second or more; what is under way is not affected.",
        (Label("direction", "which way", ("forward", "back")),),
    ),
    Metric(
        "aem_monitor_engine_errors_total",
        Kind.COUNTER,
        "Steps of the engine that failed: defects of the program, with a stack trace in the log.",
        (Label("step", "where", ("ingest", "tick", "call", "drain", "trace", "conversation")),),
    ),
    Metric(
        "aem_monitor_scorer_seconds",
        Kind.HISTOGRAM,
        "Time that a scorer took for one batch of pairs.",
        (Label("scorer", "name of the scorer", limit=20),),
        buckets=_FAST_BUCKETS,
    ),
    Metric(
        "aem_monitor_scorer_errors_total",
        Kind.COUNTER,
        "Batches that a scorer could not answer.",
        (Label("scorer", "name of the scorer", limit=20),),
    ),
    Metric("aem_monitor_source_up", Kind.GAUGE, "Whether an input can receive (1) or not (0).", (_SOURCE,)),
    Metric(
        "aem_monitor_kafka_consumer_lag",
        Kind.GAUGE,
        "Messages between the consumed position and the end of an assigned partition.",
        _PARTITION,
    ),
    Metric(
        "aem_monitor_kafka_uncommitted_offsets",
        Kind.GAUGE,
        "Offsets of an assigned partition that were read and would be read again: what an unfinished run needs, and "
        "all after it.",
        _PARTITION,
    ),
    Metric(
        "aem_monitor_kafka_oldest_uncommitted_timestamp_seconds",
        Kind.GAUGE,
        "When the first of aem_monitor_kafka_uncommitted_offsets was received; absent where there is none.",
        _PARTITION,
    ),
    Metric(
        "aem_monitor_kafka_last_poll_timestamp_seconds",
        Kind.GAUGE,
        "When the Kafka client last took part in its group and looked for messages.",
    ),
    Metric(
        "aem_monitor_kafka_last_heartbeat_timestamp_seconds",
        Kind.GAUGE,
        "When the consumer group last answered a heartbeat; absent while this replica is not in it.",
    ),
    Metric(
        "aem_monitor_kafka_reconnects_total",
        Kind.COUNTER,
        "Sessions that were given up because they came to nothing although brokers answered.",
        (Label("cause", "what did not happen", _values(Stall)),),
    ),
    Metric(
        "aem_monitor_stalled",
        Kind.GAUGE,
        "Whether a thread of the program is stuck (1): it has not come by for a minute. Its stack is in the log.",
        (Label("thread", "which thread", ("engine", "kafka")),),
    ),
    Metric(
        "aem_monitor_stalls_total",
        Kind.COUNTER,
        "How often a thread got stuck.",
        (Label("thread", "which thread", ("engine", "kafka")),),
    ),
    Metric(
        "aem_monitor_kafka_stopped",
        Kind.GAUGE,
        "Whether Kafka is read no more (1), until a restart, because too many messages of a partition cannot be used.",
        (Label("cause", "in a row, or among the last ones", _values(Bound)),),
    ),
    Metric(
        "aem_monitor_dead_letters_total",
        Kind.COUNTER,
        "Kafka messages that could not be used and became dead letters, each acknowledged by the brokers.",
        (
            Label("cause", "why", LETTER_CAUSES),
            Label("kept", "what of them: too large ones are kept without their value, or not at all", _values(Kept)),
        ),
    ),
    Metric(
        "aem_monitor_dead_letters_unconfirmed",
        Kind.GAUGE,
        "Dead letters that no broker has acknowledged yet; offsets wait for them.",
    ),
    Metric(
        "aem_monitor_dead_letter_stalls_total",
        Kind.COUNTER,
        "Times that Kafka was not read on because the dead-letter topic took nothing.",
    ),
    Metric(
        "aem_monitor_rekeyed_traces_total",
        Kind.COUNTER,
        "Traces that `aem-monitor rekey` published.",
        (Label("by", "what the key of their messages is", ("conversation_id", "agent", "trace_id")),),
    ),
    Metric(
        "aem_monitor_rekey_published_messages_total",
        Kind.COUNTER,
        "Messages that `aem-monitor rekey` published, each acknowledged by the brokers.",
    ),
    Metric(
        "aem_monitor_rekey_unacknowledged_messages",
        Kind.GAUGE,
        "Messages of `aem-monitor rekey` that no broker has acknowledged yet.",
    ),
    Metric(
        "aem_monitor_rekey_refused_messages_total",
        Kind.COUNTER,
        "Messages that were lost because the topic of `aem-monitor rekey` does not take their size.",
    ),
    Metric(
        "aem_monitor_rekey_cut_traces_total",
        Kind.COUNTER,
        "Traces that were published before they were complete or silent.",
        (Label("cause", "which bound", ("age", "traces", "bytes")),),
    ),
    Metric(
        "aem_monitor_rekey_late_messages_total",
        Kind.COUNTER,
        "Messages that followed their trace because they came after it was published.",
    ),
    Metric(
        "aem_monitor_rekey_late_ids_total",
        Kind.COUNTER,
        "Of those, messages that name another conversation than the one their trace was published under.",
    ),
    Metric(
        "aem_monitor_rekey_shared_ids_total",
        Kind.COUNTER,
        "Traces that share a conversation id with traces of another key, and may be read by another replica.",
    ),
    Metric(
        "aem_monitor_config_last_reload_successful",
        Kind.GAUGE,
        "Whether the last load of the configuration and the golden dialogs succeeded.",
    ),
    Metric(
        "aem_monitor_config_last_reload_success_timestamp_seconds",
        Kind.GAUGE,
        "When the configuration and the golden dialogs were last loaded with success.",
    ),
    Metric(
        "aem_monitor_golden_dialogs",
        Kind.GAUGE,
        "Golden dialogs loaded.",
        (Label("status", "whether a person has reviewed the dialog", ("reviewed", "draft")),),
    ),
    Metric(
        "aem_monitor_store_errors_total",
        Kind.COUNTER,
        "Failed reads and writes of the store.",
        (Label("reason", "what failed", STORE_REASONS),),
    ),
    Metric(
        "aem_monitor_sink_verdicts_total",
        Kind.COUNTER,
        "Final verdicts and revisions that a sink has taken, repeats after a crash included.",
        (_SINK,),
    ),
    Metric(
        "aem_monitor_sink_errors_total",
        Kind.COUNTER,
        "Attempts of a sink that failed; what it should take waits in the store.",
        (_SINK, Label("reason", "what failed", SINK_REASONS)),
    ),
    Metric(
        "aem_monitor_sink_lost_verdicts_total",
        Kind.COUNTER,
        "Verdicts that a sink never gets: past retention while they waited, damaged in the store, or refused for good.",
        (_SINK, Label("cause", "what became of them", LOST)),
    ),
    Metric(
        "aem_monitor_sink_behind_verdicts",
        Kind.GAUGE,
        "Verdicts that wait for a sink; absent where it is off. Counted every 5 s where they are more than 100.",
        (_SINK,),
    ),
    Metric(
        "aem_monitor_sink_oldest_timestamp_seconds",
        Kind.GAUGE,
        "When the oldest verdict that waits for a sink was stored; absent where none does.",
        (_SINK,),
    ),
    Metric(
        "aem_monitor_alerting_lease_held",
        Kind.GAUGE,
        "Whether this replica decides on alerts (1); absent where alerting is off.",
    ),
    Metric(
        "aem_monitor_alerting_open_incidents",
        Kind.GAUGE,
        "Incidents that are open; absent on replicas without the lease.",
    ),
    Metric(
        "aem_monitor_alerting_runs_total",
        Kind.COUNTER,
        "Final runs that the detectors were told of, or never can be.",
        (Label("result", "what became of them", OBSERVED),),
    ),
    Metric(
        "aem_monitor_alerting_behind_runs",
        Kind.GAUGE,
        "Final runs that the detectors were not told of yet; absent on replicas without the lease.",
    ),
    Metric(
        "aem_monitor_alerting_oldest_run_timestamp_seconds",
        Kind.GAUGE,
        "When the oldest of them was stored; absent where there is none.",
    ),
    Metric(
        "aem_monitor_alerting_notifications_total",
        Kind.COUNTER,
        "Attempts to tell a receiver.",
        (_RECEIVER, Label("result", "what became of it", NOTIFICATION_RESULTS)),
    ),
    Metric(
        "aem_monitor_alerting_waiting_notifications",
        Kind.GAUGE,
        "Notifications that a receiver has not taken yet; absent on replicas without the lease.",
        (_RECEIVER,),
    ),
    Metric(
        "aem_monitor_alerting_oldest_notification_timestamp_seconds",
        Kind.GAUGE,
        "When what the oldest of them tells of happened; absent where none waits but changes that take turns.",
        (_RECEIVER,),
    ),
    Metric(
        "aem_monitor_alerting_last_success_timestamp_seconds",
        Kind.GAUGE,
        "When a receiver took a notification last.",
        (_RECEIVER,),
    ),
    Metric("aem_monitor_journal_bytes", Kind.GAUGE, "Bytes of OTLP requests in the journal."),
    Metric("aem_monitor_journal_segments", Kind.GAUGE, "Files of the journal."),
    Metric(
        "aem_monitor_journal_oldest_timestamp_seconds",
        Kind.GAUGE,
        "When the last request of the journal's oldest file was received.",
    ),
    Metric("aem_monitor_journal_records_total", Kind.COUNTER, "OTLP requests written to the journal."),
    Metric(
        "aem_monitor_journal_sync_seconds",
        Kind.HISTOGRAM,
        "Time that a written request waited for the disk before it was acknowledged.",
        buckets=_FAST_BUCKETS,
    ),
    Metric(
        "aem_monitor_journal_replayed_records_total",
        Kind.COUNTER,
        "OTLP requests of an earlier process that were read again.",
    ),
    Metric(
        "aem_monitor_journal_errors_total",
        Kind.COUNTER,
        "What the journal could not do. The requests that it could not take were refused.",
        (Label("reason", "why", JOURNAL_REASONS),),
    ),
    Metric(
        "aem_monitor_journal_damage_total",
        Kind.COUNTER,
        "Places of the journal that could not be read again.",
        (Label("kind", "what was wrong", _values(Damaged)),),
    ),
    Metric(
        "aem_monitor_journal_evicted_segments_total",
        Kind.COUNTER,
        "Files of the journal that were deleted although something open may need them.",
        (Label("cause", "why", _values(Evicted)),),
    ),
    Metric(
        "aem_monitor_conversations_not_kept_total",
        Kind.COUNTER,
        "Conversations of final runs over store.conversations.max_bytes: such a run cannot be judged again.",
    ),
    Metric(
        "aem_monitor_series_limited_total",
        Kind.COUNTER,
        "Values counted under `other` because their label, or its metric, was full.",
        (Label("metric", "metric", limit=1000), Label("label", "label", limit=1000)),
    ),
    Metric(
        "aem_monitor_collector_errors_total",
        Kind.COUNTER,
        "Values that could not be collected for a scrape; the rest of the scrape was served.",
        (Label("collector", "what failed", limit=100),),
    ),
)

CATALOGUE: Final[Mapping[str, Metric]] = {metric.name: metric for metric in (*_QUALITY, *_SELF)}
"""All metrics by name."""
