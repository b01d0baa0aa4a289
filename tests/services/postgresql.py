"""PostgreSQL for the tests: Debian's server on loopback, with a cluster of its own in a temporary folder."""

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from tests.services.cache import ServiceUnavailableError
from tests.services.process import ServerProcess, free_port

SERVER_VARIABLE: Final = "AEM_TEST_POSTGRESQL"
"""Names a server to use instead, with a role that may create databases: postgresql://role@127.0.0.1:5432/postgres"""

_INSTALL: Final = "apt-get install postgresql (or tests/services/install.py)"
_ROLE: Final = "aem"


def postgresql_binaries() -> Path:
    """The folder of ``initdb`` and ``postgres``. Raises ``ServiceUnavailableError``.

    Debian keeps them out of the path, one folder a version; the newest is taken.
    """
    on_path = shutil.which("initdb")
    if on_path is not None and shutil.which("postgres") is not None:
        return Path(on_path).parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if not versions:
        raise ServiceUnavailableError(f"PostgreSQL is not installed: {_INSTALL}")
    return versions[-1].parent


class PostgresqlServer:
    """A server on a random loopback port whose only role may do everything."""

    def __init__(self, external: str | None = None) -> None:
        """``external`` is the address of a server that is there already; none is started then."""
        self._process: ServerProcess | None = None
        if external is not None:
            self.url = external.replace("postgresql+psycopg://", "postgresql://", 1)
            return
        binaries = postgresql_binaries()
        # It refuses to run as root.
        owner = "nobody" if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="aem-postgresql-"))
        if owner is not None:
            shutil.chown(self._folder, owner)
        data = self._folder / "data"
        made = subprocess.run(
            [str(binaries / "initdb"), "-D", str(data), "-U", _ROLE, "-A", "trust", "-E", "UTF8", "--no-locale", "-N"],
            capture_output=True,
            text=True,
            timeout=120,
            user=owner,
            cwd=self._folder,
        )
        if made.returncode:
            raise ServiceUnavailableError(f"initdb ended with code {made.returncode}: {made.stderr.strip()}")
        port = free_port()
        self.url = f"postgresql://{_ROLE}@127.0.0.1:{port}/postgres"
        self._command = [str(binaries / "postgres"), "-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", ""]
        self._owner = owner
        self.start()

    def start(self) -> None:
        """Start it, on the data that it left, and wait until it answers."""
        self._process = ServerProcess("PostgreSQL", self._command, self._folder / "server.log", user=self._owner)
        self._process.wait_until(self._answers, 60.0)

    def kill(self) -> None:
        """A crash (SIGKILL). Only of a server of one's own."""
        assert self._process is not None
        self._process.kill()
        self._process = None

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    @contextmanager
    def database(self) -> Iterator[str]:
        """A database of its own, as an SQLAlchemy URL; dropped at the end."""
        name = f"aem_test_{secrets.token_hex(6)}"
        self._run(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            base, _, options = self.url.partition("?")
            address = base.rpartition("/")[0].replace("postgresql://", "postgresql+psycopg://", 1)
            yield f"{address}/{name}" + (f"?{options}" if options else "")
        finally:
            self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)

    def close(self) -> None:
        """Stop it and remove its files. One that was there before is left alone."""
        if self._process is not None:
            self._process.stop()
            shutil.rmtree(self._folder, ignore_errors=True)
