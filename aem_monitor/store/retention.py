"""What a store forgets when its time has come."""

from sqlalchemy import Connection, delete, func, select

from aem_monitor.store import schema


def forget(connection: Connection, before: float, conversations_before: float | None) -> int:
    """Forget what ``Store.retain`` says; returns how many runs were forgotten."""
    old = select(schema.runs.c.run_id).where(schema.runs.c.final_at < before)
    count = connection.execute(
        select(func.count(func.distinct(schema.runs.c.run_id))).where(schema.runs.c.final_at < before)
    ).scalar_one()
    connection.execute(delete(schema.run_traces).where(schema.run_traces.c.run_id.in_(old)))
    connection.execute(delete(schema.turns).where(schema.turns.c.run_id.in_(old)))
    kept = schema.conversations.c
    connection.execute(delete(schema.conversations).where(kept.run_id.in_(old)))
    if conversations_before is not None:
        connection.execute(delete(schema.conversations).where(kept.stored_at < conversations_before))
    connection.execute(delete(schema.runs).where(schema.runs.c.final_at < before))
    connection.execute(delete(schema.reviews).where(schema.reviews.c.answered_at < before))
    connection.execute(delete(schema.answers).where(schema.answers.c.stored_at < before))
    connection.execute(delete(schema.provisional_runs).where(schema.provisional_runs.c.stored_at < before))
    # Those that are open have no such time.
    connection.execute(delete(schema.incidents).where(schema.incidents.c.resolved_at < before))
    connection.execute(delete(schema.notifications).where(schema.notifications.c.created_at < before))
    return count
