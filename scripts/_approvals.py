"""Changes shown and asked about at a terminal, each with its values and where they come from."""

import asyncio
import json
import re
import sys
import termios
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from _terminal import next_line
from pydantic.types import JsonValue
from rich.console import Console
from rich.text import Text

from agent.execution.approval import (
    POSSIBLE_REPEAT_NOTE,
    TAINTED_NOTE,
    IntendedCall,
    describe_approval_scope,
    describe_side_effect,
)
from agent.execution.call_wording import summarize_call
from agent.execution.validation import apply_corrections
from agent.text import clean_text
from domain.errors import ExcludedCallError, NotAllowedError
from domain.model import JsonObject
from domain.provenance import COVERABLE, describe_origin
from domain.tool import ToolId, split_tool_id

HOW_ELSE = "At a terminal each change is asked about; --yes allows all changes of a run, --dry-run shows them."
_MOST = 2_000
"""Characters of one value that are shown."""
_ORIGIN = 400
"""Characters of where a value comes from."""
_SKIP = re.compile(r"s(\d{1,3})?")
_VALUE = re.compile(r"(?:(\d{1,3})\.)?(\d{1,3})(?:\s*=\s*(.*))?", re.DOTALL)
_ANSWERS = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "a": "all", "all": "all"}


@dataclass
class AskedCalls:
    """The changes that are asked about at once, as they stand. ``calls``: those that are open. What is typed refers to a call by its number and to a value by its own, both from 1."""

    calls: Sequence[IntendedCall]
    changes: dict[int, JsonObject] = field(default_factory=dict[int, JsonObject])
    skipped: set[int] = field(default_factory=set[int])

    @property
    def several(self) -> bool:
        """Whether calls have numbers."""
        return len(self.calls) > 1

    @property
    def prompt(self) -> str:
        """The keys."""
        if not self.several:
            return "yes (y), no (n), correct a value (its number; 2= leaves value 2 out), all calls of this tool in this run (a): "
        return (
            "yes to all that are not skipped (y), no to all (n), correct a value (as 2.1; 2.1= leaves it out), skip a call (as s2), "
            "yes and all later calls of this tool in this run (a): "
        )

    def arguments(self, at: int) -> JsonObject:
        """What a call is made with as it stands."""
        return self.changes.get(at, self.calls[at].arguments)

    def summary(self, at: int) -> str:
        """What it will do as it stands."""
        call, made = self.calls[at], self.arguments(at)
        kept = [one for one in call.provenance.origins if made.get(one.parameter) == call.arguments.get(one.parameter)]
        return summarize_call(call.tool, made, kept)

    def skips(self, typed: str) -> int | None:
        """The call that is to be skipped or not, by what was typed."""
        found = _SKIP.fullmatch(typed.strip().lower())
        at = int(found[1] or 0) - 1 if found and self.several else -1
        return at if 0 <= at < len(self.calls) else None

    def value(self, typed: str) -> tuple[int, str, str | None] | None:
        """The call and the argument that are to be corrected, and what with where that was typed too."""
        found = _VALUE.fullmatch(typed.strip())
        if found is None or (self.several and found[1] is None):
            return None
        at, number = int(found[1] or 1) - 1, int(found[2]) - 1
        names = list(self.calls[at].arguments) if 0 <= at < len(self.calls) else []
        return (at, names[number], found[3]) if 0 <= number < len(names) else None

    def correct(self, at: int, name: str, typed: str) -> str:
        """Put a value in the place of another, nothing: leave it out; what is wrong with that, where it does not fit."""
        made, complaints = apply_corrections(self.calls[at].tool, self.arguments(at), {name: typed or None})
        if complaints:
            return clean_text(" ".join(said for _, said in complaints), 400)
        self.changes[at] = made
        self.skipped.discard(at)
        return ""

    def hint(self, at: int, name: str) -> str:
        """What is expected of a value."""
        known = next((one for one in self.calls[at].tool.parameters if one.name == name), None)
        if known is None:
            return ""
        if known.enum:
            return f"one of {clean_text(', '.join(map(str, known.enum)), 200)}"
        return {"integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list as JSON",
                "object": "an object as JSON"}.get(known.type, known.format or "a text")  # fmt: skip


class TerminalApprover:
    """Asks who sits at the terminal. ``turn``: held while a question is open, so that nothing else is written below it.

    Who says ``all`` lets this run call that tool again without asking, for values that the user, the tool's document or a field of an
    answer gives. Words out of a response's prose, values that nobody said or that a program computed, and changes of a program that foreign
    text may have had a hand in ask each time. Changes that wait together are asked about once, all shown; values can be corrected first, and
    single calls of several skipped.
    """

    def __init__(self, console: Console, turn: asyncio.Lock) -> None:
        self._turn = turn
        self._console = console
        self._all: set[ToolId] = set()
        self._answered: dict[tuple[str, str], JsonObject] = {}
        self._skipped: set[tuple[str, str]] = set()

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        """``NotAllowedError`` where the answer is no."""
        made = call.arguments
        if not call.tool.safe:
            async with self._turn:
                if not self._is_covered(call):
                    made = await self._asked(call)
                if _named(call) in self._skipped:
                    raise ExcludedCallError("You left this call out, so it was not made.")
        yield self._answered.get(_named(call), made)

    def _is_covered(self, call: IntendedCall) -> bool:
        if _named(call) in self._answered or _named(call) in self._skipped:
            return True
        kinds = {origin.kind for origin in call.provenance.origins}
        return call.tool.id in self._all and not call.always_needs_approval and kinds <= set(COVERABLE)

    async def _asked(self, call: IntendedCall) -> JsonObject:
        """What it is made with. ``NotAllowedError`` where the answer is no."""
        calls = AskedCalls([one for one in call.approved_together if not self._is_covered(one)] or [call])
        if len(call.approved_together) > 1 or call.loop_round:
            self._console.print(Text(f"\n{describe_approval_scope(call)}", "bold yellow"), soft_wrap=True)
        for at, one in enumerate(calls.calls):
            title = f"Call {at + 1} of {len(calls.calls)}:" if calls.several else "May this call be made?"
            show_change(self._console, one, title, f"{at + 1}." if calls.several else "")
        answer = await self._answer(calls)
        if answer == "no" or len(calls.skipped) == len(calls.calls):
            raise NotAllowedError("You did not allow this call, so it was not made.")
        if answer == "all":
            self._all.add(call.tool.id)
        for at, one in enumerate(calls.calls):
            if one.identity and at in calls.skipped:
                self._skipped.add(_named(one))
            elif one.identity:
                self._answered[_named(one)] = calls.arguments(at)
        own = next((at for at, one in enumerate(calls.calls) if _named(one) == _named(call)), 0)
        return calls.arguments(own)

    async def _answer(self, calls: AskedCalls) -> str:
        """Yes, no or all, once nothing more is corrected or skipped."""
        termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer to it
        while True:
            self._console.print(calls.prompt, end="", markup=False)
            line = await next_line()
            if not line:
                return "no"
            if answer := _ANSWERS.get(line.strip().lower()):
                return answer
            if (at := calls.skips(line)) is not None:
                calls.skipped ^= {at}
                self._say(f"Call {at + 1} is {'skipped' if at in calls.skipped else 'made after all'}.")
            elif (found := calls.value(line)) is not None:
                await self._correct(calls, *found)
            elif line.strip():
                self._say(f"Nothing was done: {clean_text(line.strip(), 80)} is none of these, or has no such number.")

    async def _correct(self, calls: AskedCalls, at: int, name: str, typed: str | None) -> None:
        if typed is None:
            now, hint = _whole(calls.arguments(at).get(name)), calls.hint(at, name)
            self._console.print(f"{clean_text(name, 80)} ({hint}), now {now}; Enter leaves it: ", end="", markup=False)
            typed = (await next_line()).strip()
            if not typed:
                return
        skipped = at in calls.skipped
        wrong = calls.correct(at, name, typed.strip())
        number = f"Call {at + 1}: " if calls.several else ""
        again = " It is made after all." if skipped else ""
        self._say(f"Not changed: {wrong}" if wrong else f"{number}{calls.summary(at)}{again}")

    def _say(self, text: str) -> None:
        self._console.print(Text(f"  {text}", "yellow"), soft_wrap=True)


def _named(call: IntendedCall) -> tuple[str, str]:
    """A program's call; one of no program has no identity, and is never answered beforehand."""
    return call.identity, json.dumps(call.arguments, sort_keys=True)


def show_change(console: Console, call: IntendedCall, title: str, number: str = "") -> None:
    """Write what a call would do in words, where, whether it can be taken back, and each of its values in full with its origin, counted from 1.
    ``number``: what stands before those of its values.
    """
    tool = call.tool
    _, toolset, api = split_tool_id(tool.id)
    words = {origin.parameter: describe_origin(origin) for origin in call.provenance.origins}
    where = f" of {clean_text(tool.host, 200)}" if tool.host else ""
    lines = [
        Text(f"\n{title} ", "bold yellow").append(f"{clean_text(toolset, 60)}/{clean_text(api, 80)}{where}", "bold"),
        *([Text(f"  {call.summary}", "bold")] if call.summary else []),
        Text(f"  {describe_side_effect(tool)}{f' {call.undo}' if call.undo else ''}", "dim"),
        *([Text(f"  {POSSIBLE_REPEAT_NOTE}", "yellow")] if call.possible_repeat else []),
        *([Text(f"  {TAINTED_NOTE}", "yellow")] if call.tainted else []),
    ]
    for at, (name, value) in enumerate(call.arguments.items(), start=1):
        origin = clean_text(words.get(name, ""), _ORIGIN)
        lines.append(
            Text(f"  {number}{at}. {clean_text(name, 80)} = {_whole(value)}").append(
                f"  ({origin})" if origin else "", "dim"
            )
        )
    for line in lines:
        console.print(line, soft_wrap=True)


def _whole(value: JsonValue) -> str:
    """A value as JSON, on one line; it says how much of it is left out."""
    text = json.dumps(value, ensure_ascii=False)
    short = clean_text(text, _MOST)
    return short if len(text) <= _MOST else f"{short} (and {len(text) - _MOST} characters more)"
