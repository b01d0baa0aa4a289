"""`make` on a machine that lacks something says what."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*words: str) -> subprocess.CompletedProcess[str]:
    # The tests may themselves run under make, whose flags would be inherited.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", "-C", str(ROOT), *words], capture_output=True, text=True, timeout=60, env=environment
    )


def test_without_a_suitable_python_it_says_how_to_get_one(tmp_path: Path) -> None:
    done = make("demo", "PYTHON=", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_a_python_that_cannot_make_environments_names_the_missing_package(tmp_path: Path) -> None:
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = make("demo", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert f"apt-get install python{sys.version_info.major}.{sys.version_info.minor}-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_what_is_installed_already_is_not_installed_again(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    for name in ("bin/python", ".installed", ".installed-dev"):
        (venv / name).touch()
    assert "pip" not in make("-n", "demo", f"VENV={venv}").stdout
    (venv / ".installed").unlink()
    assert "pip --disable-pip-version-check install" in make("-n", "demo", f"VENV={venv}").stdout


def test_make_alone_lists_the_targets() -> None:
    done = make("-s")
    assert done.returncode == 0
    assert "make demo" in done.stdout
    assert "make test" in done.stdout
