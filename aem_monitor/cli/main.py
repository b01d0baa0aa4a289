"""Entry point: ``aem-monitor COMMAND``.

Standard output carries data only, everything else goes to standard error. Exit codes: 0 done, 1 failed while running
(2 where 1 is an answer, see ``Command.failed``), 2 usage or input error, 130 interrupted, 141 the reader of standard
output has gone.
"""

import argparse
import errno
import logging
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper

from aem_monitor import __version__
from aem_monitor.cli.command import COMMANDS, FAILED, Command, Handler
from aem_monitor.cli.logs import LEVELS, start_logging
from aem_monitor.controls import visible
from aem_monitor.errors import AemMonitorError, ConfigError, DecodeError, DocumentError, GoldenError, UsageError

UNUSABLE = 2
INTERRUPTED = 130
READER_GONE = 141

_log = logging.getLogger(__name__)

_PLACED = re.compile(r"[^:\s][^:]*:\d+: ")
_WRITE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EBADF})
_INPUT_ERRORS = (UsageError, ConfigError, GoldenError, DocumentError, DecodeError)


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out one command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    chosen = _chosen(words)
    failed = FAILED if chosen is None else chosen.failed
    try:
        return _carried_out(words, chosen)
    except BrokenPipeError:
        return _without_output(READER_GONE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except AemMonitorError as error:
        # Faults that begin with their place are printed as they are, for editors: FILE:LINE: MESSAGE.
        message = visible(str(error))
        placed = _PLACED.match(message) or "\n" in message
        _say(message if placed else f"aem-monitor: {message}")
        return UNUSABLE if isinstance(error, _INPUT_ERRORS) else failed
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in _WRITE_ERRORS:
            _say(f"aem-monitor: standard output: {error.strerror}")
            return _without_output(failed)
        if failed == FAILED:
            raise
        # Python would end with 1, which is an answer of this command.
        _say(visible(f"aem-monitor: a defect: {type(error).__name__}: {error}; --log-level debug tells where"))
        _log.debug("the defect", exc_info=error)
        return failed


def _carried_out(words: Sequence[str], chosen: Command | None) -> int:
    try:
        arguments = build_parser(chosen).parse_args(words)
    except SystemExit as stop:
        sys.stdout.flush()
        return stop.code if isinstance(stop.code, int) else UNUSABLE
    start_logging(arguments.log_level or "info")
    handler: Handler = arguments.handler
    code = handler(arguments)
    sys.stdout.flush()
    return code


def build_parser(chosen: Command | None) -> argparse.ArgumentParser:
    """The parser of all commands; only the chosen one's arguments are filled in."""
    parser = argparse.ArgumentParser(
        prog="aem-monitor",
        description="Scores every turn of tool-calling agents against golden dialogs, from their trace spans, and "
        "names what broke first.",
        epilog="`aem-monitor COMMAND --help` explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"aem-monitor {__version__}")
    parser.add_argument(
        "--log-level", choices=LEVELS, default=None, help="least severity written to standard error (default: info)"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.summary, description=_sentence(command.summary))
        if command is chosen:
            command.load().configure(sub)
    return parser


def _chosen(words: Sequence[str]) -> Command | None:
    """The command that the words name; its module alone is imported."""
    by_name = {command.name: command for command in COMMANDS}
    return next((by_name[word] for word in words if word in by_name), None)


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _open_streams() -> None:
    """JSON is UTF-8 whatever the locale says. Of streams that were closed (``>&-``) standard output cannot be written,
    standard error is for nobody, and their numbers are not free for the database that is opened next."""
    for name, mode, access in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8", closefd=False))
        elif name != "stdin" and isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _say(message: str) -> None:
    """What nobody can be told any more must not change the exit code."""
    with suppress(OSError):
        print(message, file=sys.stderr)


def _without_output(code: int) -> int:
    """Nobody can be given more (``| head``, a full disk): be silent, also when the interpreter flushes at its end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


if __name__ == "__main__":
    sys.exit(main())
