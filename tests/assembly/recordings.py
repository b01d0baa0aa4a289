"""Recorded traces with what they must become, and how to compare the two."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aem_monitor.assembly import AssemblySettings, assemble
from aem_monitor.assembly.render import conversation_object
from aem_monitor.conventions.jsontext import canonical, parse_nested
from aem_monitor.conventions.registry import registry
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.span import LogRecord, Span

TRACES = Path(__file__).parent.parent / "data" / "traces"
REGISTRY = registry()
SETTINGS = AssemblySettings()


def recordings() -> list[Path]:
    """All recorded trace files that have a sidecar."""
    sidecars = sorted(TRACES.rglob("*.expected.json"))
    return [path for sidecar in sidecars if (path := _trace_of(sidecar)) is not None]


def _trace_of(sidecar: Path) -> Path | None:
    stem = sidecar.name.removesuffix(".expected.json")
    candidates = [sidecar.with_name(stem + suffix) for suffix in (".json", ".jsonl")]
    return next((path for path in candidates if path.exists()), None)


def sidecar_of(path: Path) -> dict[str, Any]:
    """What the file must become."""
    found = json.loads(path.with_name(path.name.split(".json", 1)[0] + ".expected.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def load(*paths: Path) -> tuple[list[Span], list[LogRecord]]:
    """Spans and log records of files, as the product reads them."""
    spans: list[Span] = []
    logs: list[LogRecord] = []
    keep = Prefilter([*REGISTRY.markers, *SETTINGS.markers])
    for decoded in read_files(list(paths), Limits(), keep):
        spans.extend(decoded.spans)
        logs.extend(decoded.logs)
    return spans, logs


def assembled(
    spans: Sequence[Span], logs: Sequence[LogRecord] = (), settings: AssemblySettings = SETTINGS
) -> list[Conversation]:
    """The conversations of spans and log records, with the built-in conventions."""
    return assemble(spans, logs, REGISTRY, settings)


def differences(expected: Mapping[str, Any], conversations: Sequence[Conversation]) -> list[str]:
    """How the conversations differ from a sidecar; turns of the same parallel step are compared as a set."""
    wanted = expected.get("conversations") or [expected]
    found: list[str] = []
    if len(wanted) != len(conversations) and any(one.get("conversation_id") for one in wanted):
        found.append(f"{len(conversations)} conversations instead of {len(wanted)}")
    for one in wanted:
        ids = {one.get("conversation_id"), *one.get("alt_conversation_ids", ())} - {None}
        mine = [c for c in conversations if not ids or c.conversation_id in ids]
        objects = [conversation_object(c) for c in mine]
        turns = [turn for o in objects for turn in o["turns"]]  # type: ignore[union-attr]
        found.extend(_compare(one["turns"], [turn for turn in turns if isinstance(turn, dict)]))
        release = one.get("release", expected.get("release"))
        if release is not None and any(c.release != release for c in mine):
            found.append(f"release {[c.release for c in mine]} instead of {release}")
    return found


def _compare(wanted: Sequence[Mapping[str, Any]], turns: Sequence[Mapping[str, Any]]) -> list[str]:
    shown = [turn for turn in turns if not turn.get("nested") and not turn.get("handoff")]
    expected = [turn for turn in wanted if not turn.get("nested") and not turn.get("handoff")]
    if len(shown) != len(expected):
        return [f"{len(shown)} turns instead of {len(expected)}: {[turn['kind'] for turn in shown]}"]
    found: list[str] = []
    for number, (want, got) in enumerate(zip(expected, _aligned(expected, shown), strict=True)):
        found.extend(
            f"turn {number} {key}: {got.get(key)!r} instead of {want.get(key)!r}" for key in _faults(want, got)
        )
    return found


def _aligned(expected: Sequence[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The shown turns, those of a parallel step in the order of the expectation."""
    aligned = list(shown)
    start = 0
    while start < len(expected):
        end = start
        while end < len(expected) and expected[end].get("parallel"):
            end += 1
        if end > start:
            aligned[start:end] = _sorted_like(expected[start:end], aligned[start:end])
        start = end + 1
    return aligned


def _sorted_like(expected: Iterable[Mapping[str, Any]], shown: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    left = list(shown)
    ordered: list[Mapping[str, Any]] = []
    for want in expected:
        best = min(left, key=lambda got: len(_faults(want, got)))
        left.remove(best)
        ordered.append(best)
    return ordered


def _faults(want: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    faults = [] if want["kind"] == got["kind"] else ["kind"]
    if "tool" in want and want["tool"] not in _names(got):
        faults.append("tool")
    faults.extend(key for key in ("args", "result") if key in want and not _equal(want[key], got.get(key)))
    if "text" in want and " ".join(want["text"].split()) != " ".join((got.get("text") or "").split()):
        faults.append("text")
    if bool(want.get("error")) != bool(got.get("error")):
        faults.append("error")
    return faults


def _names(turn: Mapping[str, Any]) -> set[str]:
    tool, action = turn.get("tool", ""), turn.get("action")
    return {f"{tool}{separator}{action}" for separator in (".", "__", "-")} if action else {tool}


def _equal(one: JSON, other: JSON) -> bool:
    return canonical(_opened(one)) == canonical(_opened(other))


def _opened(value: JSON) -> JSON:
    return parse_nested(value).value
