"""Provenance of argument values: their origins, and backward slices of the programs that computed them.

A backward slice consists of the parts of a program's text that an argument of a call depends on.
"""

from typing import Literal

from domain.model import JsonObject, Model
from domain.tool import ToolId

SourceKind = Literal["call", "error", "file", "input", "given", "said", "answer", "constant", "unknown"]
"""What a value was computed from.

``call``: a tool's response. ``error``: the message of a failed call. ``file``: a file that the user attached.
``input``: a name that had a value before the program ran. ``given``: one whose value the user gave, as an input of a
plan. ``said``: a constant that the user said. ``answer``: the user's answer to a question. ``constant``: a constant
that the program's author wrote. ``unknown``: a name of unknown content.
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
    def is_foreign(self) -> bool:
        """True if it contains anything that is not from the author, the user or the date."""
        return any(
            source.kind in ("call", "error", "file", "unknown") or (source.kind == "input" and source.name != "today")
            for source in self.sources
        )

    @property
    def is_traced(self) -> bool:
        """True if the tool is known that each foreign value in it came from."""
        return not any(
            source.kind == "unknown" or (source.kind == "input" and source.name != "today" and not source.tool)
            for source in self.sources
        )

    @property
    def is_literal(self) -> bool:
        """True if it is nothing but one constant of the program, or one given input."""
        return all(source.kind in ("constant", "said", "given") for source in self.sources) and len(self.sources) <= 1

    @property
    def tools(self) -> frozenset[ToolId]:
        """The tools whose responses it contains."""
        return frozenset(source.tool for source in self.sources if source.tool)


ValueKind = Literal["said", "document", "file", "field", "written", "computed", "prose", "others"]
"""Where a value comes from, in the order of distance from the user's own words.

``said``: the user said it. ``document``: the tool's own default, allowed value or example. ``file``: from a file that
the user attached, whose content others may have written. ``field``: a whole field of a response. ``written``: found
nowhere, so a model or a rule wrote it. ``computed``: found nowhere, computed by a program. ``prose``: words within a
longer text of a response. ``others``: fixed by the author of another user's template.
"""

COVERABLE: tuple[ValueKind, ...] = ("said", "document", "field")
"""Origins that a user may allow for later calls of a tool as well.

Values of other origins are asked about each time.
"""


class ValueOrigin(Model):
    """The origin of one argument's value."""

    parameter: str
    kind: ValueKind
    words: str
    """The origin in words for people."""
    tool: ToolId = ToolId("")
    """The tool whose response holds the value, as for ``host`` and ``place``."""
    host: str = ""
    place: str = ""
    """The field of the response."""
    slice: Slice | None = None
    """For a program's call, what the program computed the value from."""
    thing: str = ""
    """For an id, the response's name of the thing that it identifies."""


def describe_origin(origin: ValueOrigin) -> str:
    """Describe in words where a value comes from, with the program's slice if that adds anything."""
    value_slice = origin.slice
    if (
        value_slice is None
        or origin.kind in ("written", "computed")
        or value_slice.is_literal
        or _is_already_described(origin, value_slice)
    ):
        return origin.words
    return f"{origin.words}; put together {value_slice.words}"


def _is_already_described(origin: ValueOrigin, value_slice: Slice) -> bool:
    """Return whether the slice adds nothing: no conditions, and only responses of the origin's own tool."""
    return not value_slice.conditions and all(
        source.kind == "call" and source.tool == origin.tool for source in value_slice.sources
    )


class AskedCall(Model):
    """One of several calls that one question is about."""

    tool: ToolId
    arguments: JsonObject
    identity: str
    """Which call of the run's programs it is."""
    origins: tuple[ValueOrigin, ...] = ()
    summary: str = ""
    """What it will do, in words."""
    undo: str = ""
    """How it can be undone, or that it cannot."""


class HostCrossing(Model):
    """A value from one host's response that a call would send to another host."""

    source: str
    target: str
    parameter: str = ""
    """The parameter that carries it.

    Empty if the call itself reveals it, because whether or how often it is made depends on the response.
    """
