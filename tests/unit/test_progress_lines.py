"""How far long work is, where no terminal shows it."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def progress(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    yield import_module("_progress")
    sys.modules.pop("_progress", None)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_work_that_ends_soon_tells_nothing(progress: Any) -> None:
    told: list[str] = []
    clock = Clock()
    advance = progress.progress_lines(told.append, clock)
    for done in range(1000):
        clock.now += progress.FIRST_SECONDS / 1001
        advance("tools", done, None)
    assert told == []


def test_long_work_tells_where_it_is_ever_more_rarely(progress: Any) -> None:
    told: list[str] = []
    clock = Clock()
    advance = progress.progress_lines(told.append, clock)
    clock.now += 6
    advance("tools", 25_000, None)
    clock.now += 60
    advance("t.jsonl", 500_000, 2_000_000)
    assert told == ["tools: 25,000, after 6 s", "t.jsonl: 500,000 of 2,000,000 (25%), after 66 s"]
    for _ in range(86_400):
        clock.now += 1
        advance("embed", 1, 2)
    assert 20 < len(told) < 40
