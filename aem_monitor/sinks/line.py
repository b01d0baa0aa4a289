"""A final verdict as other programs read it."""

from typing import Final

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.render import evidence_object
from aem_monitor.store.records import StoredRun
from aem_monitor.strictjson import strict_json

BEGINNING: Final = b'{"run_id":'
"""What every line begins with, so that a file of them can be told from others."""


def line_object(stored: StoredRun) -> dict[str, JSON]:
    """The result object with its evidence, as the API has it: ``run_id``, ``dialog_version`` and ``revision`` name it,
    ``cause`` says why there is this revision, ``final_at`` and ``stored_at`` when (seconds since the epoch)."""
    return {
        **evidence_object(stored.result),
        "final_at": stored.final_at,
        "stored_at": stored.stored_at,
        "cause": stored.cause,
    }


def line(stored: StoredRun) -> bytes:
    """One line of JSON: ASCII, with its end."""
    return strict_json(line_object(stored)).encode("ascii") + b"\n"
