"""The README says what is there."""

import re
import textwrap
from pathlib import Path

from aem_monitor.cli.command import COMMANDS
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.golden.lint import lint_files

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(first_line: str) -> str:
    """The indented block of the README that begins with a line."""
    lines = README.splitlines()
    start = next(number for number, line in enumerate(lines) if line.strip() == first_line)
    indent = len(lines[start]) - len(lines[start].lstrip())
    taken = []
    for line in lines[start:]:
        if line.strip() and len(line) - len(line.lstrip()) < indent:
            break
        taken.append(line)
    return textwrap.dedent("\n".join(taken))


def test_the_make_targets_that_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"make (demo|test|lint|types|docs|clean)\b", README))
    assert {"demo", "test"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_command_is_in_its_table() -> None:
    for command in COMMANDS:
        assert f"| `aem-monitor {command.name} " in README


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (ROOT / target).exists(), target


def test_its_golden_dialog_can_be_used(tmp_path: Path) -> None:
    path = tmp_path / "order-status.yaml"
    path.write_text(block("dialog: order-status"))
    assert lint_files([path]) == []


def test_its_configurations_can_be_used(tmp_path: Path) -> None:
    for first_line in ("# aem-monitor.yaml", "ingest:"):
        path = tmp_path / "aem-monitor.yaml"
        path.write_text(block(first_line).split("\n\n")[0])
        assert load_config(path, {}) != Config()


def test_the_ports_that_it_names_are_the_defaults() -> None:
    config = load_config(None, {})
    assert f"`{config.ingest.otlp_http.listen}`" in README
    assert f"`{config.metrics.listen}`" in README
