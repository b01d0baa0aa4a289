"""Does aem-monitor get all that the agents say, does it keep up, and what does it leave out?"""

from grafana import kafka, told
from grafana.dashboard import SOURCE, Dashboard, Row, runbook
from grafana.panels import BAD, GOOD, Panel, Query, stat, steps, table, timeseries
from grafana.promql import RANGE, RATE, gauge, increase, quantile, rate, series, since

_UP = steps((None, BAD), (1, GOOD))
_NONE = steps((None, GOOD), (1, BAD))


def _now() -> tuple[Panel, ...]:
    return (
        stat(
            "Instances up",
            "Instances whose metrics are scraped, by version.",
            [Query(f"count by (version) ({series('aem_monitor_build_info')})", "{{version}}")],
            "short",
            width=4,
        ).linked("Runbook", runbook("AemMonitorDown")),
        stat(
            "Sources up",
            "Whether each input can receive: 1, or 0 where an instance cannot.",
            [Query(gauge("min", "aem_monitor_source_up", "source"), "{{source}}")],
            "short",
            colors=_UP,
            width=4,
        ).linked("Runbook", runbook("AemMonitorSourceDown")),
        stat(
            "Last reload",
            "1 if the last load of configuration and golden dialogs succeeded, 0 if an instance goes on with the old.",
            [Query(gauge("min", "aem_monitor_config_last_reload_successful"))],
            "short",
            colors=_UP,
            width=4,
        ).linked("Runbook", runbook("AemMonitorReloadFailed")),
        stat(
            "Loaded",
            "Time since an instance last loaded configuration and golden dialogs with success; the longest of all.",
            [Query(f"max({since('aem_monitor_config_last_reload_success_timestamp_seconds')})")],
            "s",
            width=4,
        ),
        stat(
            "Golden dialogs",
            "Loaded dialogs, by whether a person has reviewed them.",
            [Query(gauge("max", "aem_monitor_golden_dialogs", "status"), "{{status}}")],
            "short",
            width=4,
        ),
        stat(
            "Defects",
            "Steps of the engine that failed in the time shown: defects of the program, with a stack trace in the log.",
            [Query(increase("aem_monitor_engine_errors_total", RANGE))],
            "short",
            colors=_NONE,
            width=4,
        ).linked("Runbook", runbook("AemMonitorEngineErrors")),
    )


def _input() -> tuple[Panel, ...]:
    return (
        timeseries(
            "Spans and log records received",
            "A second, by input; what is left out afterwards is included.",
            [
                Query(rate("aem_monitor_received_spans_total", "source"), "spans, {{source}}"),
                Query(rate("aem_monitor_received_logs_total", "source"), "log records, {{source}}"),
            ],
            "cps",
            width=8,
        ),
        timeseries(
            "Bytes received",
            "A second, after decompression, by input.",
            [Query(rate("aem_monitor_received_bytes_total", "source"), "{{source}}")],
            "Bps",
            width=8,
        ),
        timeseries(
            "Requests and messages",
            "A second, by input: taken, and refused by cause. Refused because of a full queue is sent again by a sound "
            "sender; refused because it cannot be read is lost.",
            [
                Query(rate("aem_monitor_received_batches_total", "source"), "taken, {{source}}"),
                Query(
                    f"{rate('aem_monitor_refused_requests_total', 'source, cause')} > 0",
                    "refused, {{source}}: {{cause}}",
                ),
            ],
            "reqps",
            width=8,
        ).linked("Runbook", runbook("AemMonitorInputLost")),
        timeseries(
            "Spans left out, by cause",
            "A second. no_agent_content and not_a_run are ordinary traffic; the others are faults of what was sent.",
            [Query(f"{rate('aem_monitor_skipped_spans_total', 'cause')} > 0", "{{cause}}")],
            "cps",
            width=8,
        ),
        timeseries(
            "Content cut or not readable",
            "A second: values of kept spans that were cut or repaired, and definitions of tools that could not be "
            "read. What is cut can make a check not scored.",
            [
                Query(rate("aem_monitor_altered_values_total", "cause"), "value, {{cause}}"),
                Query(rate("aem_monitor_unread_tool_definitions_total", "cause"), "tool definition, {{cause}}"),
            ],
            "cps",
            width=8,
        ),
        timeseries(
            "Late and duplicate spans",
            "A second. Late: after the verdict of their run was final; a longer grace (assembly.grace) waits for them.",
            [
                Query(rate("aem_monitor_late_spans_total"), "late"),
                Query(rate("aem_monitor_duplicate_spans_total"), "duplicate"),
            ],
            "cps",
            width=8,
        ),
    )


def _engine() -> tuple[Panel, ...]:
    return (
        timeseries(
            "Queue",
            "Batches that wait for the engine, as a share of the most that may. At 1 sources are held back.",
            [
                Query(
                    f"{series('aem_monitor_queue_depth')} / {series('aem_monitor_queue_capacity')}",
                    "{{instance}}",
                )
            ],
            "percentunit",
            limits=(0, 1),
            width=8,
        ),
        timeseries(
            "Behind the present",
            "Time between now and the event time up to which the input is complete. It grows without traffic, too.",
            [Query(since("aem_monitor_watermark_timestamp_seconds"), "{{instance}}")],
            "s",
            width=8,
        ),
        timeseries(
            "Ticks of the engine",
            "Time to advance: closing conversations, scoring, storing; 99th percentile.",
            [Query(quantile("0.99", "aem_monitor_engine_tick_seconds", RATE, "instance"), "{{instance}}")],
            "s",
            width=8,
        ),
        timeseries(
            "Open conversations and runs",
            "What waits for its end or for its grace, and traces that may still become part of a run.",
            [
                Query(gauge("sum", "aem_monitor_open_conversations"), "conversations"),
                Query(gauge("sum", "aem_monitor_open_runs"), "runs"),
                Query(gauge("sum", "aem_monitor_pending_traces"), "pending traces"),
            ],
            "short",
            width=8,
        ),
        timeseries(
            "Oldest open run",
            "Time since it was first seen, by instance; gaps where none is open. Runs end unless input stops.",
            [Query(since("aem_monitor_oldest_open_run_timestamp_seconds"), "{{instance}}")],
            "s",
            width=8,
        ).linked("Runbook", runbook("AemMonitorStalled")),
        timeseries(
            "Stuck threads",
            "1 while a thread does not come round, by thread and instance, which is not ready then.",
            [Query(series("aem_monitor_stalled"), "{{thread}}, {{instance}}")],
            "short",
            limits=(0, 1),
            width=8,
        ).linked("Runbook", runbook("AemMonitorStalled")),
        timeseries(
            "Memory of pending traces",
            "Estimated size of traces that may still become part of a run, by instance.",
            [Query(series("aem_monitor_pending_bytes"), "{{instance}}")],
            "bytes",
            width=8,
        ),
        timeseries(
            "Closed or dropped at a bound",
            "In each step of the graph: open conversations closed early, scored as far as they go, and pending traces "
            "dropped.",
            [
                Query(increase("aem_monitor_evicted_conversations_total", RATE, "cause"), "conversation, {{cause}}"),
                Query(increase("aem_monitor_pending_expired_total", RATE), "pending trace"),
            ],
            "short",
            width=8,
        ),
        timeseries(
            "Recognition",
            "Conversations in each step of the graph: recognised as a play of a golden dialog, by what named it, and "
            "left alone, by why.",
            [
                Query(increase("aem_monitor_recognised_conversations_total", RATE, "by"), "recognised by {{by}}"),
                Query(increase("aem_monitor_unrecognised_conversations_total", RATE, "outcome"), "not: {{outcome}}"),
            ],
            "short",
            width=8,
        ).linked("Runbook: no verdicts", runbook("no-verdicts")),
        timeseries(
            "Scorers",
            "Time for one batch of pairs, 99th percentile, by scorer.",
            [Query(quantile("0.99", "aem_monitor_scorer_seconds", RATE, "scorer"), "{{scorer}}")],
            "s",
            width=8,
        ).linked("Runbook", runbook("AemMonitorScorerFailing")),
        timeseries(
            "Defects and errors",
            "In each step of the graph: steps of the engine that failed, batches that a scorer could not answer, reads "
            "and writes of the store that failed, values that a scrape could not collect, jumps of the clock, threads "
            "that got stuck.",
            [
                Query(increase("aem_monitor_engine_errors_total", RATE, "step"), "engine, {{step}}"),
                Query(increase("aem_monitor_scorer_errors_total", RATE, "scorer"), "scorer {{scorer}}"),
                Query(increase("aem_monitor_store_errors_total", RATE, "reason"), "store, {{reason}}"),
                Query(increase("aem_monitor_collector_errors_total", RATE, "collector"), "scrape, {{collector}}"),
                Query(increase("aem_monitor_clock_jumps_total", RATE, "direction"), "clock, {{direction}}"),
                Query(increase("aem_monitor_stalls_total", RATE, "thread"), "stuck, {{thread}}"),
            ],
            "short",
            width=8,
        ),
        table(
            "Full labels",
            "Values counted under other in the time shown, because their label, or its metric, was full "
            "(metrics.max_label_values). Figures of other are of many things at once.",
            "metric",
            [Query(f"{increase('aem_monitor_series_limited_total', RANGE, 'metric')} > 0", "values")],
            "short",
            width=12,
            height=6,
        ).linked("Runbook", runbook("AemMonitorLabelLimit")),
        timeseries(
            "Conversations too large to be kept",
            "In each step of the graph: runs whose conversation is over store.conversations.max_bytes. They have their "
            "verdict, but cannot be judged again.",
            [Query(increase("aem_monitor_conversations_not_kept_total", RATE), "not kept")],
            "short",
            width=12,
            height=6,
        ),
    )


def _journal() -> tuple[Panel, ...]:
    return tuple(
        panel.linked("Runbook", runbook("AemMonitorJournalFailing"))
        for panel in (
            timeseries(
                "Size of the journal",
                "Bytes of OTLP requests on disk, by instance.",
                [Query(series("aem_monitor_journal_bytes"), "{{instance}}")],
                "bytes",
                width=6,
            ),
            timeseries(
                "Files of the journal",
                "By instance; they are deleted as a whole, when nothing open needs any request in them.",
                [Query(series("aem_monitor_journal_segments"), "{{instance}}")],
                "short",
                width=6,
            ),
            timeseries(
                "Age of the journal",
                "Time since the last request of its oldest file, by instance: how far back an open run still needs it.",
                [Query(since("aem_monitor_journal_oldest_timestamp_seconds"), "{{instance}}")],
                "s",
                width=6,
            ),
            timeseries(
                "Wait for the disk",
                "Time that a written request waited before it was acknowledged, 99th percentile, by instance.",
                [Query(quantile("0.99", "aem_monitor_journal_sync_seconds", RATE, "instance"), "{{instance}}")],
                "s",
                width=6,
            ),
            timeseries(
                "Requests of the journal",
                "A second: written, and read again after a restart.",
                [
                    Query(rate("aem_monitor_journal_records_total"), "written"),
                    Query(rate("aem_monitor_journal_replayed_records_total"), "read again"),
                ],
                "reqps",
                width=8,
            ),
            timeseries(
                "Faults of the journal",
                "In each step of the graph: what it could not do (such requests were refused), places that could not "
                "be read again, and files deleted although something open may need them.",
                [
                    Query(increase("aem_monitor_journal_errors_total", RATE, "reason"), "error, {{reason}}"),
                    Query(increase("aem_monitor_journal_damage_total", RATE, "kind"), "damage, {{kind}}"),
                    Query(increase("aem_monitor_journal_evicted_segments_total", RATE, "cause"), "deleted, {{cause}}"),
                ],
                "short",
                width=16,
            ),
        )
    )


def _sinks() -> tuple[Panel, ...]:
    return (
        timeseries(
            "Verdicts taken by sinks",
            "A second, final verdicts and revisions, by sink.",
            [Query(rate("aem_monitor_sink_verdicts_total", "sink"), "{{sink}}")],
            "cps",
            width=8,
        ),
        timeseries(
            "Verdicts that wait for a sink",
            "By sink and instance. They wait in the store: nothing is lost before its retention ends.",
            [Query(series("aem_monitor_sink_behind_verdicts"), "{{sink}}, {{instance}}")],
            "short",
            width=8,
        ).linked("Runbook", runbook("AemMonitorSinkBehind")),
        timeseries(
            "Longest wait for a sink",
            "Time since the oldest verdict that waits was stored, by sink and instance; gaps where none does.",
            [Query(since("aem_monitor_sink_oldest_timestamp_seconds"), "{{sink}}, {{instance}}")],
            "s",
            width=8,
        ).linked("Runbook", runbook("AemMonitorSinkBehind")),
        timeseries(
            "Faults of sinks",
            "In each step of the graph: attempts that failed, and verdicts that a sink will never get.",
            [
                Query(increase("aem_monitor_sink_errors_total", RATE, "sink, reason"), "{{sink}} failed, {{reason}}"),
                Query(
                    increase("aem_monitor_sink_lost_verdicts_total", RATE, "sink, cause"), "{{sink}} lost, {{cause}}"
                ),
            ],
            "short",
            width=24,
        ).linked("Runbook", runbook("AemMonitorSinkLoss")),
    )


DASHBOARD = Dashboard(
    "aem-pipeline",
    "aem-monitor / Pipeline health",
    "Does aem-monitor get all that the agents say, does it keep up, and what does it leave out?",
    (
        Row("Now", _now()),
        Row("Input", _input()),
        Row("Engine", _engine()),
        Row("Journal of OTLP", _journal()),
        Row("Sinks", _sinks()),
        Row("Built-in alerting", told.panels()),
        Row("Kafka", kafka.panels()),
    ),
    SOURCE,
    time_from="now-6h",
)
