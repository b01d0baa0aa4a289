"""Of pipeline health, what concerns Kafka: reading it, messages that cannot be used, and ``aem-monitor rekey``."""

from grafana.dashboard import runbook
from grafana.panels import Panel, Query, timeseries
from grafana.promql import RATE, gauge, increase, rate, since


def panels() -> tuple[Panel, ...]:
    """The panels; without Kafka they stay empty, or at 0."""
    return (
        timeseries(
            "Lag",
            "Messages between the consumed position and the end of the assigned partitions, by topic.",
            [Query(gauge("sum", "aem_monitor_kafka_consumer_lag", "topic"), "{{topic}}")],
            "short",
            width=8,
        ).linked("Runbook", runbook("AemMonitorLagHigh")),
        timeseries(
            "Read and not committed",
            "What would be read again after a restart, by topic: what an unfinished run needs, and all that follows.",
            [Query(gauge("sum", "aem_monitor_kafka_uncommitted_offsets", "topic"), "{{topic}}")],
            "short",
            width=8,
        ),
        timeseries(
            "Oldest offset not committed",
            "Time since the oldest of them was received, by topic: how long a run has been waited for.",
            [Query(f"max by (topic) ({since('aem_monitor_kafka_oldest_uncommitted_timestamp_seconds')})", "{{topic}}")],
            "s",
            width=8,
        ),
        timeseries(
            "Silence of the client",
            "Time since the client last looked for messages, and since its group last answered a heartbeat. Lag that "
            "grows beside a silent client is a client that hangs.",
            [
                Query(since("aem_monitor_kafka_last_poll_timestamp_seconds"), "poll, {{instance}}"),
                Query(since("aem_monitor_kafka_last_heartbeat_timestamp_seconds"), "heartbeat, {{instance}}"),
            ],
            "s",
            width=8,
        ),
        timeseries(
            "Stopped and started again",
            "Whether Kafka is read no more because too many messages cannot be used, and in each step of the graph "
            "sessions that were given up because they came to nothing.",
            [
                Query(gauge("max", "aem_monitor_kafka_stopped", "cause"), "stopped, {{cause}}"),
                Query(increase("aem_monitor_kafka_reconnects_total", RATE, "cause"), "reconnect, {{cause}}"),
            ],
            "short",
            width=8,
        ).linked("Runbook", runbook("AemMonitorKafkaStopped")),
        timeseries(
            "Dead letters",
            "In each step of the graph: messages that could not be used, and times that the dead-letter topic took "
            "nothing; waiting: dead letters that no broker has acknowledged.",
            [
                Query(increase("aem_monitor_dead_letters_total", RATE, "cause"), "{{cause}}"),
                Query(increase("aem_monitor_dead_letter_stalls_total", RATE), "topic takes nothing"),
                Query(gauge("sum", "aem_monitor_dead_letters_unconfirmed"), "waiting"),
            ],
            "short",
            width=8,
        ).linked("Runbook", runbook("AemMonitorDeadLetters")),
        timeseries(
            "rekey: traces published again",
            "A second, by what the key of their messages is. Keys other than the conversation's keep its traces "
            "together only by chance.",
            [Query(rate("aem_monitor_rekeyed_traces_total", "by"), "by {{by}}")],
            "cps",
        ),
        timeseries(
            "rekey: messages",
            "A second: published and acknowledged. Waiting: not acknowledged by a broker yet.",
            [
                Query(rate("aem_monitor_rekey_published_messages_total"), "published a second"),
                Query(gauge("sum", "aem_monitor_rekey_unacknowledged_messages"), "waiting"),
            ],
            "short",
        ),
        timeseries(
            "rekey: what may part a conversation",
            "In each step of the graph: traces published before they were complete, messages that came after their "
            "trace, those of them under another conversation, ids that traces of several keys share, and messages lost "
            "for their size.",
            [
                Query(increase("aem_monitor_rekey_cut_traces_total", RATE, "cause"), "cut, {{cause}}"),
                Query(increase("aem_monitor_rekey_late_messages_total", RATE), "late"),
                Query(increase("aem_monitor_rekey_late_ids_total", RATE), "late, other conversation"),
                Query(increase("aem_monitor_rekey_shared_ids_total", RATE), "shared id"),
                Query(increase("aem_monitor_rekey_refused_messages_total", RATE), "lost for its size"),
            ],
            "short",
        ),
    )
