"""The text of a program as the page reads it: its lines, its statements, and the calls that stand in it. Nothing is run."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from domain.source_text import try_parse_source
from domain.tool import ToolId

_LOOK = "look"
_TOO_LONG = 100_000
_ENDS = re.compile("\r\n|\r|\n")
"""What ends a line in Python; ``str.splitlines`` also parts at signs that may stand within one."""


def lines_of(text: str) -> tuple[str, ...]:
    """Its lines as Python counts them, without their ends and what is empty behind them."""
    return tuple(_ENDS.split(text.rstrip()))


@dataclass(frozen=True)
class CallPlace:
    """A call in a text. ``place``: where it begins, in UTF-8 bytes, as the sites of events have it."""

    place: int
    line: int
    function: str
    tool: ToolId


@dataclass(frozen=True)
class Statement:
    """One of the outermost level, from its first line to its last. ``defines``: the function that it only makes known; ``uses``: names in it."""

    first: int
    last: int
    defines: str = ""
    uses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ProgramLines:
    """``calls`` in the order of the text. Both are empty of a text that cannot be read."""

    text: str
    calls: tuple[CallPlace, ...] = ()
    statements: tuple[Statement, ...] = ()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Without their ends."""
        return lines_of(self.text)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each line begins, in UTF-8 bytes."""
        ends = [found.end() for found in _ENDS.finditer(self.text)] + [len(self.text) + 1]
        pieces = (self.text[begin:end] for begin, end in pairwise([0, *ends]))
        return tuple(accumulate((len(piece.encode()) for piece in pieces), initial=0))

    def line_of(self, place: int) -> int:
        """The line, from 1, that a place is on."""
        return bisect_right(self.starts[:-1], place)

    def at(self, line: int, reached: int = 0) -> int:
        """The statement, by its place among all, that is being run when this line is; of a function, the one behind those ``reached`` that uses it."""
        found = next((number for number, one in enumerate(self.statements) if one.first <= line <= one.last), -1)
        if found < 0 or not (name := self.statements[found].defines):
            return found
        users = [number for number, one in enumerate(self.statements) if name in one.uses and not one.defines]
        return next((number for number in users if number >= reached), users[-1] if users else found)

    @property
    def looks(self) -> int:
        """The last statement that looks at something; -1: none does."""
        return max((number for number, one in enumerate(self.statements) if _LOOK in one.uses), default=-1)


def program_lines(text: str, tools: Mapping[str, ToolId]) -> ProgramLines:
    """``tools``: the functions that the text may call."""
    if len(text) > _TOO_LONG:
        return ProgramLines(text)
    source = try_parse_source(text)
    if source is None:
        return ProgramLines(text)
    calls = [CallPlace(one.start, one.line, one.name, tools[one.name]) for one in source.calls if one.name in tools]
    outermost = (one for one in source.statements if one.outermost)
    statements = tuple(Statement(one.line, one.last_line, one.defined_function, one.names) for one in outermost)
    return ProgramLines(text, tuple(calls), statements)
