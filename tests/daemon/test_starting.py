"""How a daemon starts, or says why it cannot."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.running import Running, eventually
from tests.services.process import free_port


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Running]:
    daemon = Running(tmp_path)
    yield daemon
    daemon.close()


def _fails(daemon: Running, **changed: Any) -> tuple[int, str]:
    """Exit code and standard error of a start that must not succeed."""
    path = daemon.folder / "aem-monitor.yaml"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    command = [sys.executable, "-m", "aem_monitor", "run", "--config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("key", ["metrics.listen", "admin.listen", "ingest.otlp_http.listen"])
def test_a_port_in_use_is_said_with_its_key_and_nothing_stays_behind(daemon: Running, key: str) -> None:
    addresses = {
        "metrics.listen": daemon.metrics_address,
        "admin.listen": daemon.admin_address,
        "ingest.otlp_http.listen": daemon.otlp_address,
    }
    host, _, port = addresses[key].rpartition(":")
    with socket.socket() as other:
        other.bind((host, int(port)))
        other.listen()
        code, said = _fails(daemon)
    assert code == 2
    assert key in said
    assert addresses[key] in said
    assert "Traceback" not in said
    for name, address in addresses.items():
        if name != key:
            assert daemon.request(address, "/-/healthy")[0] == 0, "nothing is left running"


@pytest.mark.parametrize("section", ["metrics", "admin"])
def test_a_listener_beyond_loopback_needs_the_word_insecure(daemon: Running, section: str) -> None:
    code, said = _fails(daemon, **{section: {"listen": f"0.0.0.0:{free_port()}"}})
    assert code == 2
    assert "insecure" in said
    assert f"{section}.listen" in said


def test_an_otlp_listener_beyond_loopback_needs_the_word_insecure(daemon: Running) -> None:
    code, said = _fails(daemon, ingest={"otlp_http": {"listen": f"0.0.0.0:{free_port()}"}})
    assert code == 2
    assert "insecure" in said


def test_an_unknown_key_is_said_with_file_and_line(daemon: Running) -> None:
    path = daemon.folder / "aem-monitor.yaml"
    path.write_text(f"golden:\n  paths: [{daemon.golden.parent}]\nstroe: {{}}\n")
    command = [sys.executable, "-m", "aem_monitor", "run", "--config", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"{path}:3" in done.stderr
    assert "stroe" in done.stderr


def test_no_golden_dialog_is_an_error(daemon: Running) -> None:
    daemon.golden.unlink()
    code, said = _fails(daemon)
    assert code == 2
    assert f"{daemon.golden.parent}" in said
    assert "no golden dialogs" in said


def test_a_store_that_cannot_be_opened_is_said(daemon: Running) -> None:
    code, said = _fails(daemon, store={"url": "sqlite:////nowhere/at/all/store.db"})
    assert code != 0
    assert "/nowhere/at/all/store.db" in said
    assert "Traceback" not in said


def test_a_broker_that_cannot_be_reached_leaves_otlp_working_and_is_said(tmp_path: Path) -> None:
    broker = f"127.0.0.1:{free_port()}"
    daemon = Running(tmp_path, ingest={"kafka": {"bootstrap_servers": [broker]}})
    try:
        daemon.start()
        status, text = daemon.request(daemon.metrics_address, "/-/ready")
        assert status == 503
        assert f"source kafka has not been able to receive yet from {broker}" in text
        assert daemon.get("/-/healthy") == 200
        daemon.play()
        eventually(lambda: daemon.scored(1), "OTLP works all the same")
        assert daemon.value("aem_monitor_source_up", source="kafka") == 0
        assert daemon.value("aem_monitor_source_up", source="otlp_http") == 1
        eventually(lambda: broker in daemon.log, "the log names the broker")
        assert " kafka." not in daemon.log, "what the client says of each attempt is left out"
        assert daemon.stop() == 0
    finally:
        daemon.close()


def test_a_second_daemon_with_the_same_replica_name_does_not_start(daemon: Running) -> None:
    """Both would count into the same totals without knowing of each other."""
    daemon.start()
    path = daemon.folder / "aem-monitor.yaml"
    own = path.read_text()
    ports = {
        "metrics": {"listen": f"127.0.0.1:{free_port()}"},
        "admin": {"listen": f"127.0.0.1:{free_port()}"},
        "ingest": {"otlp_http": {"listen": f"127.0.0.1:{free_port()}"}},
    }
    code, said = _fails(daemon, **ports)
    assert code != 0
    assert "store.replica" in said
    assert "'tests'" in said
    assert "Traceback" not in said
    daemon.kill()
    path.write_text(own)
    daemon.start()
    assert daemon.get("/-/healthy") == 200


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_store_in_memory_is_warned_of(tmp_path: Path, url: str) -> None:
    daemon = Running(tmp_path, store={"url": url})
    try:
        daemon.start()
        assert "warning aem_monitor.daemon: store.url is a database in memory" in daemon.log
    finally:
        daemon.close()


@pytest.mark.skipif(os.name != "posix", reason="removes a file that is open")
def test_readiness_falls_with_the_store_and_health_does_not(daemon: Running) -> None:
    daemon.start()
    eventually(lambda: daemon.get("/-/ready") == 200, "ready")
    for file in [path for path in daemon.folder.glob("verdicts.db*") if path.is_file()]:
        # In place, as a failing disk would: the daemon has the files open.
        with file.open("r+b") as stream:
            stream.write(b"this is no database" * 4000)
    eventually(lambda: daemon.get("/-/ready") == 503, "not ready")
    assert "store" in daemon.request(daemon.metrics_address, "/-/ready")[1]
    assert daemon.get("/-/healthy") == 200
    assert daemon.request(daemon.admin_address, "/api/v1/runs")[0] == 503
