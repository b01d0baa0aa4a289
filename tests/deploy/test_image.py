"""The container image: what can be said of it without building it."""

import json
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from aem_monitor.config.root import Config
from tests.deploy.files import DEPLOY, ROOT

DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
LOCK = DEPLOY / "docker" / "requirements.txt"


def instructions() -> list[tuple[str, str]]:
    """Instruction and arguments, with continued lines joined and comments left out."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def final_stage() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word, rest in instructions():
        if word == "FROM":
            found = {}
        found.setdefault(word, []).append(rest)
    return found


def locked() -> dict[str, Requirement]:
    requirements = re.findall(r"^([a-z].*?)(?: \\)?$", LOCK.read_text(), re.MULTILINE)
    return {canonicalize_name(entry.name): entry for entry in map(Requirement, requirements)}


def test_the_linter_has_nothing_to_say() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, "--no-color", DOCKERFILE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_base_images_are_pinned_to_a_version_and_the_last_one_holds_no_compiler() -> None:
    bases = [rest.split()[0] for word, rest in instructions() if word == "FROM"]
    versions = [re.fullmatch(r"python:(\d+\.\d+\.\d+)-(slim-)?[a-z]+", base) for base in bases]
    assert all(versions), bases
    assert len({match[1] for match in versions if match}) == 1, "built with one Python, run with another"
    assert "-slim-" in bases[-1]
    assert not any("apt-get" in line or "pip install" in line for line in final_stage()["RUN"])


def test_the_python_of_the_image_is_one_that_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    match = re.search(r"python:(\d+\.\d+)\.", DOCKERFILE.read_text())
    assert match
    assert f"Programming Language :: Python :: {match[1]}" in project["classifiers"]


def test_it_runs_as_a_numbered_user_that_owns_the_only_place_it_writes_to() -> None:
    stage = final_stage()
    assert stage["USER"] == ["10001:10001"]
    assert json.loads(stage["VOLUME"][0]) == stage["WORKDIR"] == ["/var/lib/aem-monitor"]
    assert "--owner=10001 --group=10001 --mode=0700 /var/lib/aem-monitor" in stage["RUN"][0]


def test_it_starts_the_daemon_without_a_shell_and_exposes_the_default_ports() -> None:
    stage, config = final_stage(), Config()
    assert json.loads(stage["ENTRYPOINT"][0]) == ["aem-monitor"]
    assert json.loads(stage["CMD"][0]) == ["run", "--config", "/etc/aem-monitor/aem-monitor.yaml"]
    ports = [config.ingest.otlp_grpc.listen.port, config.ingest.otlp_http.listen.port, config.metrics.listen.port]
    assert stage["EXPOSE"] == [" ".join(map(str, ports))]


class _Health(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/-/healthy" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""


@pytest.fixture
def health_port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_tells_a_daemon_that_answers(
    health_port: int, status: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Health, "status", status)
    _, _, command = final_stage()["HEALTHCHECK"][0].partition("CMD ")
    program, *arguments = json.loads(command)
    assert program == "python"
    port = str(Config().metrics.listen.port)
    assert arguments[-1].count(port) == 1
    arguments[-1] = arguments[-1].replace(port, str(health_port))
    assert subprocess.run([sys.executable, *arguments], capture_output=True).returncode == code


def test_what_is_installed_is_pinned_with_hashes_and_fits_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = ("grpc", "judge", "postgresql")
    wanted = [*project["dependencies"], *(line for name in extras for line in project["optional-dependencies"][name])]
    found = locked()
    for requirement in map(Requirement, wanted):
        (pin,) = found[canonicalize_name(requirement.name)].specifier
        assert pin.operator == "=="
        assert requirement.specifier.contains(pin.version), requirement
    blocks = re.split(r"^(?=[a-z])", LOCK.read_text(), flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in block for block in blocks)
    assert len(blocks) == len(found)


def test_the_context_holds_what_the_build_copies_and_nothing_else() -> None:
    allowed = {
        line[1:]
        for line in (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    sources = {
        source
        for word, rest in instructions()
        if word == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    assert sources == allowed
    assert all((ROOT / source).exists() for source in sources)
