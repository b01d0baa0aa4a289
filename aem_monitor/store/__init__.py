"""The store: final verdicts with their evidence, and the totals of all counters, in one database.

A verdict and everything that it adds to the totals are written in one transaction, so that a crash at any moment
leaves either both or neither.
"""

from aem_monitor.store.records import ReleaseSeen, RunFilter, StoredPlay, StoredRun
from aem_monitor.store.store import Store

__all__ = ["ReleaseSeen", "RunFilter", "Store", "StoredPlay", "StoredRun"]
