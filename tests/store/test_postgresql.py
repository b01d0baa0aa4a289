"""The store on PostgreSQL keeps the contract: the same code, no statement of its own.

Runs where ``AEM_TEST_POSTGRESQL`` names a server and a role that may create databases, for example
``postgresql+psycopg://aem@127.0.0.1:5432/postgres``.
"""

import os
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateIndex, CreateTable

from aem_monitor.errors import StoreError
from aem_monitor.store import Store
from aem_monitor.store.schema import METADATA
from tests.store.contract import StoreContract

SERVER = os.environ.get("AEM_TEST_POSTGRESQL", "")

needs_server = pytest.mark.skipif(not SERVER, reason="AEM_TEST_POSTGRESQL names no server")


@needs_server
class TestPostgresql(StoreContract):
    @pytest.fixture
    def url(self) -> Iterator[str]:
        name = f"aem_test_{secrets.token_hex(6)}"
        server = create_engine(SERVER, isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        yield make_url(SERVER).set(database=name).render_as_string(hide_password=False)
        with server.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        server.dispose()


@needs_server
def test_a_server_that_is_not_there_is_reported_without_its_password() -> None:
    nowhere = make_url(SERVER).set(host="127.0.0.1", port=1, password="hunter2")
    with pytest.raises(StoreError, match="can be reached") as caught:
        Store(nowhere.render_as_string(hide_password=False))
    assert caught.value.reason == "unavailable"
    assert "hunter2" not in str(caught.value)


def test_the_tables_are_ones_that_postgresql_can_create() -> None:
    make_dialect: Any = postgresql.dialect
    dialect = make_dialect()
    for table in METADATA.sorted_tables:
        assert str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            assert str(CreateIndex(index).compile(dialect=dialect))
