"""``aem-monitor canary watch``."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest

from aem_monitor.canary.gate import Rules, State
from aem_monitor.canary.played import Release
from aem_monitor.cli.canarywatch import StoreLooks, follow
from aem_monitor.cli.main import main
from aem_monitor.cli.progress import status_line
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.errors import UsageError
from aem_monitor.store.store import Store
from tests.store.results import run


@dataclass
class Waiting:
    """A clock that sleeping moves; ``then`` happens in the first sleeps, one in each."""

    then: list[Callable[[], object]] = field(default_factory=list)
    now: float = 0.0
    said: list[str] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.then:
            self.then.pop(0)()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    record(path, "1", "." * 40)
    return path


@pytest.fixture
def config(database: Path, tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(f"store:\n  url: sqlite:///{database}\n", encoding="utf-8")
    return path


def record(database: Path, release: str, pattern: str, agent: str = "reporting") -> None:
    """A run a letter: ``.`` passes, ``x`` fails."""
    with Store(f"sqlite:///{database}", replica="a") as store:
        for number, letter in enumerate(pattern):
            one = run(f"{agent}-{release}-{number}", release=release, agent=agent, test_pass=letter == ".")
            store.record_final(one, [], stored_at=float(number))


def watch(waiting: Waiting, config: Path, every: float = 10.0) -> State:
    loaded: Config = load_config(config, {})
    look = StoreLooks(loaded, None, ("1", "2"), Rules())
    return follow(look, waiting.said.append, 60.0, every, waiting.clock, waiting.sleep).result.state


def command(config: Path, *more: str) -> int:
    return main(["canary", "watch", "--baseline", "1", "--candidate", "2", "--config", str(config), *more])


def test_the_first_verdict_ends_the_watch(database: Path, config: Path) -> None:
    waiting = Waiting([lambda: record(database, "2", "xx"), lambda: record(database, "2", "x" * 20)])
    assert watch(waiting, config) is State.REGRESSION
    assert waiting.now == 20.0
    assert waiting.said[0] == "canary: 0 pairs; not enough evidence: no dialog ran on both releases; 1m left"
    assert waiting.said[1].startswith("canary: 2 pairs; not enough evidence: too few pairs")


def test_the_last_look_is_at_the_deadline(database: Path, config: Path) -> None:
    waiting = Waiting([lambda: None, lambda: record(database, "2", "x" * 20)])
    assert watch(waiting, config, every=40.0) is State.REGRESSION
    assert waiting.now == 60.0


def test_without_runs_the_deadline_is_not_enough_evidence(config: Path) -> None:
    waiting = Waiting()
    assert watch(waiting, config) is State.NOT_ENOUGH_EVIDENCE
    assert waiting.now == 60.0


def test_a_store_that_is_away_for_a_while_is_waited_for(
    database: Path, config: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = database.with_name("elsewhere.db")

    def back() -> None:
        elsewhere.rename(database)
        record(database, "2", "x" * 20)

    waiting = Waiting([lambda: database.rename(elsewhere), lambda: None, back])
    with caplog.at_level("INFO"):
        assert watch(waiting, config) is State.REGRESSION
    assert waiting.now == 30.0
    assert waiting.said[1] == "canary: the store cannot be read; 50s left"
    told = [one.message for one in caplog.records if one.message.startswith("canary: the store")]
    assert [one.split(",")[0] for one in told] == [
        "canary: the store cannot be read",
        "canary: the store can be read again",
    ]


def test_a_store_that_stays_away_is_neither_a_regression_nor_a_pass(database: Path, config: Path) -> None:
    look = StoreLooks(load_config(config, {}), None, ("1", "2"), Rules())
    database.unlink()
    waiting = Waiting()
    with pytest.raises(UsageError, match=r"nothing is known at the deadline: .* there is no store"):
        follow(look, waiting.said.append, 60.0, 10.0, waiting.clock, waiting.sleep)
    assert waiting.said[0] == "canary: the store cannot be read; 1m left"


@pytest.mark.parametrize(
    ("pattern", "code", "state"),
    [("." * 40 + "x", 3, "not_enough_evidence"), ("x" * 40, 1, "regression")],
)
def test_it_prints_and_exits_as_check_does(
    pattern: str, code: int, state: str, database: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(database, "2", pattern)
    assert command(config, "--deadline", "100ms", "--format", "json") == code
    printed = capsys.readouterr()
    assert json.loads(printed.out)["state"] == state


def test_earlier_runs_are_left_out(database: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(database, "2", "x" * 30 + "." * 10)
    words = ["--deadline", "100ms", "--format", "json", "--since", "1970-01-01T00:00:30Z"]
    assert command(config, *words) == 3
    found = json.loads(capsys.readouterr().out)["candidate"]
    assert (found["runs"], found["passed"], found["before"]) == (10, 10, 30)


def test_a_pass_exits_with_0(database: Path, config: Path) -> None:
    record(database, "2", "." * 40)
    assert command(config, "--deadline", "100ms", "--tolerance", "0.2") == 0


def test_several_agents_end_it_at_once(database: Path, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(database, "2", ".", agent="bank")
    assert command(config) == 2
    assert "give the agent, one of: bank, reporting" in capsys.readouterr().err


def test_a_store_that_is_not_there_ends_it_at_once(
    database: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database.unlink()
    assert command(config) == 2
    assert "there is no store" in capsys.readouterr().err
    database.write_bytes(b"no database " * 1000)
    assert command(config) == 2


@pytest.mark.parametrize(
    ("wrong", "said"), [("10", "written with its unit"), ("0s", "give 100ms to 30d"), ("31d", "give 100ms to 30d")]
)
def test_times_that_cannot_be_used_are_refused(
    wrong: str, said: str, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(config, "--every", wrong) == 2
    assert said in capsys.readouterr().err


def test_a_look_at_a_store_without_anything_new_reads_no_run(
    database: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    played = Store.played

    def counted(store: Store, agent: str | None, release: str, since: float | None = None) -> Release:
        read.append(release)
        return played(store, agent, release, since)

    monkeypatch.setattr(Store, "played", counted)
    waiting = Waiting([lambda: None, lambda: record(database, "2", "x"), lambda: None])
    watch(waiting, config)
    assert read == ["1", "2", "1", "2"]
    assert waiting.said[2].startswith("canary: 1 pairs;")


def test_a_release_that_has_no_run_yet_is_told_once(config: Path, caplog: pytest.LogCaptureFixture) -> None:
    watch(Waiting(), config)
    [told] = [one.message for one in caplog.records if one.levelname == "WARNING"]
    assert told.startswith("canary: no final run of a reviewed dialog belongs to the candidate '2' yet; the last rele")
    assert told.endswith("releases seen: '1' of 'reporting'")


def test_an_answer_that_is_not_of_the_deadline_says_so(
    database: Path, config: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert watch(Waiting([database.unlink]), config) is State.NOT_ENOUGH_EVIDENCE
    assert caplog.records[-1].message.startswith("canary: the answer is that of the last look at which")


@contextmanager
def watching(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "aem_monitor", "canary", "watch", "--baseline", "1", "--candidate", "2", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


STOPPED = "aem-monitor: canary: stopped before there was a verdict\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_with_a_line_and_no_verdict(number: int, code: int, config: Path) -> None:
    with watching("--config", str(config)) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any("canary: 0 pairs; not enough evidence" in line for line in lines)
        process.send_signal(number)
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (code, "", STOPPED)


def test_a_server_that_does_not_answer_does_not_hold_up_a_signal(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql+psycopg://aem@127.0.0.1:{silent.getsockname()[1]}/aem"
        config.write_text(f"store:\n  url: {url}\n", encoding="utf-8")
        with watching("--config", str(config)) as process:
            silent.settimeout(60)
            with silent.accept()[0]:
                process.send_signal(signal.SIGTERM)
                out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (143, "", STOPPED)


def test_a_server_that_does_not_answer_does_not_hold_up_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("aem_monitor.cli.canary.LAST_LOOK", 0.2)
    config = tmp_path / "c.yaml"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql+psycopg://aem@127.0.0.1:{silent.getsockname()[1]}/aem"
        config.write_text(f"store:\n  url: {url}\n", encoding="utf-8")
        assert command(config, "--deadline", "100ms") == 2
    said = capsys.readouterr().err
    assert said == "aem-monitor: canary: the store does not answer, and the deadline has passed\n"


def test_a_way_out_that_gets_stuck_is_cut_short() -> None:
    code = (
        "import os, signal, time; from aem_monitor.cli.stopping import Ending, stopped_by_signals\n"
        "with stopped_by_signals({signal.SIGTERM: Ending('stopped', 143)}):\n"
        "    try: os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)\n"
        "    finally: time.sleep(60)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (143, "stopped\n")


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_waited_for_is_shown_on_a_terminal_and_logged_elsewhere_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    now = iter((0.0, 0.0, 59.0, 60.0, 60.0))
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    file = StringIO()
    with caplog.at_level("INFO"), status_line("first", file) as report:
        for said in ("second", "third", "fourth"):
            report(said)
    monkeypatch.undo()
    assert ([one.message for one in caplog.records], file.getvalue()) == (["second", "fourth"], "")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with status_line("first", terminal) as report:
        report("then [b] \x1b[2J")
    assert "then [b] \\x1b[2J" in terminal.getvalue()
