"""``aem-monitor compare --jsonl``: values and replies, one comparison a line."""

import sys
from argparse import ArgumentParser, Namespace

import orjson

from aem_monitor.cli.output import write_json_line
from aem_monitor.errors import UsageError
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.compare import compare_line
from aem_monitor.scoring.scorers.embedded import EmbeddedScorer

MAX_LINE = 16 * 2**20


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Reads JSON lines on standard input and answers each with one line, in order. A line with a and b compares two "
        "values of one argument (optional: kind, reference_date), a line with reference and response two replies."
    )
    parser.add_argument("--jsonl", action="store_true", required=True, help="JSON lines in, JSON lines out")
    parser.set_defaults(handler=_compare)


def _compare(_: Namespace) -> int:
    """Answer each line before the next is read, so that another program can hold a conversation with this one."""
    scorer = EmbeddedScorer()
    number = 0
    while line := sys.stdin.buffer.readline(MAX_LINE + 1):
        number += 1
        if not line.strip():
            continue
        try:
            answer = compare_line(_decoded(line), scorer)
        except UsageError as error:
            raise UsageError(f"standard input, line {number}: {error}") from error
        write_json_line(answer)
        sys.stdout.flush()
    return 0


def _decoded(line: bytes) -> JSON:
    if len(line) > MAX_LINE:
        raise UsageError(f"longer than {MAX_LINE} bytes")
    try:
        value: JSON = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"not valid JSON: {error.msg} (character {error.colno})") from error
    return value
