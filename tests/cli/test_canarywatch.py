"""``aem-monitor canary watch``."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest

from aem_monitor.canary.gate import Rules, State
from aem_monitor.cli.canarywatch import follow, store_look
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
    look = store_look(loaded, None, ("1", "2"), Rules())
    return follow(look, waiting.said.append, 60.0, every, waiting.clock, waiting.sleep).result.state


def command(config: Path, *more: str) -> int:
    return main(["canary", "watch", "--baseline", "1", "--candidate", "2", "--config", str(config), *more])


def test_the_first_verdict_ends_the_watch(database: Path, config: Path) -> None:
    waiting = Waiting([lambda: record(database, "2", "xx"), lambda: record(database, "2", "x" * 20)])
    assert watch(waiting, config) is State.REGRESSION
    assert waiting.now == 20.0
    assert waiting.said[0] == "canary: 0 pairs; not enough evidence: no dialog ran on both releases; 1m left"
    assert waiting.said[1].startswith("canary: 2 pairs; not enough evidence: about ")


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
    told = [one.message for one in caplog.records if one.message.startswith("canary:")]
    assert [one.split(",")[0] for one in told] == [
        "canary: the store cannot be read",
        "canary: the store can be read again",
    ]


def test_a_store_that_stays_away_is_neither_a_regression_nor_a_pass(database: Path, config: Path) -> None:
    look = store_look(load_config(config, {}), None, ("1", "2"), Rules())
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
    assert (json.loads(printed.out)["state"], printed.err) == (state, "")


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


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_waited_for_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal, file = Terminal(), StringIO()
    for stream in (terminal, file):
        with status_line("first", stream) as report:
            report("then [b]")
    assert "then [b]" in terminal.getvalue()
    assert file.getvalue() == ""
