"""Stores that are in each state of the gate, and what checks and runs the rollout templates beside them."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

from aem_monitor.store import Store
from tests.deploy.files import DEPLOY
from tests.store.results import run

ROLLOUTS: Final = DEPLOY / "rollouts"

STATES: Final = {
    "pass": {"1.0": "." * 60, "1.1": "." * 60},
    "regression": {"1.0": "." * 20, "1.1": "x" * 20},
    "not_enough_evidence": {"1.0": "...", "1.1": "..."},
    "no runs of the candidate": {"1.0": "..."},
    "no runs at all": {},
}
"""Runs of two releases, a letter each: ``.`` passes, ``x`` fails."""


def record(store: Store, state: str) -> None:
    """Bring an empty store into a state."""
    for release, runs in STATES[state].items():
        for number, letter in enumerate(runs):
            one = run(f"{release}-{number}", release=release, agent="support", test_pass=letter == ".")
            store.record_final(one, [], stored_at=float(number))


def stored(folder: Path, state: str) -> Path:
    """A configuration whose store is in a state."""
    url = f"sqlite:///{folder / 'store.db'}"
    with Store(url, replica="a") as store:
        record(store, state)
    path = folder / "aem-monitor.yaml"
    path.write_text(f"store:\n  url: {url}\n", encoding="utf-8")
    return path


def environment(path: Path | None = None, **more: str) -> dict[str, str]:
    """What a script finds: this project's command, or those of a folder before it."""
    folders = [*([str(path)] if path else []), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {"PATH": os.pathsep.join(folders), "HOME": os.environ.get("HOME", "/"), **more}


def ended(words: list[str], environ: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that ended."""
    return subprocess.run(words, env=environ, cwd=cwd, capture_output=True, text=True, timeout=120)


def command_that(folder: Path, does: str) -> Path:
    """A folder with an ``aem-monitor`` of another kind."""
    path = folder / "bin" / "aem-monitor"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
    path.chmod(0o755)
    return path.parent


def shellcheck(script: str, shell: str, folder: Path) -> str:
    """What the linter has to say of a script."""
    path = folder / "script"
    path.write_text(script, encoding="utf-8")
    linter = Path(sys.executable).with_name("shellcheck")
    return subprocess.run([linter, "--shell", shell, path], capture_output=True, text=True).stdout


def faults(document: Mapping[str, Any], schema: Path) -> list[str]:
    """What is wrong with a resource by the schema of its definition; not with its metadata, which no schema closes."""
    properties = _closed(json.loads(gzip.decompress(schema.read_bytes())))["properties"]
    return [
        error.message
        for key, part in properties.items()
        if key in document and key != "metadata"
        for error in Draft202012Validator(part).iter_errors(document[key])
    ]


def _closed(schema: Any) -> Any:
    """As an API server applies it: fields that it does not name are not kept."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _closed(one) for key, one in schema.items()}
    # A field may be called properties as well.
    if isinstance(made.get("properties"), dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made["additionalProperties"] = False
    return made
