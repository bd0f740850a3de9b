"""Links lead somewhere, files that documents name are there, and decisions, commands and events are all listed."""

import ast
import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from domain.event import Event
from tests.support.source_tree import ROOT, files, packages

DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
DOCUMENTS = [path for path in files() if path.suffix == ".md"]
PLACE = re.compile(
    rf"`((?:{'|'.join([*packages(), 'scripts', 'tests'])})/(?:[\w./-]+\.(?:py|md|json|toml)|(?:[\w.-]+/)*))`"
)
"""A file or a folder of ours, as documents name it."""
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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_are_named_are_there(document: Path) -> None:
    """Decisions and the changelog are of their day, and name what was there then."""
    if document in DECISIONS or document.name == "CHANGELOG.md":
        return
    named = PLACE.findall(document.read_text(encoding="utf-8"))
    assert [place for place in named if not (ROOT / place).exists()] == []


STATION = re.compile(r"`([\w/]+\.py):([\w.]+)`")


def defined(file: Path) -> set[str]:
    """Functions and classes of a module, and methods as ``Class.method``."""
    names: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            names.update(f"{node.name}.{one.name}" for one in inner)
    return names


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_that_are_named_are_there(document: Path) -> None:
    """Named as a place in a file, such as ``agent/run.py:run``."""
    if document in DECISIONS or document.name == "CHANGELOG.md":
        return
    named = STATION.findall(document.read_text(encoding="utf-8"))
    assert [f"{file}:{name}" for file, name in named if name not in defined(ROOT / file)] == []


def test_the_map_shows_every_room_of_the_agent_and_its_files() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `(agent/[\w/]*)` \| [^|]+ \| ([^|]+) \|$", text, flags=re.MULTILINE)
    rooms = {place: set(re.findall(r"`(\w+\.py)`", names)) for place, names in shown}
    there = {
        f"{folder.relative_to(ROOT)}/": {path.name for path in folder.glob("*.py")} - {"__init__.py"}
        for folder in [ROOT / "agent", *(ROOT / "agent").rglob("*/")]
        if folder.name != "__pycache__" and any(folder.iterdir())
    }
    assert rooms == there, "docs/architecture.md lists each room and its files"


def test_every_command_is_listed() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    commands = {path.name for path in (ROOT / "scripts").glob("[a-z]*.py")}
    assert commands - set(re.findall(r"\b[a-z_]+\.py\b", text)) == set()


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_says_how_it_stands(decision: Path) -> None:
    title, _, status, date = decision.read_text(encoding="utf-8").splitlines()[:4]
    assert title.startswith(f"# {int(decision.name[:4])}. ")
    assert re.match(r"- Status: (Proposed|Accepted|Superseded by \[\d+\]\()", status)
    assert re.fullmatch(r"- Date: \d{4}-\d\d-\d\d", date)


def test_the_index_lists_every_decision_as_it_stands() -> None:
    index = (ROOT / "docs" / "adr" / "README.md").read_text(encoding="utf-8")
    for decision in DECISIONS:
        title, _, status, date = decision.read_text(encoding="utf-8").splitlines()[:4]
        number, _, name = title.removeprefix("# ").partition(". ")
        word = status.removeprefix("- Status: ").split(";")[0].split(" ")[0]
        row = rf"^\| {number} \| \[{re.escape(name)}\]\({decision.name}\) \| {word}.* \| {date.removeprefix('- Date: ')} \|$"
        assert re.search(row, index, flags=re.MULTILINE), f"{decision.name} is not in the index as it stands"


def test_every_event_is_listed() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = text.partition("one discriminated union")[2].partition("An `EventRecord`")[0]
    kinds = set(TypeAdapter[Event](Event).json_schema()["discriminator"]["mapping"])
    assert set(re.findall(r"`(\w+\.\w+)`", listed)) == kinds
