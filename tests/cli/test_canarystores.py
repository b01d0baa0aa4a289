"""``aem-monitor canary`` over databases that are not as it wants them, SQLite's and PostgreSQL's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, text, update
from sqlalchemy.engine import make_url

from aem_monitor.canary.gate import Rules, State
from aem_monitor.cli.canarywatch import StoreLooks, follow
from aem_monitor.cli.main import main
from aem_monitor.config.load import load_config
from aem_monitor.errors import UsageError
from aem_monitor.store import Store, schema
from aem_monitor.store.database import connect
from tests.cli.test_canarywatch import Waiting
from tests.services.postgresql import PostgresqlServer
from tests.store.results import run


def record(url: str, release: str, pattern: str, agent: str = "reporting") -> None:
    with Store(url, replica="a") as store:
        for number, letter in enumerate(pattern):
            one = run(f"{agent}-{release}-{number}", release=release, agent=agent, test_pass=letter == ".")
            store.record_final(one, [], stored_at=float(number))


def set_version(url: str, version: int) -> None:
    """As a daemon of another version leaves it."""
    engine = connect(url)
    with engine.begin() as connection:
        connection.execute(update(schema.schema_versions).values(version=version))
    engine.dispose()


def tables(url: str) -> list[str]:
    engine = connect(url)
    try:
        return inspect(engine).get_table_names()
    finally:
        engine.dispose()


class AnyDatabase:
    """What must hold on every database; ``empty`` is the URL of one that holds nothing."""

    @pytest.fixture
    def url(self, empty: str) -> str:
        record(empty, "1", "." * 40)
        return empty

    @pytest.fixture
    def config(self, empty: str, tmp_path: Path) -> Path:
        path = tmp_path / "c.yaml"
        path.write_text(f"store:\n  url: {empty}\n", encoding="utf-8")
        return path

    def command(self, action: str, config: Path) -> int:
        return main(["canary", action, "--baseline", "1", "--candidate", "2", "--config", str(config)])

    def watch(self, waiting: Waiting, config: Path) -> State:
        look = StoreLooks(load_config(config, {}), None, ("1", "2"), Rules())
        return follow(look, waiting.said.append, 60.0, 10.0, waiting.clock, waiting.sleep).result.state

    def away(self, url: str) -> None:
        raise NotImplementedError

    def back(self, url: str) -> None:
        raise NotImplementedError

    @pytest.mark.parametrize("action", ["check", "watch"])
    @pytest.mark.parametrize(
        ("version", "said"),
        [
            (schema.SCHEMA_VERSION - 1, "or start a daemon of this one, which brings the database up to date"),
            (schema.SCHEMA_VERSION + 1, "use the program of the daemon's version"),
        ],
    )
    def test_tables_of_another_version_are_left_alone_and_end_it_at_once(
        self, url: str, config: Path, action: str, version: int, said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        set_version(url, version)
        assert self.command(action, config) == 2
        assert said in capsys.readouterr().err
        set_version(url, schema.SCHEMA_VERSION)
        assert self.command("check", config) == 3

    def test_a_database_of_something_else_stays_as_it_is(
        self, empty: str, config: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        connect(empty).connect().close()
        assert self.command("check", config) == 2
        assert "the database holds nothing of aem-monitor" in capsys.readouterr().err
        assert tables(empty) == []

    def test_a_daemon_of_another_version_in_between_is_waited_for(self, url: str, config: Path) -> None:
        def later() -> None:
            set_version(url, schema.SCHEMA_VERSION + 1)

        def earlier() -> None:
            set_version(url, schema.SCHEMA_VERSION)
            record(url, "2", "x" * 20)

        waiting = Waiting([later, earlier])
        assert self.watch(waiting, config) is State.REGRESSION
        assert waiting.said[1] == "canary: the store cannot be read; 50s left"

    def test_a_database_that_is_away_in_between_is_waited_for(self, url: str, config: Path) -> None:
        def back() -> None:
            self.back(url)
            record(url, "2", "x" * 20)

        waiting = Waiting([lambda: self.away(url), back])
        assert self.watch(waiting, config) is State.REGRESSION
        assert waiting.said[1] == "canary: the store cannot be read; 50s left"

    def test_a_database_that_is_away_at_first_ends_it_at_once(
        self, url: str, config: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.away(url)
        assert (self.command("check", config), self.command("watch", config)) == (2, 2)
        assert len(capsys.readouterr().err.splitlines()) == 2
        self.back(url)

    def test_a_second_agent_that_appears_ends_it_when_it_does(self, url: str, config: Path) -> None:
        waiting = Waiting([lambda: record(url, "2", "."), lambda: record(url, "2", ".", agent="bank")])
        with pytest.raises(UsageError, match="give the agent, one of: bank, reporting"):
            self.watch(waiting, config)
        assert waiting.now == 20.0


class TestSQLite(AnyDatabase):
    @pytest.fixture
    def empty(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'store.db'}"

    def away(self, url: str) -> None:
        path = Path(str(make_url(url).database))
        path.rename(path.with_suffix(".away"))

    def back(self, url: str) -> None:
        path = Path(str(make_url(url).database))
        path.with_suffix(".away").rename(path)


class TestPostgreSQL(AnyDatabase):
    @pytest.fixture
    def empty(self, postgresql_server: PostgresqlServer) -> Iterator[str]:
        with postgresql_server.database() as url:
            yield url

    @pytest.fixture(autouse=True)
    def server(self, postgresql_server: PostgresqlServer) -> None:
        self._server = postgresql_server.url.replace("postgresql://", "postgresql+psycopg://", 1)

    def away(self, url: str) -> None:
        self._rename(make_url(url).database, "away")

    def back(self, url: str) -> None:
        self._rename("away", make_url(url).database)

    def _rename(self, name: str | None, to: str | None) -> None:
        engine = connect(self._server).execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f'ALTER DATABASE "{name}" RENAME TO "{to}"'))
        engine.dispose()
