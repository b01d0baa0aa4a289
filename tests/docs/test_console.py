"""Commands that the documents show print what the documents say."""

from pathlib import Path

import pytest

from tests.docs.console import PAGES, Shown, commands_of, prepared, rewritten, run

SHOWN = [shown for page in PAGES for shown in commands_of(page)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("pasted"))


@pytest.mark.parametrize("shown", SHOWN, ids=str)
def test_a_command_of_a_page_prints_what_the_page_says(shown: Shown, folder: Path) -> None:
    assert run(shown.command, folder) == shown.output, "run python -m tests.docs.console and read the difference"


def test_the_pages_that_explain_by_running_are_run() -> None:
    assert {"attribution.md"} <= {shown.page.name for shown in SHOWN}


PAGE = """\
Text.

```console
$ .venv/bin/python -c \\
    'print("one"); print("two")'
an old
output
$ .venv/bin/aem-monitor --version | wc -l | tr -d ' '
1
```

```console
$ aem-monitor replay yours.json
whatever
```
"""


def test_blocks_are_read_run_and_written_anew(tmp_path: Path, folder: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    first, second = commands_of(page)
    assert (first.line, first.output) == (4, "an old\noutput")
    assert (second.line, second.output) == (8, "1")
    assert run(first.command, folder) == "one\ntwo"
    assert rewritten(PAGE, folder) == PAGE.replace("an old\noutput", "one\ntwo")
