"""Drift over many documents: every change is told, and nothing is told of what only changed its order."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from admission.drift import compare_readings
from domain.tool import ToolDoc
from domain.tool_source import ToolChange
from tests.unit.admission.documents import tools
from tests.unit.admission.drifting import drifted, parts, playground, reordered

MANY = 200
FEWER = 40


@cache
def read(text: str) -> tuple[ToolDoc, ...]:
    return tuple(tools(text.encode()).values())


def told_of_drift(documents: Sequence[str], many: int = MANY) -> tuple[Counter[str], list[str]]:
    """How often each change was made, and those that were not told."""
    made, missed = Counter[str](), list[str]()
    for seed in range(many):
        text = documents[seed % len(documents)]
        name, document = drifted(text, seed)
        made[name] += 1
        if not compare_readings(read(text), tuple(tools(reordered(document, random.Random(seed))).values())):
            missed.append(f"{seed} {name}")
    return made, missed


def told_of_order(documents: Sequence[str], many: int = MANY) -> list[tuple[int, tuple[ToolChange, ...]]]:
    """What was told of documents that only changed their order."""
    told: list[tuple[int, tuple[ToolChange, ...]]] = []
    for seed in range(many):
        text = documents[seed % len(documents)]
        now = tools(reordered(json.loads(text), random.Random(seed)))
        if found := compare_readings(read(text), tuple(now.values())):
            told.append((seed, found))
    return told


def test_200_documents_that_have_changed_are_all_told() -> None:
    made, missed = told_of_drift(playground())
    assert missed == []
    assert len(made) >= 14


def test_200_documents_that_only_changed_their_order_are_not_told() -> None:
    assert told_of_order(playground()) == []


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["spotify", "tmdb"])
def test_documents_of_others_too(shared_data: Path, name: str) -> None:
    text = (shared_data / "benchmarks" / "restbench" / f"{name}_oas.json").read_text(encoding="utf-8")
    documents = parts(json.loads(text))
    assert told_of_drift(documents, FEWER)[1] == []
    assert told_of_order(documents, FEWER) == []
