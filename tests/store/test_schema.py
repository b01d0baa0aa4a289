"""The schema is versioned from its first day."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, insert, inspect, select, text

from aem_monitor.errors import StoreError
from aem_monitor.store import Store, schema
from aem_monitor.store.database import connect
from aem_monitor.store.migrations import MIGRATIONS
from aem_monitor.store.schema import METADATA, Migration, prepare


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = connect("sqlite://")
    yield engine
    engine.dispose()


def versions(connection: Connection) -> list[int]:
    return list(connection.execute(select(schema.schema_versions.c.version).order_by("version")).scalars())


def add_column(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE answers ADD COLUMN tokens INTEGER"))


def test_a_new_database_has_all_tables_in_the_current_version(engine: Engine) -> None:
    with engine.begin() as connection:
        prepare(connection, METADATA, schema.SCHEMA_VERSION, MIGRATIONS)
        assert set(inspect(connection).get_table_names()) == set(METADATA.tables)
        assert versions(connection) == [schema.SCHEMA_VERSION]


def test_an_earlier_database_is_brought_up_to_date_once(engine: Engine) -> None:
    steps = [Migration(2, "tokens of an answer", add_column)]
    with engine.begin() as connection:
        prepare(connection, METADATA, 1, [])
    for _ in range(2):
        with engine.begin() as connection:
            prepare(connection, METADATA, 2, steps)
    with engine.begin() as connection:
        assert versions(connection) == [1, 2]
        assert "tokens" in {column["name"] for column in inspect(connection).get_columns("answers")}


def test_a_step_that_fails_leaves_the_earlier_version(engine: Engine) -> None:
    def fail(connection: Connection) -> None:
        add_column(connection)
        raise StoreError("no room")

    with engine.begin() as connection:
        prepare(connection, METADATA, 1, [])
    with pytest.raises(StoreError, match="no room"), engine.begin() as connection:
        prepare(connection, METADATA, 2, [Migration(2, "fails", fail)])
    with engine.begin() as connection:
        assert versions(connection) == [1]
        assert "tokens" not in {column["name"] for column in inspect(connection).get_columns("answers")}


def test_every_migration_leads_to_the_current_version() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(2, schema.SCHEMA_VERSION + 1))


def test_a_missing_step_is_reported(engine: Engine) -> None:
    with engine.begin() as connection:
        prepare(connection, METADATA, 1, [])
    with pytest.raises(StoreError, match="from schema version 1 to 2") as caught, engine.begin() as connection:
        prepare(connection, METADATA, 3, [Migration(3, "later", add_column)])
    assert caught.value.reason == "schema"


def test_a_database_of_a_later_version_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('later') / 'store.db'}"
    with Store(url) as store, store._engine.begin() as connection:
        connection.execute(insert(schema.schema_versions).values(version=99, description="later"))
    with pytest.raises(StoreError, match="schema version 99") as caught:
        Store(url)
    assert caught.value.reason == "schema"


def test_the_database_of_something_else_is_refused(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE runs (id INTEGER)"))
    with pytest.raises(StoreError, match="something else") as caught, engine.begin() as connection:
        prepare(connection, METADATA, 1, [])
    assert caught.value.reason == "schema"
