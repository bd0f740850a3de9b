"""What a terminal is asked before a change, and what its answers allow; a real terminal of the system."""

import asyncio
import io
import os
import pty
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from agent.execution.approval import TAINTED, IntendedCall
from agent.execution.provenance import Judged
from domain.errors import NotAllowedError
from domain.model import JsonObject
from domain.origin import ValueKind, ValueOrigin
from domain.tool import ToolDoc
from scripts._approvals import TerminalApprover
from tests.flows.small_world import BOOKS, REMOVE


class Typist(io.StringIO):
    """What the console writes; types the next answer into the terminal when it is asked for one."""

    def __init__(self, terminal: int) -> None:
        super().__init__()
        self.terminal = terminal
        self.answers: list[str] = []

    def write(self, text: str) -> int:
        if "(a): " in text:
            os.write(self.terminal, self.answers.pop(0).encode())
        return super().write(text)


@pytest.fixture
def typist(monkeypatch: pytest.MonkeyPatch) -> Generator[Typist]:
    ours, theirs = pty.openpty()
    with Path(os.ttyname(theirs)).open(encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield Typist(ours)
    os.close(ours)
    os.close(theirs)


def call(kind: ValueKind = "said", tool: ToolDoc = REMOVE, arguments: JsonObject | None = None) -> IntendedCall:
    origin = ValueOrigin(parameter="title", kind=kind, words=f"it is {kind}")
    return IntendedCall(tool, arguments or {"title": "Dune"}, Judged((origin,)))


async def is_allowed(approver: TerminalApprover, intended: IntendedCall) -> bool:
    try:
        async with approver.approval(intended):
            return True
    except NotAllowedError:
        return False


def asking(typist: Typist) -> TerminalApprover:
    return TerminalApprover(Console(file=typist, width=120), asyncio.Lock())


async def test_a_read_is_not_asked_about(typist: Typist) -> None:
    assert await is_allowed(asking(typist), call(tool=BOOKS))
    assert typist.getvalue() == ""


async def test_yes_and_no_hold_for_one_call(typist: Typist) -> None:
    approver = asking(typist)
    typist.answers = ["y\n", "what?\n", "N\n"]
    assert await is_allowed(approver, call())
    assert not await is_allowed(approver, call())
    assert typist.answers == []


@pytest.mark.parametrize("kind", ["written", "computed", "prose", "others"])
async def test_all_covers_no_values_that_nobody_gave(typist: Typist, kind: ValueKind) -> None:
    """Where an answer of a tool asks for another change, that is asked about, whatever was allowed before."""
    approver = asking(typist)
    typist.answers = ["a\n", "n\n"]
    assert await is_allowed(approver, call())
    assert await is_allowed(approver, call("field"))
    assert typist.answers == ["n\n"]
    assert not await is_allowed(approver, call(kind))
    assert f"(it is {kind})" in typist.getvalue()


async def test_all_is_said_of_one_tool(typist: Typist) -> None:
    approver = asking(typist)
    typist.answers = ["a\n", "n\n"]
    assert await is_allowed(approver, call())
    assert not await is_allowed(approver, call(tool=REMOVE.model_copy(update={"id": "c/t/other"})))


async def test_what_was_typed_before_the_question_is_no_answer(typist: Typist) -> None:
    os.write(typist.terminal, b"y\n")
    typist.answers = ["n\n"]
    assert not await is_allowed(asking(typist), call())


async def test_values_are_shown_whole_and_without_what_moves_the_cursor(typist: Typist) -> None:
    typist.answers = ["n\n"]
    long = "x" * 1_500 + "the end"
    await is_allowed(asking(typist), call(arguments={"title": f"\x1b[2K\r{long}", "more": {"lines": [1, "[red]"]}}))
    told = typist.getvalue()
    assert "the end" in told
    assert "\x1b" not in told
    assert 'more = {"lines": [1, "[red]"]}' in told


async def test_a_value_that_is_too_long_says_how_much_is_left_out(typist: Typist) -> None:
    typist.answers = ["n\n"]
    await is_allowed(asking(typist), call(arguments={"title": "x" * 5_000}))
    assert "(and 3002 characters more)" in typist.getvalue()


def batch(*titles: str, tainted: bool = False) -> list[IntendedCall]:
    """Calls of a program that wait together, each with all of them."""
    origin = ValueOrigin(parameter="title", kind="field", words="a field")
    alone = [
        IntendedCall(REMOVE, {"title": one}, Judged((origin,)), f"1:1:7#0-{one}", tainted=tainted) for one in titles
    ]
    return [replace(one, batch=tuple(alone)) for one in alone]


async def test_a_batch_is_asked_about_once_and_shown_whole(typist: Typist) -> None:
    approver, calls = asking(typist), batch("Dune", "Emma", "Faust")
    typist.answers = ["y\n"]
    assert [await is_allowed(approver, one) for one in calls] == [True, True, True]
    told = typist.getvalue()
    assert "called 3 times: one answer is for all of them" in told
    assert [f'title = "{title}"' in told for title in ("Dune", "Emma", "Faust")] == [True, True, True]
    typist.answers = ["n\n"]
    assert not await is_allowed(approver, batch("Ivanhoe", "Dune")[0])


async def test_all_covers_no_change_of_a_tainted_program(typist: Typist) -> None:
    approver = asking(typist)
    typist.answers = ["a\n", "n\n"]
    assert await is_allowed(approver, batch("Dune")[0])
    assert await is_allowed(approver, batch("Emma")[0])
    assert not await is_allowed(approver, batch("Faust", tainted=True)[0])
    assert TAINTED in " ".join(typist.getvalue().split())
