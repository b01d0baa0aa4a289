"""The demo's daemon: the same verdicts as from files, on another port where the usual one is taken."""

import socket
import threading
from collections.abc import Iterator

import orjson
import pytest

from aem_monitor.demo import monitor as module
from aem_monitor.demo.http import export, scrape
from aem_monitor.demo.monitor import running_monitor
from aem_monitor.demo.recordings import moved, recordings
from aem_monitor.errors import AemMonitorError
from tests.demo.verdicts import EXPECTED, plain

FAR_NS = 400 * 86400 * 10**9


@pytest.fixture
def default_port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The usual port of the metrics, in use."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        monkeypatch.setattr(module, "default_metrics_port", lambda: port)
        yield port


@pytest.mark.parametrize("moved_by", [0, -FAR_NS], ids=["as recorded", "recorded long ago"])
def test_the_daemon_comes_to_the_same_verdicts_as_the_pipeline_over_files(moved_by: int) -> None:
    with running_monitor(0) as monitor:
        for recording in recordings():
            for request in recording.requests:
                export(monitor.traces_url, moved(request, moved_by) if moved_by else request)
        heard: list[int] = []
        monitor.wait(24, 4, 60.0, heard.append)
        assert plain(monitor.final_runs()) == orjson.loads(EXPECTED.read_bytes())
        assert monitor.left_alone() == {"not_allowed": 2, "none": 2, **_zeros(monitor.left_alone())}
    assert heard[-1] == 28
    assert heard == sorted(heard)


def _zeros(outcomes: dict[str, int]) -> dict[str, int]:
    return {outcome: 0 for outcome, count in outcomes.items() if not count}


def test_where_the_usual_port_is_taken_another_one_serves_the_metrics(default_port: int) -> None:
    with running_monitor(None) as monitor:
        assert monitor.default_port_taken
        assert f":{default_port}/" not in monitor.metrics_url
        assert "aem_monitor_build_info" in scrape(monitor.metrics_url)
    assert not [thread for thread in threading.enumerate() if thread.name == "engine"]


def test_a_request_that_is_refused_is_an_error_with_the_answer() -> None:
    with running_monitor(0) as monitor, pytest.raises(AemMonitorError, match="answered 400"):
        export(monitor.traces_url, b"{")
