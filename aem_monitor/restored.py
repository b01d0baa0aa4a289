"""What earlier processes of a replica counted, given to the metrics of the one that starts."""

import logging

from aem_monitor.metrics.registry import Metrics
from aem_monitor.store.store import Store

_LOG = logging.getLogger(__name__)


def restore(metrics: Metrics, store: Store) -> None:
    """Counters, and the gauges that tell of the past, as if the process had never ended. Raises ``StoreError``."""
    last_seen = store.last_seen()
    ignored = metrics.restore(store.totals(), last_seen)
    if ignored:
        _LOG.warning("%d stored totals belong to metrics that this version does not have", ignored)
    for dialog, ended in store.last_runs().items():
        metrics.restore_gauge("aem_dialog_last_run_timestamp_seconds", ended, ended, dialog=dialog)
    first_seen: dict[tuple[str, str], float] = {}
    for seen in store.releases():
        first_seen.setdefault((seen.agent, seen.release), seen.first_seen)
    for (agent, release), first in first_seen.items():
        metrics.restore_gauge(
            "aem_release_first_seen_timestamp_seconds", first, last_seen[release], agent=agent, release=release
        )
