"""What people said of verdicts, one row an answer."""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from aem_monitor.store import schema
from aem_monitor.store.codec import dump_json
from aem_monitor.store.queries import chunks
from aem_monitor.store.records import Review
from aem_monitor.store.rows import text_column

_TABLE = schema.reviews


def write_review(connection: Connection, review: Review) -> None:
    """Add it, in the place of an earlier answer about the same revision."""
    columns = _TABLE.c
    connection.execute(
        delete(_TABLE).where(
            columns.run_id == review.run_id,
            columns.subject == review.subject,
            columns.revision == review.revision,
        )
    )
    row: dict[str, Any] = {name: getattr(review, name) for name in Review.__slots__}
    row.update(
        dialog=text_column(review.dialog),
        who=text_column(review.who),
        note=text_column(review.note),
        labels=dump_json(review.labels),
    )
    connection.execute(insert(_TABLE), row)


def load_reviews(connection: Connection, run_ids: Iterable[str] | None) -> list[Review]:
    """The answers about these runs, or all, oldest first."""
    columns = _TABLE.c
    ordered = select(_TABLE).order_by(columns.answered_at, columns.run_id, columns.subject, columns.revision)
    if run_ids is None:
        return [_review(row) for row in connection.execute(ordered)]
    found = [
        _review(row)
        for chunk in chunks(run_ids)
        for row in connection.execute(ordered.where(columns.run_id.in_(chunk)))
    ]
    return sorted(found, key=lambda review: (review.answered_at, review.run_id, review.subject, review.revision))


def _review(row: Row[Any]) -> Review:
    values = {name: getattr(row, name) for name in Review.__slots__}
    return Review(**{**values, "labels": tuple(json.loads(row.labels))})
