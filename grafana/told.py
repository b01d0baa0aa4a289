"""Of pipeline health, what concerns built-in alerting: who decides, what is open, and whether receivers are told."""

from grafana.dashboard import runbook
from grafana.panels import Panel, Query, stat, timeseries
from grafana.promql import RATE, gauge, increase, since


def panels() -> tuple[Panel, ...]:
    """The panels; without built-in alerting they stay empty."""
    failing, loss = runbook("AemMonitorAlertingFailing"), runbook("AemMonitorAlertingLoss")
    return (
        stat(
            "Replicas that decide",
            "One of all replicas on a store holds the lease and decides on alerts.",
            [Query(gauge("sum", "aem_monitor_alerting_lease_held"))],
            "short",
            width=4,
            height=8,
        ).linked("Runbook", failing),
        stat(
            "Open incidents",
            "Incidents of built-in alerting that are open; the page of incidents has their evidence.",
            [Query(gauge("max", "aem_monitor_alerting_open_incidents"))],
            "short",
            width=4,
            height=8,
        ),
        timeseries(
            "Final runs",
            "In each step of the graph: what became of them in the detectors, and how many they were not told of yet.",
            [
                Query(increase("aem_monitor_alerting_runs_total", RATE, "result"), "{{result}}"),
                Query(gauge("max", "aem_monitor_alerting_behind_runs"), "not told of yet"),
            ],
            "short",
            width=8,
        ).linked("Runbook", failing),
        timeseries(
            "Notifications",
            "Attempts in each step of the graph, and what waits for a receiver. rejected and expired are never told.",
            [
                Query(
                    increase("aem_monitor_alerting_notifications_total", RATE, "receiver, result"),
                    "{{receiver}}, {{result}}",
                ),
                Query(gauge("max", "aem_monitor_alerting_waiting_notifications", "receiver"), "{{receiver}}, waiting"),
            ],
            "short",
            width=8,
        ).linked("Runbook", loss),
        timeseries(
            "Longest wait of alerting",
            "Time since the oldest final run was stored that the detectors were not told of, and since what the oldest "
            "notification tells of happened, by receiver; gaps where nothing waits.",
            [
                Query(since("aem_monitor_alerting_oldest_run_timestamp_seconds"), "final run"),
                Query(since("aem_monitor_alerting_oldest_notification_timestamp_seconds"), "{{receiver}}"),
            ],
            "s",
            width=12,
        ).linked("Runbook", failing),
        timeseries(
            "Since a receiver took something",
            "Time since it took a notification last, by receiver; empty until it has.",
            [Query(since("aem_monitor_alerting_last_success_timestamp_seconds"), "{{receiver}}, {{instance}}")],
            "s",
            width=12,
        ),
    )
