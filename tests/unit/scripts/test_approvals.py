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

from agent.execution.approval import TAINTED_NOTE, IntendedCall
from agent.execution.provenance import CallProvenance
from domain.errors import ExcludedCallError, NotAllowedError
from domain.model import JsonObject
from domain.provenance import ValueKind, ValueOrigin
from domain.tool import Parameter, ToolDoc
from scripts._approvals import TerminalApprover
from tests.support.small_world import BOOKS, REMOVE


class Typist(io.StringIO):
    """What the console writes; types the next answer into the terminal when it is asked for one."""

    def __init__(self, terminal: int) -> None:
        super().__init__()
        self.terminal = terminal
        self.answers: list[str] = []

    def write(self, text: str) -> int:
        if "(a): " in text or "leaves it: " in text:
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
    return IntendedCall(tool, arguments or {"title": "Dune"}, CallProvenance((origin,)))


async def made_with(approver: TerminalApprover, intended: IntendedCall) -> JsonObject | None:
    """The arguments that it is made with; None: it is not made."""
    try:
        async with approver.approve(intended) as made:
            return made
    except NotAllowedError:
        return None


async def is_allowed(approver: TerminalApprover, intended: IntendedCall) -> bool:
    try:
        async with approver.approve(intended):
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
        IntendedCall(REMOVE, {"title": one}, CallProvenance((origin,)), f"1:1:7#0-{one}", tainted=tainted)
        for one in titles
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
    assert TAINTED_NOTE in " ".join(typist.getvalue().split())


def numbers(*counts: int) -> list[IntendedCall]:
    """Calls that wait together, each with a title and a count."""
    tool = REMOVE.model_copy(update={"parameters": (*REMOVE.parameters, Parameter(name="count", type="integer"))})
    alone = [
        IntendedCall(tool, {"title": f"Book {one}", "count": one}, identity=f"1:1:7#0-{one}", summary=f"Remove {one}")
        for one in counts
    ]
    return [replace(one, batch=tuple(alone) if len(alone) > 1 else ()) for one in alone]


async def test_a_value_is_corrected_by_its_number(typist: Typist) -> None:
    approver, (one,) = asking(typist), numbers(1)
    typist.answers = ["2\n", "many\n", "2\n", "\n", "2 = 5\n", "y\n"]
    assert await made_with(approver, one) == {"title": "Book 1", "count": 5}
    told = " ".join(typist.getvalue().split())
    assert "count (a whole number), now 1; Enter leaves it:" in told
    assert "Not changed: count" in told
    assert 'Delete book: title "Book 1", count 5' in told
    assert typist.answers == []


async def test_of_a_batch_one_is_corrected_and_one_skipped_and_one_answer_is_for_all(typist: Typist) -> None:
    approver, calls = asking(typist), numbers(1, 2, 3, 4)
    typist.answers = ["s9\n", "2\n", "2.2=7\n", "s3\n", "s4\n", "s4\n", "y\n"]
    assert [await made_with(approver, one) for one in calls] == [
        {"title": "Book 1", "count": 1},
        {"title": "Book 2", "count": 7},
        None,
        {"title": "Book 4", "count": 4},
    ]
    told = typist.getvalue()
    assert "Nothing was done: s9" in told
    assert "Nothing was done: 2 is none of these" in told
    assert "Call 3 is skipped." in told
    assert "Call 4 is made after all." in told
    assert "skip a call (as s2)" in told
    with pytest.raises(ExcludedCallError):
        async with approver.approve(calls[2]):
            pass
    assert typist.answers == []


async def test_who_skips_all_of_them_denies_them(typist: Typist) -> None:
    approver, calls = asking(typist), numbers(1, 2)
    typist.answers = ["s1\n", "s2\n", "y\n"]
    assert await made_with(approver, calls[0]) is None


async def test_what_it_will_do_is_said_first(typist: Typist) -> None:
    typist.answers = ["n\n"]
    await is_allowed(asking(typist), replace(numbers(1)[0], undo="It can be taken back."))
    lines = [line.strip() for line in typist.getvalue().splitlines() if line.strip()]
    assert lines[1] == "Remove 1"
    assert lines[2].endswith("It can be taken back.")
    assert lines[3].startswith('1. title = "Book 1"')


async def test_who_corrects_a_call_that_is_skipped_is_told_that_it_is_made(typist: Typist) -> None:
    approver, calls = asking(typist), numbers(1, 2)
    typist.answers = ["s2\n", "2.2=7\n", "y\n"]
    assert [await made_with(approver, one) for one in calls] == [
        {"title": "Book 1", "count": 1},
        {"title": "Book 2", "count": 7},
    ]
    assert "It is made after all." in " ".join(typist.getvalue().split())


async def test_a_value_that_may_be_left_out_is_left_out_and_comes_back(typist: Typist) -> None:
    approver, (one,) = asking(typist), numbers(1)
    typist.answers = ["1=\n", "2=\n", "2=5\n", "2 =\n", "y\n"]
    assert await made_with(approver, one) == {"title": "Book 1"}
    assert "Not changed: title" in " ".join(typist.getvalue().split())
