"""Binaries of Debian packages, unpacked without installing them."""

import shutil
import subprocess
from pathlib import Path

from tests.services.cache import ServiceUnavailableError


def unpack_package(package: str, directory: Path) -> None:
    """Fetch a package and unpack it into the directory.

    The installed package would bring a system service that starts at once; its binaries alone need no root.

    Raises ``ServiceUnavailableError`` where that cannot be done.
    """
    install = f"apt-get install {package} (or tests/services/install.py)"
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise ServiceUnavailableError(f"{package} is not installed: {install}")
    downloads = directory / "downloads"
    downloads.mkdir()
    fetch = subprocess.run(
        ["apt-get", "download", "-q", package], cwd=downloads, capture_output=True, text=True, timeout=600
    )
    packages = list(downloads.glob(f"{package}_*.deb"))
    if fetch.returncode or not packages:
        raise ServiceUnavailableError(f"{package} could not be fetched: {fetch.stderr.strip()}; {install}")
    subprocess.run(["dpkg", "-x", str(packages[0]), str(directory)], check=True, timeout=120)
    shutil.rmtree(downloads)
