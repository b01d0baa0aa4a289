"""Prometheus for the tests: Debian's binary, installed or unpacked from its package into the cache."""

import json
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.services.cache import cached
from tests.services.debian import unpack_package
from tests.services.process import ServerProcess, free_port


def prometheus_binary(name: str = "prometheus") -> Path:
    """Path of ``prometheus`` or ``promtool``. Raises ``ServiceUnavailableError`` when neither route leads to it."""
    installed = shutil.which(name)
    if installed is not None:
        return Path(installed)
    return cached("prometheus-debian", partial(unpack_package, "prometheus")) / "usr" / "bin" / name


def promtool() -> Path:
    """Path of Prometheus' checker for rules, configuration and metrics."""
    return prometheus_binary("promtool")


@dataclass(frozen=True, slots=True)
class QueriedSample:
    """One series of an instant query: its labels and its value."""

    labels: Mapping[str, str]
    value: float


class PrometheusServer:
    """A Prometheus on a random loopback port with a temporary database.

    ``scrape_configs`` are the entries of that section of its configuration; ``rule_files`` are loaded as they are.
    Scrapes and evaluates every second unless a scrape configuration or a group says otherwise. ``alertmanager`` is the
    port of one on loopback, ``lookback`` how old a sample may be that a query finds. ``blocks`` is a folder of blocks,
    as promtool makes them, that become its history.
    """

    def __init__(
        self,
        scrape_configs: Sequence[Mapping[str, Any]],
        rule_files: Sequence[Path] = (),
        *,
        evaluation_interval: str = "1s",
        alertmanager: int | None = None,
        lookback: str = "5m",
        blocks: Path | None = None,
    ) -> None:
        binary = prometheus_binary()
        self._folder = Path(tempfile.mkdtemp(prefix="aem-prometheus-"))
        if blocks is not None:
            shutil.copytree(blocks, self._folder / "data")
        targets = [] if alertmanager is None else [f"127.0.0.1:{alertmanager}"]
        configuration = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": evaluation_interval},
            "scrape_configs": list(scrape_configs),
            "rule_files": [str(path) for path in rule_files],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": targets}]}]},
        }
        config_file = self._folder / "prometheus.yml"
        config_file.write_text(json.dumps(configuration))  # every JSON document is YAML
        self.port = free_port()
        self._process = ServerProcess(
            "Prometheus",
            [
                str(binary),
                f"--config.file={config_file}",
                f"--storage.tsdb.path={self._folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                f"--query.lookback-delta={lookback}",
                "--enable-feature=exemplar-storage",
                "--log.level=warn",
            ],
            self._folder / "prometheus.log",
        )
        self._process.wait_until(self._answers, 60.0)

    @property
    def url(self) -> str:
        """Base address of its web interface."""
        return f"http://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def api(self, path: str, parameters: Mapping[str, str]) -> Any:
        """The ``data`` of an API answer, e.g. ``api("query_exemplars", {...})``; raises ``ValueError`` on an error."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(f"{path} {dict(parameters)}: {error.read().decode(errors='replace')}") from error

    def query(self, expression: str) -> list[QueriedSample]:
        """An instant query now; a scalar result is one sample without labels."""
        data = self.api("query", {"query": expression})
        if data["resultType"] == "scalar":
            return [QueriedSample({}, float(data["result"][1]))]
        return [QueriedSample(series["metric"], float(series["value"][1])) for series in data["result"]]

    def wait_for(
        self, expression: str, wanted: Callable[[list[QueriedSample]], bool], timeout: float = 30.0
    ) -> list[QueriedSample]:
        """Repeat the query until ``wanted(samples)``; raises ``AssertionError`` with the last answer otherwise."""
        deadline = time.monotonic() + timeout
        while True:
            samples = self.query(expression)
            if wanted(samples):
                return samples
            if time.monotonic() > deadline:
                raise AssertionError(f"{expression} stayed at {samples}")
            time.sleep(0.25)

    def close(self) -> None:
        """Stop it and remove its database."""
        self._process.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
