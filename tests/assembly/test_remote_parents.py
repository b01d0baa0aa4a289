"""The span flag "parent is remote" tells an entry span from one whose parent was lost."""

from dataclasses import replace

import pytest

from aem_monitor.model.conversation import Exchange
from aem_monitor.model.span import Span
from tests.assembly.building import agent, call, chat, text, tool
from tests.assembly.recordings import assembled


def exchange_of(spans: list[Span]) -> Exchange:
    (conversation,) = assembled(spans)
    (found,) = conversation.exchanges
    return found


@pytest.mark.parametrize(("remote", "missing"), [(True, False), (False, True), (None, True)])
def test_a_remote_parent_that_never_came_is_another_service_s(remote: bool | None, missing: bool) -> None:
    inside = tool("2", "elsewhere", "t", start=1, end=2)
    found = exchange_of([agent("1", user="x", reply="y", end=9), replace(inside, parent_remote=remote)])
    assert found.missing_parents is missing
    spoken = chat("2", "gone", input=[text("user", "x")], output=[call("t", {}, "c1")], start=1, end=2)
    called = tool("3", "elsewhere", "t", call_id="c1", start=2, end=3)
    found = exchange_of([replace(spoken, parent_remote=remote), replace(called, parent_remote=remote)])
    assert found.missing_parents is missing
