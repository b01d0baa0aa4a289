"""The daemon's database for those who work beside it."""

from aem_monitor.errors import StoreError
from aem_monitor.store.schema import SCHEMA_VERSION
from aem_monitor.store.store import Store


class StoreBesideDaemon(Store):
    """A store that is there already. Only the daemon prepares one: with tables that were changed under it, a daemon of
    an earlier version could not go on, and tables that a misspelt URL creates hold nothing that anybody asks for."""

    def _prepare(self, current: int | None) -> None:
        if current is None:
            message = "the database holds nothing of aem-monitor: name the one of the daemon in store.url"
        elif current > SCHEMA_VERSION:
            message = (
                f"the database has schema version {current}, this program knows {SCHEMA_VERSION}: use the program of "
                "the daemon's version"
            )
        else:
            message = (
                f"the database has schema version {current}, this program needs {SCHEMA_VERSION}: use the program of "
                "the daemon's version, or start a daemon of this one, which brings the database up to date"
            )
        raise StoreError(message, reason="schema")
