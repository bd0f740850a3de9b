"""Links between the documents lead somewhere, each decision has its number, and each event is told of."""

import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from domain.event import Event
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


def test_every_event_is_listed() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = text.partition("one discriminated union")[2].partition("An `EventRecord`")[0]
    kinds = set(TypeAdapter[Event](Event).json_schema()["discriminator"]["mapping"])
    assert set(re.findall(r"`(\w+\.\w+)`", listed)) == kinds
