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
    assert "Release 2026.11.1: office-assistant on the model acme-large-2. " in screen
    assert "Release 2026.11.2: office-assistant on the model acme-small-3, after a model swap. " in screen


def test_the_table_gives_correctness_root_causes_and_cascades_of_each_release(screen: str) -> None:
    assert "2026.11.1 acme-large-2 12 56 100.0% none 0" in screen
    row = (
        "2026.11.2 acme-small-3 12 56 58.9% 8 inconsistent_parameter_values 12 2 inconsistent_response 1 tool_mismatch"
    )
    assert row in screen


def test_the_releases_stand_side_by_side_with_what_broke_in_each_dialog(screen: str) -> None:
    assert "dialog 2026.11.1 2026.11.2" in screen
    assert (
        "sales-report 2 of 2 right 1 of 2 right canary-sales-3: 1 root cause, 3 cascades "
        "turn 2, reports.FilterData: metric: expected revenue, got profit"
    ) in screen
    assert (
        "canary-policy-3: 2 root causes, 1 cascade "
        "turn 1, documents.Fetch: document: expected travel-policy-2026, got travel-policy-2023 "
        "turn 3, reply: says “Last year 92 percent of all trips kept to it.” canary-policy-4: 2 root causes, 0 cascades"
    ) in screen


def test_the_run_with_most_cascades_is_shown_turn_by_turn(screen: str) -> None:
    assert "sales-report, canary-sales-3, release 2026.11.2: 1 root cause, 3 cascades, 1 of 5 turns right" in screen
    assert "● 2 reports.FilterData ROOT CAUSE inconsistent_parameter_values │ metric: expected revenue, got" in screen
    assert screen.count("cascade of turn 2") == 3


def test_the_commands_that_show_every_example_run(screen: str) -> None:
    commands = re.findall(r"aem-monitor ((?:replay|golden test) .*?\S)(?= \S*aem-monitor |$)", screen)
    assert len(commands) == 3
    for words in commands:
        done = subprocess.run(
            ["sh", "-c", f"exec {sys.executable} -m aem_monitor {words}"], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_the_screen_says_how_canaries_were_told_from_customers(screen: str) -> None:
    assert "Recognised: 24 of 24 canary conversations, 12 by the dialog's name" in screen
    assert "Left alone: 4 conversations of customers, 2 of which happen to say" in screen


def test_the_screen_shows_lines_of_the_metrics_as_they_were_served(screen: str) -> None:
    assert re.search(r"What Prometheus reads from http://127\.0\.0\.1:\d+/metrics", screen)
    assert (
        'aem_root_causes_total{agent="office-assistant",detail="",model="acme-small-3",'
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
        pages = re.findall(r"http://127\.0\.0\.1:\d+/(?= )", shown)[-1]
        with urllib.request.urlopen(pages, timeout=10) as answer:
            assert "<h1>Overview</h1>" in answer.read().decode()
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
    assert "of 24 runs are final" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--port-metrics", "http"], ["--port-metrics", "70000"], ["--wait", "0"]])
def test_what_is_no_port_and_no_time_is_a_usage_error(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert "give" in done.stderr
