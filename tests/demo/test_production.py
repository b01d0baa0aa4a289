"""The traffic of the demo: recordings played again and again."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from aem_monitor.demo import production as module
from aem_monitor.demo.production import Players, Production
from aem_monitor.demo.recordings import recordings
from aem_monitor.errors import AemMonitorError
from tests.demo.verdicts import EXPECTED, plain, replayed

BEFORE, AFTER = recordings()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies of what is exported, which goes nowhere else."""
    bodies: list[bytes] = []
    monkeypatch.setattr(module, "export", lambda url, body: bodies.append(body))
    monkeypatch.setattr(module, "_PAUSE", 0.001)
    return bodies


def spans(bodies: list[bytes]) -> Iterator[tuple[str, Any]]:
    """Every span, after the release that it names."""
    for body in bodies:
        for resource in orjson.loads(body)["resourceSpans"]:
            attributes = {one["key"]: one["value"]["stringValue"] for one in resource["resource"]["attributes"]}
            for scope in resource["scopeSpans"]:
                yield from ((attributes["service.version"], span) for span in scope["spans"])


def until(come: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not come():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_each_play_comes_to_the_verdicts_of_the_recording_under_ids_of_its_own(
    sent: list[bytes], tmp_path: Path
) -> None:
    players = Players("http://unused")
    for recording in (BEFORE, AFTER, BEFORE, AFTER):
        list(players.play(recording))
    file = tmp_path / "played.jsonl"
    file.write_bytes(b"\n".join(sent))
    found: dict[str, list[dict[str, Any]]] = {}
    for one in plain(replayed(file).results):
        one["conversation_id"], _, play = one["conversation_id"].rpartition(".")
        found.setdefault(play, []).append(one)
    of_release = {
        release: [one for one in orjson.loads(EXPECTED.read_bytes()) if one["release"] == release]
        for release in (BEFORE.release, AFTER.release)
    }
    assert found == {
        "1": of_release[BEFORE.release],
        "2": of_release[AFTER.release],
        "3": of_release[BEFORE.release],
        "4": of_release[AFTER.release],
    }
    ids = [(span["traceId"], span["spanId"]) for _, span in spans(sent)]
    assert len(set(ids)) == len(ids) == 2 * (BEFORE.spans + AFTER.spans)


def test_what_is_played_ends_now(sent: list[bytes]) -> None:
    earliest = time.time_ns()
    list(Players("http://unused").play(AFTER))
    latest = max(int(span["endTimeUnixNano"]) for _, span in spans(sent))
    assert earliest <= latest <= time.time_ns()


def test_conversations_end_on_the_release_on_which_they_began(sent: list[bytes]) -> None:
    with Production(Players("http://unused"), BEFORE) as production:
        until(lambda: len(sent) > len(BEFORE.requests) + 1)
        production.deploy(AFTER)
        until(lambda: any(release == AFTER.release for release, _ in spans(sent[-1:])))
        production.check()
    recorded = lengths([*BEFORE.requests, *AFTER.requests])
    played = lengths(sent)
    assert {name: length for name, length in played.items() if length != recorded[name.rpartition(".")[0]]} == {}
    order = [release for release, _ in spans(sent)]
    assert order == sorted(order)


def lengths(bodies: list[bytes]) -> Counter[str]:
    """Spans of each conversation."""
    return Counter(
        attribute["value"]["stringValue"]
        for _, span in spans(bodies)
        for attribute in span["attributes"]
        if attribute["key"] == "session.id"
    )


def test_what_ends_the_traffic_is_told_by_the_next_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, body: bytes) -> None:
        raise AemMonitorError("cannot reach it")

    monkeypatch.setattr(module, "export", refuse)
    with Production(Players("http://unused"), BEFORE) as production:
        until(lambda: not production._thread.is_alive())
        with pytest.raises(AemMonitorError, match="cannot reach it"):
            production.check()
