"""What ``golden test`` found: lines for people, JSON, and JUnit XML for what runs it."""

import re
from collections.abc import Sequence
from typing import Any, TextIO
from xml.etree import ElementTree as ET

from aem_monitor.cli.report import story
from aem_monitor.cli.tables import shown
from aem_monitor.regression.run import Outcome

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def print_outcomes(outcomes: Sequence[Outcome], recorded: Sequence[Outcome], stream: TextIO) -> None:
    """A paragraph for each case that is not as expected, and a line of counts.

    ``recorded`` are those whose present verdict is expected from now on: they are only counted.
    """
    settled = {id(outcome.result) for outcome in recorded}
    open_still = [one for one in outcomes if not one.as_expected and id(one.result) not in settled]
    for outcome in open_still:
        head, *lines = (shown(" ".join(line.split())) for line in _paragraph(outcome))
        stream.write("\n    ".join([head, *lines]) + "\n")
    counts = [f"{len(outcomes)} case{'' if len(outcomes) == 1 else 's'}"]
    counts += [f"{len(recorded)} recorded"] if recorded else []
    counts.append(f"{len(open_still)} not as expected" if open_still else "all as expected")
    stream.write(", ".join(counts) + "\n")


def outcome_objects(outcomes: Sequence[Outcome], recorded: Sequence[Outcome] = ()) -> list[dict[str, Any]]:
    """One JSON object a case. ``recorded`` are those whose present verdict is expected from now on."""
    written = {id(outcome.result) for outcome in recorded}
    return [
        {
            "case": outcome.case.case,
            "file": str(outcome.file.path) if outcome.file is not None else None,
            "line": outcome.line or None,
            "dialog": outcome.case.dialog,
            "conversation": outcome.conversation,
            "play": outcome.case.play,
            "as_expected": outcome.as_expected,
            "recorded": outcome.result is not None and id(outcome.result) in written,
            "differences": [
                {"where": one.where, "expected": one.expected, "got": one.got} for one in outcome.differences
            ],
            "remark": outcome.remark,
        }
        for outcome in outcomes
    ]


def junit_xml(outcomes: Sequence[Outcome]) -> bytes:
    """A test suite a dialog, a test case a case. Characters that XML does not have are written as escapes."""
    failures = sum(not outcome.as_expected for outcome in outcomes)
    root = ET.Element("testsuites", name="golden test", tests=str(len(outcomes)), failures=str(failures))
    for dialog in dict.fromkeys(outcome.case.dialog for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.case.dialog == dialog]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=_xml(dialog),
            tests=str(len(own)),
            failures=str(sum(not outcome.as_expected for outcome in own)),
            errors="0",
        )
        for outcome in own:
            case = ET.SubElement(suite, "testcase", classname=_xml(dialog), name=_xml(outcome.case.case))
            if outcome.file is not None:
                case.set("file", _xml(str(outcome.file.path)))
                case.set("line", str(outcome.line))
            if not outcome.as_expected:
                failure = ET.SubElement(case, "failure", type="verdict")
                failure.set("message", _xml(str(outcome.differences[0])))
                failure.text = _xml("\n".join(_paragraph(outcome)[1:]))
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _paragraph(outcome: Outcome) -> list[str]:
    """Which case, what differs, and what broke first in the run."""
    where = f"{outcome.file.path}:{outcome.line}" if outcome.file is not None else "no case"
    of = f", conversation {outcome.conversation}" if outcome.conversation is not None else ""
    lines = [f"{where}: {outcome.case.case} ({outcome.case.dialog}{of})", *map(str, outcome.differences)]
    if outcome.result is not None and (told := story(outcome.result)):
        lines.append(told)
    if outcome.remark is not None:
        lines.append(outcome.remark)
    return lines


def _xml(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
