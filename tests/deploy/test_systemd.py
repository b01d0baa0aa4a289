"""The systemd unit."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from aem_monitor.config.load import load_config
from tests.deploy.files import DEPLOY, ROOT, seconds

UNIT = DEPLOY / "systemd" / "aem-monitor.service"

EXPOSURE = "15"
"""Highest exposure that `systemd-analyze security` may find, in tenths; 12 is what it finds. The rest is what a daemon
needs: sockets and the network."""


class _Unit(configparser.RawConfigParser):
    """systemd lets a key stand several times; the last one is kept here."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


@pytest.fixture
def service() -> dict[str, str]:
    unit = _Unit(strict=False, delimiters=("=",), comment_prefixes=("#",), interpolation=None)
    unit.read_string(UNIT.read_text())
    return dict(unit["Service"])


def analyze(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`systemd-analyze` on the unit, its program replaced by one that is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd: apt-get install systemd")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/aem-monitor/bin/aem-monitor", "/bin/true"))
    return subprocess.run(["systemd-analyze", *words, str(copy)], capture_output=True, text=True)


@pytest.mark.service
def test_systemd_has_nothing_to_say(tmp_path: Path) -> None:
    done = analyze(tmp_path, "verify")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.service
def test_it_is_locked_in(tmp_path: Path) -> None:
    done = analyze(tmp_path, "security", "--offline=true", f"--threshold={EXPOSURE}")
    assert done.returncode == 0, done.stdout


def test_it_reads_the_file_that_is_shipped_and_writes_where_it_may(service: dict[str, str], tmp_path: Path) -> None:
    path = service["ExecStart"].split("--config ")[1]
    assert Path(path).name == "aem-monitor.yaml"
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    copy = tmp_path / "aem-monitor.yaml"
    copy.write_text((DEPLOY / "systemd" / "aem-monitor.yaml").read_text())
    (tmp_path / "golden").symlink_to(ROOT / "aem_monitor" / "examples" / "golden")
    config = load_config(copy, {})
    assert config.store.url.startswith(f"sqlite:///{service['WorkingDirectory']}/")
    assert config.metrics.listen.host == config.ingest.otlp_http.listen.host == "127.0.0.1"
    assert config.store.replica
    assert seconds(service["TimeoutStopSec"]) > config.shutdown.grace


def test_a_configuration_that_cannot_be_used_is_not_tried_again(service: dict[str, str]) -> None:
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"] == "2"
