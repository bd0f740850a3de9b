"""Changes shown and asked about at a terminal, each with its values and where they come from."""

import asyncio
import json
import sys
import termios
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from _terminal import next_line
from pydantic.types import JsonValue
from rich.console import Console
from rich.text import Text

from agent.execution.approval import TAINTED, IntendedCall, what_asks, why_asked
from agent.execution.approvers import DONE_BEFORE
from agent.text import clean
from domain.errors import NotAllowedError
from domain.origin import COVERABLE, in_full
from domain.tool import ToolId, tool_id_parts

HOW_ELSE = "At a terminal each change is asked about; --yes allows all changes of a run, --dry-run shows them."
_MOST = 2_000
"""Characters of one value that are shown."""
_ORIGIN = 400
"""Characters of where a value comes from."""
_ANSWERS = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "a": "all", "all": "all"}


class TerminalApprover:
    """Asks who sits at the terminal. ``turn``: held while a question is open, so that nothing else is written below it.

    Who says ``all`` lets this run call that tool again without asking, for values that the user, the tool's document or a field of an
    answer gives. Words out of a response's prose, values that nobody said or that a program computed, and changes of a program that foreign
    text may have had a hand in ask each time. Changes that wait together are asked about once, all shown.
    """

    def __init__(self, console: Console, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._console = console
        self._all: set[ToolId] = set()
        self._answered: set[tuple[str, str]] = set()

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """``NotAllowedError`` where the answer is no."""
        if not call.tool.safe:
            async with self._turn:
                if not self._is_covered(call) and not await self._allowed(call):
                    raise NotAllowedError("You did not allow this call, so it was not made.")
        yield

    def _is_covered(self, call: IntendedCall) -> bool:
        if _named(call) in self._answered:
            return True
        kinds = {origin.kind for origin in call.judged.origins}
        return call.tool.id in self._all and not call.asks_always and kinds <= set(COVERABLE)

    async def _allowed(self, call: IntendedCall) -> bool:
        open_ones = [one for one in call.together if not self._is_covered(one)]
        if len(call.together) > 1 or call.round:
            self._console.print(Text(f"\n{what_asks(call)}", "bold yellow"), soft_wrap=True)
        for number, one in enumerate(open_ones, start=1):
            many = len(open_ones) > 1
            show_change(self._console, one, f"Call {number} of {len(open_ones)}:" if many else "May this call be made?")
        answer = None
        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer to it
        while answer is None:
            self._console.print("yes (y), no (n), all calls of this tool in this run (a): ", end="", markup=False)
            line = await next_line()
            answer = "no" if not line else _ANSWERS.get(line.strip().lower())
        if answer == "all":
            self._all.add(call.tool.id)
        if answer != "no":
            self._answered |= {_named(one) for one in open_ones if one.identity}
        return answer != "no"


def _named(call: IntendedCall) -> tuple[str, str]:
    """A program's call; one of no program has no identity, and is never answered beforehand."""
    return call.identity, json.dumps(call.arguments, sort_keys=True)


def show_change(console: Console, call: IntendedCall, title: str) -> None:
    """Write what a call would change, where, and each of its values in full with its origin."""
    tool = call.tool
    _, toolset, api = tool_id_parts(tool.id)
    words = {origin.parameter: in_full(origin) for origin in call.judged.origins}
    where = f" of {clean(tool.host, 200)}" if tool.host else ""
    lines = [
        Text(f"\n{title} ", "bold yellow").append(f"{clean(toolset, 60)}/{clean(api, 80)}{where}", "bold"),
        Text(f"  {why_asked(tool)}", "dim"),
        *([Text(f"  {DONE_BEFORE}", "yellow")] if call.again else []),
        *([Text(f"  {TAINTED}", "yellow")] if call.tainted else []),
    ]
    for name, value in call.arguments.items():
        origin = clean(words.get(name, ""), _ORIGIN)
        lines.append(Text(f"  {clean(name, 80)} = {_whole(value)}").append(f"  ({origin})" if origin else "", "dim"))
    for line in lines:
        console.print(line, soft_wrap=True)


def _whole(value: JsonValue) -> str:
    """A value as JSON, on one line; it says how much of it is left out."""
    text = json.dumps(value, ensure_ascii=False)
    short = clean(text, _MOST)
    return short if len(text) <= _MOST else f"{short} (and {len(text) - _MOST} characters more)"
