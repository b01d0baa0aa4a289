"""What tests of alerting share."""

from collections.abc import Iterator

import pytest

from tests.alerting.answering import Receiving


@pytest.fixture
def receiving() -> Iterator[Receiving]:
    """Somebody who is told."""
    server = Receiving()
    yield server
    server.close()
