"""What tests of the player share."""

from collections.abc import Iterator

import pytest

from tests.alerting.answering import Receiving


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def receiving() -> Iterator[Receiving]:
    """An agent, or whoever else is asked."""
    server = Receiving()
    yield server
    server.close()
