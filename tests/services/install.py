#!/usr/bin/env python3
"""Install what the service tests need: Java and Maven for Apache Kafka, Prometheus, Alertmanager, PostgreSQL,
systemd, and fetch their files; and frameworks of agents from PyPI.

Run from the project's root: ``python -m tests.services.install``. As root it installs Debian packages that are
missing; otherwise it says which. Exit code 0 when everything is there, 1 when something is missing.
"""

import os
import shutil
import subprocess
import sys

from tests.services.agents import agents_python
from tests.services.alertmanager import amtool
from tests.services.cache import ServiceUnavailableError
from tests.services.kafka import BOOTSTRAP_VARIABLE, kafka_libraries
from tests.services.postgresql import SERVER_VARIABLE, postgresql_binaries
from tests.services.prometheus import prometheus_binary, promtool

PACKAGES = {"systemd-analyze": "systemd"}
KAFKA_PACKAGES = {"java": "default-jre-headless", "mvn": "maven"}


def _apt_get(*arguments: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-q", "-y", *arguments], check=True, env=environment, stdin=subprocess.DEVNULL)


def install_packages() -> list[str]:
    """Install the Debian packages of missing commands where that is allowed; return those still missing."""
    packages = PACKAGES if os.environ.get(BOOTSTRAP_VARIABLE) else PACKAGES | KAFKA_PACKAGES
    missing = [package for command, package in packages.items() if shutil.which(command) is None]
    if not os.environ.get(SERVER_VARIABLE) and not _has_postgresql():
        missing.append("postgresql")
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return missing
    # The package lists are also needed by "apt-get download prometheus", which a fresh image has never fetched.
    _apt_get("update")
    if missing:
        _apt_get("install", "--no-install-recommends", *missing)
    return []


def _has_postgresql() -> bool:
    try:
        postgresql_binaries()
    except ServiceUnavailableError:
        return False
    return True


def main() -> int:
    """Install, fetch, report."""
    missing = install_packages()
    if missing:
        print(f"missing: run as root: apt-get install {' '.join(missing)}", file=sys.stderr)
    failures = 0
    services = [prometheus_binary, promtool, amtool, agents_python]
    if not os.environ.get(BOOTSTRAP_VARIABLE):
        services.append(kafka_libraries)
    if not os.environ.get(SERVER_VARIABLE):
        services.append(postgresql_binaries)
    for locate in services:
        try:
            print(f"{locate.__name__}: {locate()}")
        except ServiceUnavailableError as error:
            failures += 1
            print(f"missing: {error}", file=sys.stderr)
    return 1 if failures or missing else 0


if __name__ == "__main__":
    sys.exit(main())
