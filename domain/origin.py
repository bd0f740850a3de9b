"""Where the values of a call come from, as facts show it: what a user said, what a tool answered, what a model wrote."""

from typing import Literal

from domain.model import JsonObject, Model
from domain.slice import Slice
from domain.tool import ToolId

ValueKind = Literal["said", "document", "file", "field", "written", "computed", "prose", "others"]
"""``said``: by the user. ``document``: the tool's own default, allowed value or example. ``file``: out of a file that the user gave, which others may have written.
``field``: a whole field of a response.
``written``: found nowhere, so a model or a rule wrote it. ``computed``: found nowhere, worked out by a program. ``prose``: words inside a longer text of a response. ``others``: fixed by the
author of a template that is another user's. In the order of how far they are from the user's word."""

COVERABLE: tuple[ValueKind, ...] = ("said", "document", "field")
"""Origins of values that a user may allow for later calls of a tool, too; values of another origin are asked about each time."""


class ValueOrigin(Model):
    """Of one argument. ``words``: the same, fit to be shown; ``tool``, ``host``, ``place``: of the response that holds it.

    ``slice``: of a call of a program, what the program made it of. ``thing``: what a response calls that which the value stands for, where it is
    an id.
    """

    parameter: str
    kind: ValueKind
    words: str
    tool: ToolId = ToolId("")
    host: str = ""
    place: str = ""
    slice: Slice | None = None
    thing: str = ""


def in_full(origin: ValueOrigin) -> str:
    """Where a value comes from and, of a program's that says it nowhere else, what it made it of, as far as that is more."""
    made = origin.slice
    if made is None or origin.kind in ("written", "computed") or made.literal or _said_already(origin, made):
        return origin.words
    return f"{origin.words}; put together {made.words}"


def _said_already(origin: ValueOrigin, made: Slice) -> bool:
    """Whether a value that stands in an answer is made of nothing but that tool's answers, whatever was so."""
    return not made.conditions and all(one.kind == "call" and one.tool == origin.tool for one in made.sources)


class AskedCall(Model):
    """One of several calls that are asked about together. ``identity``: which call of the run's programs it is. ``summary``: what it will do, in
    words; ``undo``: how that can be taken back, or that it cannot.
    """

    tool: ToolId
    arguments: JsonObject
    identity: str
    origins: tuple[ValueOrigin, ...] = ()
    summary: str = ""
    undo: str = ""


class Crossing(Model):
    """A value of a response of one host that a call would carry to another."""

    source: str
    target: str
    parameter: str = ""
    """That carries it; empty: the call itself tells of it, since whether and how often it is made depends on the response."""
