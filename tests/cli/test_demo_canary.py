"""``aem-monitor demo --canary`` as it is used: a process of its own, from the swap to the end of the incident."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from aem_monitor.cli.demo_canary import canary_story
from aem_monitor.errors import ConfigError

COMMAND = [sys.executable, "-m", "aem_monitor", "demo", "--canary", "--port-metrics", "0"]


def environment(folder: Path) -> dict[str, str]:
    """Its temporary files in ``folder``; a proxy that nobody reaches anything through."""
    return {**os.environ, "TMPDIR": str(folder), "http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The screen of a demo that stays up, white space reduced to single blanks."""
    folder = tmp_path_factory.mktemp("demo")
    with subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(folder)
    ) as process:
        assert process.stdout is not None
        shown = ""
        for line in process.stdout:
            shown += line
            if "Ctrl-C ends it" in line:
                break
        yield " ".join(shown.split())
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert (process.returncode, out.strip(), error.strip()) == (0, "", "")
    assert list(folder.iterdir()) == []


def test_the_old_release_is_right_in_as_many_runs_as_alerting_needs(story: str) -> None:
    assert "Before: release 2026.11.1 204 of 204 runs are right. Alerting needs 200 to know what is usual." in story


def test_canary_watch_says_what_it_says_elsewhere_and_ends_with_1(story: str) -> None:
    assert re.search(
        r"canary watch --config \S+/aem-monitor.yaml \\ --baseline 2026.11.1 --candidate 2026.11.2 --every 1s "
        r"--deadline 1m canary 2026.11.1 to 2026.11.2 ─+ state regression .*"
        r"baseline 2026.11.1: 204 of 204 .* candidate 2026.11.2: \d+ of \d+ ",
        story,
    )
    assert re.search(r"It ended \d+ seconds after the swap with exit code 1, by which a pipeline stops", story)


def test_the_page_names_what_broke_and_leads_to_it(story: str) -> None:
    page = story[story.index("The page,") : story.index("The rollback")]
    assert re.search(r"(critical|warning): office-assistant 2026.11.2: .* \d+ of the last \d+ runs", page)
    assert "example turn where expected got cascades" in page
    links = re.findall(r"Error map of example \d: (http://\S+)", page)
    assert len(links) == 3
    with urllib.request.urlopen(links[0], timeout=10) as answer:
        assert "root cause" in answer.read().decode()


def test_pagerduty_is_told_of_both_releases_the_incident_and_its_end(story: str) -> None:
    told = story[story.index("What PagerDuty was sent") : story.index("Correctness by release")]
    for release, model in (("2026.11.1", "acme-large-2"), ("2026.11.2", "acme-small-3")):
        assert f"change - office-assistant: release {release} with model {model} seen for the first time" in told
    opened = re.findall(r"\+\d+ s trigger (aem-\w{8}) office-assistant", told)
    assert opened
    assert sorted(re.findall(r"\+\d+ s resolve (aem-\w{8}) over", told)) == sorted(opened)


def test_the_releases_and_a_run_that_the_page_names_are_shown(story: str) -> None:
    end = story[story.index("Correctness by release") :]
    assert re.search(r"2026.11.1 acme-large-2 2\d\d \d+ 100.0% none 0 2026.11.2 acme-small-3 \d+ \d+ \d\d\.\d% ", end)
    assert re.search(
        r"A run that the page names, turn by turn .* release 2026.11.2: [12] root causes?, \d cascades?", end
    )


def test_the_commands_that_it_names_work_beside_it(story: str) -> None:
    (words,) = re.findall(r"aem-monitor (alerts list --all --config \S+)", story)
    done = subprocess.run([*COMMAND[:3], *words.split()], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "office-assistant" in done.stdout


def test_a_signal_in_the_middle_ends_it_as_interrupted_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(tmp_path)
    ) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if "The daemon is up" in line)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, "")
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "")  # which it changes, to be as it was afterwards
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with (
            pytest.raises(ConfigError, match=f"metrics.listen: cannot listen on 127.0.0.1:{port}"),
            canary_story(port, 1.0),
        ):
            raise AssertionError("it went on without its port")
