"""Each alert about the canaries' schedule and about the monitor itself: it fires, and does not fire without reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.alerts.promtool import Phase, check_firing, series, values

JOB: Final = {"job": "aem-monitor"}
INSTANCE: Final = {**JOB, "instance": "monitor-0"}


def gauge(*levels: float, minutes: int = 30) -> str:
    """Each level for so many minutes."""
    return values(*(Phase(minutes, at=level) for level in levels))


def counter(*steps: float, minutes: int = 30) -> str:
    """Growing by each step a minute for so many minutes."""
    return values(*(Phase(minutes, step) for step in steps))


REBORN: Final = values(Phase(30, 0.0, at=7.0), Phase(30, restart=True))
"""A counter that stood at 7 and begins at zero again with its process."""

APPEARS: Final = values(Phase(30, absent=True), Phase(30, at=1.0))
"""A counter without a zero: its first value is no increase."""

GAP: Final = values(Phase(20, at=3.0), Phase(10, absent=True), Phase(30))
"""A counter that is not scraped for ten minutes."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is exposed, a sample a minute, and which alerts fire at which time."""

    alert: str
    exposed: Mapping[str, str]
    at: Mapping[str, list[dict[str, str]]]


def one(name: str, samples: str, /, **labels: str) -> dict[str, str]:
    return {series(name, **labels): samples}


def lag(behind: str, read: str) -> dict[str, str]:
    return {
        **one("aem_monitor_kafka_consumer_lag", behind, topic="otlp_spans", partition="0"),
        **one("aem_monitor_received_batches_total", read, source="kafka"),
    }


def queue(depth: str) -> dict[str, str]:
    return {**one("aem_monitor_queue_depth", depth), **one("aem_monitor_queue_capacity", gauge(64, 64))}


REFUSED: Final = "aem_monitor_refused_requests_total"
LETTERS: Final = "aem_monitor_dead_letters_total"
JOURNAL: Final = "aem_monitor_journal_errors_total"
DAMAGE: Final = "aem_monitor_journal_damage_total"
STORE: Final = "aem_monitor_store_errors_total"
WAITS: Final = "aem_monitor_sink_oldest_timestamp_seconds"
LOSS: Final = "aem_monitor_sink_lost_verdicts_total"
HELD: Final = "aem_monitor_alerting_lease_held"
RUN_WAITS: Final = "aem_monitor_alerting_oldest_run_timestamp_seconds"
NOTE_WAITS: Final = "aem_monitor_alerting_oldest_notification_timestamp_seconds"
NOTES: Final = "aem_monitor_alerting_notifications_total"
RELOAD: Final = "aem_monitor_config_last_reload_successful"
SCORER: Final = "aem_monitor_scorer_errors_total"
ENGINE: Final = "aem_monitor_engine_errors_total"
LIMITED: Final = "aem_monitor_series_limited_total"
COLLECTOR: Final = "aem_monitor_collector_errors_total"
FULL_LABEL: Final = {"metric": "aem_runs_total", "label": "dialog"}
JUDGE: Final = {**JOB, "scorer": "judge"}
ONCE: Final = values(Phase(30), Phase(30, at=1.0))
CRASHES: Final = gauge(0, 300, 600, 900, 1200, 1500, minutes=5)
STARTED: Final = "process_start_time_seconds"

CASES: Final = {
    "down and up again": Case("AemMonitorDown", one("up", gauge(0, 1)), {"3m": [], "20m": [INSTANCE], "40m": []}),
    "all replicas down": Case(
        "AemMonitorOutage",
        {series("up"): gauge(0, 1), series("up", instance="monitor-1"): gauge(0, 0)},
        {"3m": [], "20m": [JOB], "40m": []},
    ),
    "one replica of two down": Case(
        "AemMonitorOutage", {series("up"): gauge(0), series("up", instance="monitor-1"): gauge(1)}, {"20m": []}
    ),
    "one failed scrape": Case(
        "AemMonitorDown", one("up", values(Phase(20, at=1), Phase(1, at=0), Phase(20, at=1))), {"20m": [], "25m": []}
    ),
    "down, of another job": Case("AemMonitorDown", {'up{job="node"}': gauge(0)}, {"20m": []}),
    "a target that vanished": Case(
        "AemMonitorAbsent", one("up", values(Phase(30, at=1), Phase(30, absent=True))), {"20m": [], "50m": [{}]}
    ),
    "crash loop": Case(
        "AemMonitorRestarting",
        one(STARTED, gauge(0, 300, 600, 900, 1200, 1500, minutes=5)),
        {"6m": [], "29m": [INSTANCE]},
    ),
    "a restart or two": Case("AemMonitorRestarting", one(STARTED, gauge(0, 1800, 3600)), {"70m": []}),
    "a source that lost its broker": Case(
        "AemMonitorSourceDown",
        one("aem_monitor_source_up", gauge(1, 0, 1), source="kafka"),
        {"20m": [], "50m": [{**INSTANCE, "source": "kafka"}], "70m": []},
    ),
    "messages wait and none is read": Case(
        "AemMonitorStalled", lag(gauge(5, 5), counter(10, 0)), {"20m": [], "50m": [INSTANCE]}
    ),
    "nothing to read": Case("AemMonitorStalled", lag(gauge(0, 0), counter(10, 0)), {"20m": [], "50m": []}),
    "lag of a replica that was restarted": Case(
        "AemMonitorStalled",
        lag(gauge(5, 5), values(Phase(30, 10), Phase(30, 10, restart=True))),
        {"35m": [], "50m": []},
    ),
    "a queue that stays full": Case("AemMonitorStalled", queue(gauge(0, 64)), {"20m": [], "50m": [INSTANCE]}),
    "a queue that is full for a moment": Case(
        "AemMonitorStalled", queue(values(Phase(30), Phase(2, at=64), Phase(28))), {"31m": [], "33m": []}
    ),
    "an engine that does nothing": Case(
        "AemMonitorStalled",
        one("aem_monitor_engine_tick_seconds_count", counter(60, 0)),
        {"20m": [], "50m": [INSTANCE]},
    ),
    "a stuck thread": Case(
        "AemMonitorStalled", one("aem_monitor_stalled", gauge(0, 1), thread="kafka"), {"20m": [], "50m": [INSTANCE]}
    ),
    "behind and slow": Case(
        "AemMonitorLagHigh",
        lag(values(Phase(60, 100)), counter(60, 60)),
        {"10m": [], "40m": [{**JOB, "topic": "otlp_spans"}]},
    ),
    "behind and quick": Case("AemMonitorLagHigh", lag(gauge(5000, 5000), counter(6000, 6000)), {"50m": []}),
    "a few messages, read seldom": Case("AemMonitorLagHigh", lag(gauge(900, 900), counter(0, 0)), {"50m": []}),
    "messages that cannot be read": Case(
        "AemMonitorInputLost",
        one(REFUSED, counter(0, 2), source="kafka", cause="malformed"),
        {"20m": [], "50m": [{**JOB, "cause": "malformed"}]},
    ),
    "requests that senders try again": Case(
        "AemMonitorInputLost", one(REFUSED, counter(0, 2), source="otlp_http", cause="overloaded"), {"50m": []}
    ),
    "conversations cut at a bound": Case(
        "AemMonitorInputLost",
        one("aem_monitor_evicted_conversations_total", counter(0, 1), cause="bytes"),
        {"20m": [], "50m": [{**JOB, "cause": "bytes"}]},
    ),
    "messages that the topic of rekey refuses": Case(
        "AemMonitorInputLost", one("aem_monitor_rekey_refused_messages_total", counter(0, 1)), {"50m": [JOB]}
    ),
    "too many messages that cannot be used": Case(
        "AemMonitorKafkaStopped",
        one("aem_monitor_kafka_stopped", gauge(0, 1, 0), cause="run"),
        {"20m": [], "50m": [INSTANCE], "70m": []},
    ),
    "a topic for dead letters that takes none": Case(
        "AemMonitorKafkaStopped",
        one("aem_monitor_dead_letters_unconfirmed", values(Phase(20), Phase(1, at=3), Phase(9, at=0), Phase(30, at=3))),
        {"20m": [], "29m": [], "50m": [INSTANCE]},
    ),
    "a message that cannot be used": Case(
        "AemMonitorDeadLetters",
        one(LETTERS, counter(0, 1), cause="malformed", kept="message"),
        {"20m": [], "50m": [{**JOB, "cause": "malformed"}]},
    ),
    "what is kept as a dead letter": Case(
        "AemMonitorInputLost",
        {
            **one(REFUSED, counter(0, 2), source="kafka", cause="malformed"),
            **one(LETTERS, counter(0, 2), cause="malformed", kept="message"),
        },
        {"50m": []},
    ),
    "dead letters before a restart": Case(
        "AemMonitorDeadLetters", one(LETTERS, REBORN, cause="malformed", kept="message"), {"25m": [], "45m": []}
    ),
    "lost before a restart": Case(
        "AemMonitorInputLost", one(REFUSED, REBORN, source="kafka", cause="malformed"), {"25m": [], "40m": []}
    ),
    "a journal that cannot be written": Case(
        JOURNAL_ALERT := "AemMonitorJournalFailing",
        one(JOURNAL, counter(0, 4), reason="disk_full"),
        {"20m": [], "50m": [{**INSTANCE, "reason": "disk_full"}]},
    ),
    "a journal that failed before a restart": Case(JOURNAL_ALERT, one(JOURNAL, REBORN, reason="io"), {"40m": []}),
    "a torn end after a crash": Case("AemMonitorJournalLoss", one(DAMAGE, counter(0, 1), kind="torn"), {"50m": []}),
    "a damaged journal": Case(
        "AemMonitorJournalLoss", one(DAMAGE, counter(0, 1), kind="corrupt"), {"20m": [], "50m": [INSTANCE]}
    ),
    "a journal that is too small": Case(
        "AemMonitorJournalLoss",
        one("aem_monitor_journal_evicted_segments_total", counter(0, 1), cause="full"),
        {"20m": [], "50m": [INSTANCE]},
    ),
    "a store that fails": Case(
        "AemMonitorStoreFailing",
        one(STORE, counter(0, 10), reason="full"),
        {"20m": [], "50m": [{**INSTANCE, "reason": "full"}]},
    ),
    "a store that was locked once": Case(
        "AemMonitorStoreFailing",
        one(STORE, ONCE, reason="locked"),
        {"33m": [], "45m": []},
    ),
    "a store that failed before a restart": Case(
        "AemMonitorStoreFailing", one(STORE, REBORN, reason="io"), {"25m": [], "45m": []}
    ),
    "a verdict that waits for a sink": Case(
        "AemMonitorSinkBehind",
        one(WAITS, values(Phase(30, absent=True), Phase(40, at=1800.0)), sink="kafka"),
        {"25m": [], "46m": [], "55m": [{**INSTANCE, "sink": "kafka"}]},
    ),
    "a sink that has caught up": Case(
        "AemMonitorSinkBehind",
        one(WAITS, values(Phase(40, at=0.0), Phase(30, absent=True)), sink="kafka"),
        {"35m": [{**INSTANCE, "sink": "kafka"}], "50m": []},
    ),
    "a sink that goes on after a restart": Case(
        "AemMonitorSinkBehind",
        one(WAITS, values(Phase(40, at=0.0), Phase(10, absent=True), Phase(20, at=0.0)), sink="kafka"),
        {"38m": [{**INSTANCE, "sink": "kafka"}], "53m": [], "60m": [{**INSTANCE, "sink": "kafka"}]},
    ),
    "a sink that keeps up": Case(
        "AemMonitorSinkBehind",
        one(WAITS, values(*(Phase(1, at=60.0 * minute) for minute in range(60))), sink="kafka"),
        {"20m": [], "55m": []},
    ),
    "a single verdict that a sink refuses": Case(
        "AemMonitorSinkLoss",
        one(LOSS, ONCE, sink="otlp", cause="rejected"),
        {"20m": [], "40m": [{**JOB, "sink": "otlp", "cause": "rejected"}], "95m": []},
    ),
    "what a sink lost before a restart": Case(
        "AemMonitorSinkLoss", one(LOSS, REBORN, sink="otlp", cause="rejected"), {"25m": [], "45m": []}
    ),
    "what a sink lost before a gap": Case(
        "AemMonitorSinkLoss", one(LOSS, GAP, sink="kafka", cause="too_large"), {"15m": [], "55m": []}
    ),
    "alerting that nobody decides": Case(
        "AemMonitorAlertingFailing", one(HELD, gauge(1, 0)), {"25m": [], "32m": [], "40m": [JOB]}
    ),
    "alerting by another replica": Case(
        "AemMonitorAlertingFailing",
        {**one(HELD, gauge(1, 0)), **one(HELD, gauge(0, 1), instance="monitor-1")},
        {"25m": [], "45m": []},
    ),
    "no built-in alerting": Case("AemMonitorAlertingFailing", one("up", gauge(1, 1)), {"25m": [], "45m": []}),
    "runs that wait for detectors": Case(
        "AemMonitorAlertingFailing",
        {**one(HELD, gauge(1, 1)), **one(RUN_WAITS, values(Phase(30, absent=True), Phase(40, at=1800.0)))},
        {"25m": [], "46m": [], "55m": [JOB]},
    ),
    "a receiver that takes nothing": Case(
        "AemMonitorAlertingFailing",
        {
            **one(HELD, gauge(1, 1)),
            **one(NOTE_WAITS, values(Phase(30, absent=True), Phase(40, at=1800.0)), receiver="pagerduty"),
        },
        {"25m": [], "46m": [], "55m": [{**JOB, "receiver": "pagerduty"}]},
    ),
    "a receiver that takes all at once": Case(
        "AemMonitorAlertingFailing",
        one(NOTE_WAITS, values(*(Phase(1, at=60.0 * minute) for minute in range(60))), receiver="webhook"),
        {"20m": [], "55m": []},
    ),
    "a notification that is refused": Case(
        "AemMonitorAlertingLoss",
        one(NOTES, ONCE, receiver="pagerduty", result="rejected"),
        {"20m": [], "40m": [{**JOB, "receiver": "pagerduty", "result": "rejected"}], "95m": []},
    ),
    "notifications that were tried again": Case(
        "AemMonitorAlertingLoss", one(NOTES, ONCE, receiver="pagerduty", result="failed"), {"20m": [], "40m": []}
    ),
    "what was refused before a restart": Case(
        "AemMonitorAlertingLoss", one(NOTES, REBORN, receiver="webhook", result="expired"), {"25m": [], "45m": []}
    ),
    "a failed reload": Case("AemMonitorReloadFailed", one(RELOAD, gauge(1, 0)), {"20m": [], "50m": [INSTANCE]}),
    "a scorer that fails on and on": Case(
        "AemMonitorScorerFailing",
        one(SCORER, counter(0, 3), scorer="judge"),
        {"20m": [], "50m": [JUDGE]},
    ),
    "a scorer whose first errors come at once": Case(
        "AemMonitorScorerFailing",
        one(SCORER, APPEARS, scorer="judge"),
        {"35m": [], "42m": [JUDGE]},
    ),
    "a scorer that failed before a gap": Case("AemMonitorScorerFailing", one(SCORER, GAP, scorer="judge"), {"55m": []}),
    "a defect": Case(
        "AemMonitorEngineErrors",
        one(ENGINE, ONCE, step="tick"),
        {"20m": [], "40m": [{**INSTANCE, "step": "tick"}]},
    ),
    "a defect before a restart": Case("AemMonitorEngineErrors", one(ENGINE, REBORN, step="tick"), {"40m": []}),
    "a full label": Case(
        "AemMonitorLabelLimit", one(LIMITED, APPEARS, **FULL_LABEL), {"20m": [], "40m": [{**JOB, **FULL_LABEL}]}
    ),
    "a label that was full long ago": Case(
        "AemMonitorLabelLimit",
        one(LIMITED, values(Phase(120, at=4.0), Phase(30, absent=True)), **FULL_LABEL),
        {"100m": [], "140m": []},
    ),
    "a collector that fails": Case(
        "AemMonitorCollectorErrors",
        one(COLLECTOR, counter(0, 4), collector="process"),
        {"20m": [], "55m": [{**INSTANCE, "collector": "process"}]},
    ),
    "a collector that failed once": Case(
        "AemMonitorCollectorErrors", one(COLLECTOR, counter(0, 0), collector="process"), {"55m": []}
    ),
    "the watchdog, whatever happens": Case("AemWatchdog", {}, {"0m": [{}], "30m": [{}]}),
}

LOADED: Final = "aem_dialog_loaded_timestamp_seconds"
LAST: Final = "aem_dialog_last_run_timestamp_seconds"
REVIEWED: Final = series("aem_monitor_golden_dialogs", status="reviewed")
DIALOG: Final = {**JOB, "dialog": "sales-report"}


def dialog(loaded: str, last: str = "", name: str = "sales-report") -> dict[str, str]:
    found = one(LOADED, loaded, dialog=name)
    return {**found, **one(LAST, last, dialog=name)} if last else found


RUNNING: Final = values(*(Phase(1, at=60.0 * minute) for minute in range(150)))
ENDED: Final = values(*(Phase(1, at=60.0 * min(minute, 30)) for minute in range(150)))
ALWAYS: Final = gauge(0, minutes=150)
SINCE_ONE_HOUR: Final = values(Phase(60, absent=True), Phase(90, at=3600.0))

SCHEDULE: Final = {
    "a dialog that stopped running": Case("AemCanaryStale", dialog(ALWAYS, ENDED), {"80m": [], "100m": [DIALOG]}),
    "a dialog that runs": Case("AemCanaryStale", dialog(ALWAYS, RUNNING), {"80m": [], "140m": []}),
    "a dialog that never ran": Case("AemCanaryStale", dialog(ALWAYS), {"50m": [], "70m": [DIALOG]}),
    "a dialog after a restart": Case("AemCanaryStale", dialog(SINCE_ONE_HOUR, ENDED), {"100m": [], "130m": [DIALOG]}),
    "a dialog that never ran, and a scrape that fails": Case(
        "AemCanaryStale", dialog("0+0x100 stale 0+0x40"), {"100m": [DIALOG], "101m": [DIALOG], "104m": [DIALOG]}
    ),
    "a dialog that was deleted": Case("AemCanaryStale", one(LAST, ENDED, dialog="sales-report"), {"140m": []}),
    "one of two replicas sees it": Case(
        "AemCanaryStale",
        {**dialog(ALWAYS, RUNNING), series(LOADED, instance="monitor-1", dialog="sales-report"): ALWAYS},
        {"140m": []},
    ),
    "none of two dialogs runs": Case(
        "AemCanariesAbsent",
        {**dialog(ALWAYS, ENDED), **dialog(ALWAYS, ENDED, "refund"), REVIEWED: gauge(2, minutes=150)},
        {"80m": [], "100m": [JOB]},
    ),
    "one of two dialogs runs": Case(
        "AemCanariesAbsent",
        {**dialog(ALWAYS, ENDED), **dialog(ALWAYS, RUNNING, "refund"), REVIEWED: gauge(2, minutes=150)},
        {"140m": []},
    ),
    "only a draft runs": Case(
        "AemCanariesAbsent", {**dialog(ALWAYS), **one(LAST, RUNNING, dialog="draft")}, {"50m": [], "70m": [JOB]}
    ),
    "no reviewed dialog is loaded": Case("AemCanariesAbsent", {REVIEWED: gauge(0, minutes=60)}, {"10m": [JOB]}),
}


@pytest.mark.parametrize("case", [*CASES.values(), *SCHEDULE.values()], ids=[*CASES, *SCHEDULE])
def test_an_alert_fires_when_it_should(case: Case, promtool: Path, tmp_path: Path) -> None:
    check_firing(promtool, tmp_path, case.alert, case.exposed, case.at, interval="1m")
