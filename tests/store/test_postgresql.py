"""The store on PostgreSQL keeps the contract: the same code, no statement of its own."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateIndex, CreateTable

from aem_monitor.errors import StoreError
from aem_monitor.store import Store
from aem_monitor.store.schema import METADATA
from tests.services.postgresql import PostgresqlServer
from tests.store.contract import StoreContract


@pytest.mark.service
class TestPostgresql(StoreContract):
    @pytest.fixture
    def url(self, postgresql_server: PostgresqlServer) -> Iterator[str]:
        with postgresql_server.database() as url:
            yield url


def test_a_server_that_is_not_there_is_reported_without_its_password() -> None:
    nowhere = make_url("postgresql+psycopg://aem:hunter2@127.0.0.1:1/postgres")
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
