"""Links between the documents lead somewhere, and each decision has its number."""

import re
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT, files

DOCUMENTS = [path for path in files() if path.suffix == ".md"]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)")


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as the usual renderers make them."""
    heads = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    broken: list[str] = []
    for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        place = document.parent / target if target else document
        if not place.exists() or (anchor and anchor not in anchors(place)):
            broken.append(target + anchor)
    assert broken == []


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs" / "adr").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))
