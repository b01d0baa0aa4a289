"""The documents lead where they say, and are all to be found from the README."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "deploy" / "docs").rglob("*.md")])


def links(document: Path) -> list[tuple[str, str]]:
    """Targets inside the project: path and anchor."""
    found = re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]+))?\)", document.read_text(encoding="utf-8"))
    return [(path, anchor) for path, anchor in found if "://" not in path and (path or anchor)]


def anchors(document: Path) -> set[str]:
    """Anchors of the headings, as the usual renderers form them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    for path, anchor in links(document):
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{path}#{anchor}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        if document in reached:
            continue
        reached.add(document)
        targets = [(document.parent / path).resolve() for path, _ in links(document) if path.endswith(".md")]
        waiting += [target for target in targets if target.exists()]
    assert set(DOCUMENTS) <= reached
