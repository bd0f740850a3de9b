"""What a value of a program's call is made of: the part of the program's text that it depends on."""

from typing import Literal

from domain.model import Model
from domain.tool import ToolId

SourceKind = Literal["call", "error", "file", "input", "given", "said", "answer", "constant", "unknown"]
"""``call``: what a tool answered; ``error``: what a failed call said. ``file``: a file that its user gave with the question. ``input``: a name that held a value before the program ran, ``given``:
one to which its user gave it, as an input of a plan. ``said``: a constant that the user said, ``answer``: what they answered when they were
asked, ``constant``: one that the program's author wrote. ``unknown``: a name of which nobody knows what it holds."""


class Source(Model):
    """``name``: the function, the input, or the constant as Python writes it. ``line`` from 1, 0: in an earlier cell."""

    kind: SourceKind
    name: str
    tool: ToolId = ToolId("")
    line: int = 0


class Slice(Model):
    """Of one argument. ``expression``: as the program has it; ``conditions``: those under which the call is made, or the value is this one.

    ``lines`` of the program that it depends on, from 1. ``words``: what it is from, in words for a person who sees no program.
    """

    parameter: str
    expression: str
    sources: tuple[Source, ...] = ()
    conditions: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    words: str = ""

    @property
    def foreign(self) -> bool:
        """Whether anything but its author, its user and the date is in it."""
        return any(
            one.kind in ("call", "error", "file", "unknown") or (one.kind == "input" and one.name != "today")
            for one in self.sources
        )

    @property
    def traced(self) -> bool:
        """Whether it is known of everything foreign in it which tool it came from."""
        return not any(
            one.kind == "unknown" or (one.kind == "input" and one.name != "today" and not one.tool)
            for one in self.sources
        )

    @property
    def literal(self) -> bool:
        """Whether it is nothing but a constant of the program."""
        return all(one.kind in ("constant", "said", "given") for one in self.sources) and len(self.sources) <= 1

    @property
    def tools(self) -> frozenset[ToolId]:
        """The tools whose answers are in it."""
        return frozenset(one.tool for one in self.sources if one.tool)
