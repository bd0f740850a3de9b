"""``docs/security.md`` tells of what there is: each threat has what holds it and a test, and every file that it names exists."""

import re

import pytest

from tests.support.source_tree import ROOT

DOCUMENT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
HEAD = ["threat", "what holds it", "test"]
NAMED = re.compile(
    r"`((?:\.ci|agent|docker|docs|domain|graph|offline|playground|retriever|scripts|server|synthesis|tests|ui|wiring)/[^`\s]*)`"
)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def threats() -> list[list[str]]:
    """The lines of the tables of threats."""
    found: list[list[str]] = []
    inside = False
    for line in DOCUMENT.splitlines():
        inside = line.startswith("|") and (inside or cells(line) == HEAD)
        if inside and cells(line) != HEAD and not line.startswith("|---"):
            found.append(cells(line))
    return found


def test_every_attacker_has_a_table() -> None:
    attackers = re.findall(r"^- \*\*(.+?)\*\*", DOCUMENT.partition("## Who attacks")[2].partition("\n## ")[0], re.M)
    heads = re.findall(r"^## (.+)$", DOCUMENT, re.M)
    missing = [who for who in attackers if not any(head.lower().startswith(who.lower()) for head in heads)]
    assert len(attackers) >= 5
    assert missing == []


@pytest.mark.parametrize("line", threats(), ids=lambda line: line[0][:50])
def test_a_threat_has_what_holds_it_and_a_test(line: list[str]) -> None:
    assert len(line) == 3
    assert all(line)
    tests = [name for name in NAMED.findall(line[2]) if name.startswith("tests/")]
    assert [name for name in tests if re.search(r"/test_\w+\.py$", name)], "the line names no test"


def test_every_file_that_it_names_exists() -> None:
    named = NAMED.findall(DOCUMENT)
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []
