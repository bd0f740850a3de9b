"""What is answered at a terminal to what a run asks; a real terminal of the system."""

import asyncio
import io
import os
import pty
import sys
from pathlib import Path
from typing import TextIO

import pytest
from rich.console import Console

from agent.user_questions import UserQuestion
from scripts._questions import TerminalAsker


class Typist(io.StringIO):
    """What the console writes; types an answer when it is asked for one."""

    def __init__(self, terminal: int, answer: str) -> None:
        super().__init__()
        self.terminal, self.answer = terminal, answer

    def write(self, text: str) -> int:
        if "leaves it open: " in text:
            os.write(self.terminal, f"{self.answer}\n".encode())
        return super().write(text)


def opened(terminal: int) -> TextIO:
    """A terminal to read what is typed there."""
    return Path(os.ttyname(terminal)).open(encoding="utf-8")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("3", "3"), ("5", "5"), ("2", "2"), ("1", "2"), ("4", "4"), ("three", "three"), ("", None)],
)
async def test_a_choice_that_is_a_number_is_taken_at_its_word(
    monkeypatch: pytest.MonkeyPatch, typed: str, answer: str | None
) -> None:
    ours, theirs = pty.openpty()
    with opened(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        asker = TerminalAsker(Console(file=Typist(ours, typed), width=120), asyncio.Lock())
        assert await asker.answer(UserQuestion("q", "How many nights?", ("2", "3", "5"))) == answer
    os.close(ours)
    os.close(theirs)
