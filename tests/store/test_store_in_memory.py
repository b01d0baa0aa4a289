"""The store in memory keeps the contract."""

import pytest

from aem_monitor.store import Store
from tests.store.contract import StoreContract


class TestInMemory(StoreContract):
    @pytest.fixture
    def url(self) -> str:
        return "sqlite://"

    def second(self, url: str, store: Store) -> Store:
        return store
