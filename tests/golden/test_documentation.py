import re
from pathlib import Path

import pytest

from aem_monitor.golden.cases import read_cases
from aem_monitor.golden.lint import RULES
from aem_monitor.golden.load import parse_dialog
from aem_monitor.golden.matchers import MATCHER_NAMES
from aem_monitor.golden.recognise import OUTCOMES

DOCS = Path(__file__).parents[2] / "deploy" / "docs"
DIALOGS = (DOCS / "golden-dialogs.md").read_text(encoding="utf-8")
RECOGNITION = (DOCS / "recognition.md").read_text(encoding="utf-8")


def blocks(page: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)


CASES = [block for block in blocks(DIALOGS) if block.startswith("cases:")]


@pytest.mark.parametrize("block", [block for block in (*blocks(DIALOGS), *blocks(RECOGNITION)) if block not in CASES])
def test_every_example_of_the_pages_loads(block: str) -> None:
    whole = block if "dialog:" in block else f"dialog: fragment\nturns: []\n{block}"
    found = parse_dialog(whole.encode(), "page.yaml")
    assert isinstance(found, tuple), [str(fault) for fault in found]


@pytest.mark.parametrize("block", CASES)
def test_every_example_of_a_case_file_is_read(block: str, tmp_path: Path) -> None:
    path = tmp_path / "page.cases.yaml"
    path.write_text(block, encoding="utf-8")
    assert read_cases(path).cases


def rows(page: str, title: str) -> list[str]:
    section = page.split(f"## {title}\n")[1].split("\n## ", maxsplit=1)[0]
    return re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)


def test_the_tables_list_what_there_is() -> None:
    assert rows(DIALOGS, "What lint finds") == list(RULES)
    assert rows(DIALOGS, "Arguments") == list(MATCHER_NAMES)
    assert rows(RECOGNITION, "Outcomes") == list(OUTCOMES)
