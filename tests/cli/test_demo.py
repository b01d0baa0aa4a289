"""``aem-monitor demo`` as it is used: a process of its own, and what stands on its screen."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.demo.verdicts import EXPECTED

COMMAND = [sys.executable, "-m", "aem_monitor", "demo"]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The demo, with its temporary files in ``folder``."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, env=environment)


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port of this machine that somebody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The screen of a demo that ended by itself, white space reduced to single blanks."""
    folder = tmp_path_factory.mktemp("demo")
    done = run("--once", "--port-metrics", "0", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == []
    return " ".join(done.stdout.split())


def test_the_screen_says_what_the_product_does(screen: str) -> None:
    assert "A golden dialog is a reviewed conversation" in screen
    assert "a root cause;" in screen
    assert "is a cascade." in screen


def test_the_screen_says_what_each_release_is(screen: str) -> None:
    assert "Release 2026.11.1: sales-assistant on the model acme-large-2. " in screen
    assert "Release 2026.11.2: sales-assistant on the model acme-small-3, after a model swap. " in screen


def test_the_table_gives_correctness_root_causes_and_cascades_of_each_release(screen: str) -> None:
    assert "2026.11.1 acme-large-2 6 34 100.0% none 0" in screen
    row = "2026.11.2 acme-small-3 6 34 79.4% 1 inconsistent_parameter_values 5 1 tool_mismatch (wrong_tool)"
    assert row in screen


def test_a_sentence_says_what_broke_first_with_expected_against_got(screen: str) -> None:
    assert (
        "Release 2026.11.2 broke first in turn 2 of sales-report: reports.FilterData(metric) expected revenue, got "
        "profit; 3 later turns only inherited it."
    ) in screen
    assert (
        "broke first in turn 3 of refund-damaged-order: expected create_refund, got create_voucher; 2 later turns only "
        "inherited it."
    ) in screen


def test_the_run_that_broke_first_is_shown_turn_by_turn(screen: str) -> None:
    assert "canary-sales-3 turn by turn" in screen
    broke = "2 reports.FilterData metric=revenue region=EU reports.FilterData metric=profit region=EU ROOT CAUSE"
    assert broke in screen
    assert screen.count("cascade of turn 2") == 3


def test_the_screen_says_how_canaries_were_told_from_customers(screen: str) -> None:
    assert "Recognised: 12 of 12 canary conversations, 6 by the dialog's name" in screen
    assert "Left alone: 4 conversations of customers, 2 of which happen to say" in screen


def test_the_screen_shows_lines_of_the_metrics_as_they_were_served(screen: str) -> None:
    assert re.search(r"What Prometheus reads from http://127\.0\.0\.1:\d+/metrics", screen)
    assert (
        'aem_root_causes_total{agent="sales-assistant",detail="",model="acme-small-3",'
        'reason="inconsistent_parameter_values",release="2026.11.2",tool="reports"} 1.0'
    ) in screen
    assert 'aem_monitor_unrecognised_conversations_total{outcome="not_allowed"} 2.0' in screen


def test_it_stays_up_until_interrupted_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [*COMMAND, "--port-metrics", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        shown = ""
        for line in process.stdout:
            shown += line
            if "Ctrl-C ends it" in line:
                break
        metrics = re.findall(r"http://127\.0\.0\.1:\d+/metrics", shown)[-1]
        runs = re.findall(r"http://127\.0\.0\.1:\d+/api/v1/runs", shown)[-1]
        with urllib.request.urlopen(metrics, timeout=10) as answer:
            assert b"aem_runs_total{" in answer.read()
        with urllib.request.urlopen(runs, timeout=10) as answer:
            served = orjson.loads(answer.read())["runs"]
        assert {run["conversation_id"] for run in served} == {
            run["conversation_id"] for run in orjson.loads(EXPECTED.read_bytes())
        }
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stderr is not None
        assert process.stderr.read().strip() == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_result_ends_it_as_interrupted_and_leaves_nothing_behind(
    how: signal.Signals, tmp_path: Path
) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [*COMMAND, "--port-metrics", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if "The daemon is up" in line)
        process.send_signal(how)
        out, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in error
    assert "Correctness by release" not in out
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(taken_port: int, tmp_path: Path) -> None:
    done = run("--once", "--port-metrics", str(taken_port), folder=tmp_path)
    assert done.returncode == 2
    assert f"metrics.listen: cannot listen on 127.0.0.1:{taken_port}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_verdicts_that_do_not_come_in_time_are_an_error_that_says_how_many_are_missing(tmp_path: Path) -> None:
    done = run("--once", "--port-metrics", "0", "--wait", "0.001", folder=tmp_path)
    assert done.returncode == 1
    assert "of 12 runs are final" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--port-metrics", "http"], ["--port-metrics", "70000"], ["--wait", "0"]])
def test_what_is_no_port_and_no_time_is_a_usage_error(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert "give" in done.stderr
