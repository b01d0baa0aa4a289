"""The command line as a whole: exit codes, streams, interrupts."""

import signal
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from types import ModuleType

import pytest

from aem_monitor import __version__
from aem_monitor.cli import main as entry
from aem_monitor.cli.command import COMMANDS, Command, Handler
from aem_monitor.cli.main import main
from aem_monitor.errors import (
    AemMonitorError,
    ConfigError,
    DecodeError,
    DocumentError,
    GoldenError,
    StoreError,
    UsageError,
)
from tests.cli.test_canary import verdicts

Capture = pytest.CaptureFixture[str]


def run(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "aem_monitor", *words], input=stdin, capture_output=True, timeout=60)


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A command ``probe`` that does what ``probe.act`` does."""
    module = ModuleType("tests.cli.probe_command")

    def configure(parser: ArgumentParser) -> None:
        parser.set_defaults(handler=module.__dict__["act"])

    module.__dict__["configure"] = configure
    monkeypatch.setitem(sys.modules, "tests.cli.probe_command", module)
    monkeypatch.setattr(entry, "COMMANDS", (*COMMANDS, Command("probe", "try", "tests.cli.probe_command")))
    return module


def raising(error: BaseException) -> Handler:
    def act(_: Namespace) -> int:
        raise error

    return act


def test_the_version_is_data(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"aem-monitor {__version__}\n"


def test_imports_of_a_command_are_kept_from_the_garbage_collector_and_nothing_else_is() -> None:
    program = (
        "import gc; from aem_monitor.cli.command import Command; Command('probe', 'try', 'json.tool').load(); "
        "print(gc.isenabled(), gc.get_freeze_count() > 0); frozen = gc.get_freeze_count(); "
        "Command('probe', 'try', 'json.tool').load(); print(gc.get_freeze_count() == frozen)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "True True\nTrue\n", ran.stderr


def test_what_an_error_quotes_does_not_steer_the_terminal(probe: ModuleType, capsys: Capture) -> None:
    probe.__dict__["act"] = raising(UsageError("golden.yaml:3: \x1b[2J\u202e\nsecond line"))
    assert main(["probe"]) == 2
    assert capsys.readouterr().err == "golden.yaml:3: \\x1b[2J\\u202e\nsecond line\n"


def test_help_names_every_command(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for command in COMMANDS:
        assert f"    {command.name} " in out
        assert command.summary in " ".join(out.split())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command: Command, capsys: Capture) -> None:
    assert main([command.name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: aem-monitor {command.name} ")


@pytest.mark.parametrize(
    "words", [[], ["nonsense"], ["config"], ["config", "check", "--nonsense"], ["--log-level", "x"]]
)
def test_a_wrong_command_line_is_exit_2_and_says_so_on_standard_error(words: list[str], capsys: Capture) -> None:
    assert main(words) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert "usage: aem-monitor" in streams.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("file.json:3: broken"), 2),
        (ConfigError("a"), 2),
        (GoldenError("a"), 2),
        (DecodeError("a"), 2),
        (DocumentError(["a"]), 2),
        (StoreError("disk full"), 1),
        (AemMonitorError("a"), 1),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
)
def test_an_error_has_its_exit_code_and_no_traceback(
    probe: ModuleType, capsys: Capture, error: BaseException, code: int
) -> None:
    probe.__dict__["act"] = raising(error)
    assert main(["probe"]) == code
    streams = capsys.readouterr()
    assert streams.out == ""
    assert str(error) in streams.err
    assert "Traceback" not in streams.err


def test_a_defect_is_not_hidden(probe: ModuleType) -> None:
    probe.__dict__["act"] = raising(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main(["probe"])


@pytest.fixture
def gate(probe: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The command ``probe``, whose 1 is an answer."""
    command = Command("probe", "try", "tests.cli.probe_command", failed=2)
    monkeypatch.setattr(entry, "COMMANDS", (*COMMANDS, command))
    return probe


def test_no_failure_ends_with_what_is_an_answer_of_the_command(gate: ModuleType, capsys: Capture) -> None:
    for error in (StoreError("disk full"), ZeroDivisionError("\x1b by zero"), RecursionError(), MemoryError()):
        gate.__dict__["act"] = raising(error)
        assert main(["probe"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "aem-monitor: disk full"
    assert said[1] == "aem-monitor: a defect: ZeroDivisionError: \\x1b by zero; --log-level debug tells where"
    assert len(said) == 4


def test_a_defect_tells_where_it_is_when_asked(gate: ModuleType, capsys: Capture) -> None:
    gate.__dict__["act"] = raising(ZeroDivisionError())
    assert main(["--log-level", "debug", "probe"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_the_exit_code_of_a_command_is_kept(probe: ModuleType) -> None:
    probe.__dict__["act"] = lambda _: 3
    assert main(["probe"]) == 3


def test_a_reader_that_leaves_early_causes_no_noise() -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m aem_monitor config schema | head -c 1"],
        capture_output=True,
        timeout=60,
    )
    assert done.stdout == b"{"
    assert done.stderr == b""


def test_an_interrupt_ends_without_noise() -> None:
    command = [sys.executable, "-m", "aem_monitor", "compare", "--jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"a": 1, "b": 1}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b""


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from aem_monitor.cli.main import main; main(['--help']);"
        "heavy = {'pydantic', 'numpy', 'kafka', 'sqlalchemy', 'rich', 'uvicorn', 'opentelemetry'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    config = tmp_path / "aem.yaml"
    config.write_text('store: {replica: "Zürich-✓"}\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "aem_monitor", "config", "check", "--config", str(config)],
        capture_output=True,
        timeout=60,
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert "replica: Zürich-✓" in done.stdout.decode("utf-8")


def test_python_m_is_the_same_command() -> None:
    done = run("--version")
    assert done.stdout.decode() == f"aem-monitor {__version__}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("words", [["golden", "schema"], ["config", "schema"]], ids=" ".join)
def test_a_full_disk_under_standard_output_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aem_monitor", *words], stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert (done.returncode, done.stderr.decode()) == (1, "aem-monitor: standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("shell", "code", "said"),
    [
        (">/dev/null", 1, ""),
        (">/dev/full", 2, "aem-monitor: standard output: No space left on device\n"),
        (">&-", 2, "aem-monitor: standard output: Bad file descriptor\n"),
        ("| true", 141, ""),
        (">/dev/null <&- 2>&-", 1, ""),
        ("--margin 2 2>&-", 2, ""),
        ("--margin 2 2>/dev/full", 2, ""),
    ],
)
def test_the_gate_ends_with_1_only_with_a_regression_that_was_told(
    shell: str, code: int, said: str, tmp_path: Path
) -> None:
    path = verdicts(tmp_path / "v.jsonl", {"1": "." * 20, "2": "x" * 20})
    check = f"{sys.executable} -m aem_monitor canary check --baseline 1 --candidate 2 --verdicts {path}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {check} {shell}"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr.decode()) == (code, said)


def test_an_interrupt_while_a_command_is_loaded_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: Command) -> ModuleType:
        raise KeyboardInterrupt

    monkeypatch.setattr(Command, "load", load)
    assert main(["replay", "x.json"]) == 130


def test_a_fault_that_names_its_place_stands_at_the_start_of_its_line(
    probe: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for said, shown in (("a.yaml:3: bad", "a.yaml:3: bad"), ("no such thing", "aem-monitor: no such thing")):
        monkeypatch.setitem(probe.__dict__, "act", raising(UsageError(said)))
        assert main(["probe"]) == 2
        assert capsys.readouterr().err == f"{shown}\n"


def test_an_empty_test_is_refused_and_never_passes(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "empty.json"
    path.write_text("[]")
    assert main(["score", str(path)]) == 2
    assert "holds no turns" in capsys.readouterr().err
