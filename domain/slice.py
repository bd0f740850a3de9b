"""Backward slices of programs: the parts of a program's text that an argument of a call depends on."""

from typing import Literal

from domain.model import Model
from domain.tool import ToolId

SourceKind = Literal["call", "error", "file", "input", "given", "said", "answer", "constant", "unknown"]
"""What a value was computed from.

``call``: a tool's response. ``error``: the message of a failed call. ``file``: a file that the user attached. ``input``: a name that had a
value before the program ran. ``given``: one whose value the user gave, as an input of a plan. ``said``: a constant that the user said.
``answer``: the user's answer to a question. ``constant``: a constant that the program's author wrote. ``unknown``: a name of unknown content.
"""


class Source(Model):
    """One thing that a value was computed from."""

    kind: SourceKind
    name: str
    """The function, the input, or the constant as Python writes it."""
    tool: ToolId = ToolId("")
    line: int = 0
    """From 1; 0 in an earlier cell."""


class Slice(Model):
    """The backward slice of one argument."""

    parameter: str
    expression: str
    """As the program writes it."""
    sources: tuple[Source, ...] = ()
    conditions: tuple[str, ...] = ()
    """Conditions under which the call is made, or the value is this one."""
    lines: tuple[int, ...] = ()
    """Lines of the program that the value depends on, from 1."""
    words: str = ""
    """The sources in words, for people who do not see the program."""

    @property
    def foreign(self) -> bool:
        """True if it contains anything that is not from the author, the user or the date."""
        return any(
            one.kind in ("call", "error", "file", "unknown") or (one.kind == "input" and one.name != "today")
            for one in self.sources
        )

    @property
    def traced(self) -> bool:
        """True if the tool is known that each foreign value in it came from."""
        return not any(
            one.kind == "unknown" or (one.kind == "input" and one.name != "today" and not one.tool)
            for one in self.sources
        )

    @property
    def literal(self) -> bool:
        """True if it is nothing but one constant of the program, or one given input."""
        return all(one.kind in ("constant", "said", "given") for one in self.sources) and len(self.sources) <= 1

    @property
    def tools(self) -> frozenset[ToolId]:
        """The tools whose responses it contains."""
        return frozenset(one.tool for one in self.sources if one.tool)
