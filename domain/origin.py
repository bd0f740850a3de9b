"""The provenance of a call's values, from evidence: what a user said, a tool answered, or a model wrote."""

from typing import Literal

from domain.model import JsonObject, Model
from domain.slice import Slice
from domain.tool import ToolId

ValueKind = Literal["said", "document", "file", "field", "written", "computed", "prose", "others"]
"""Where a value comes from, in the order of distance from the user's own words.

``said``: the user said it. ``document``: the tool's own default, allowed value or example. ``file``: from a file that the user attached,
whose content others may have written. ``field``: a whole field of a response. ``written``: found nowhere, so a model or a rule wrote it.
``computed``: found nowhere, computed by a program. ``prose``: words within a longer text of a response. ``others``: fixed by the author of
another user's template.
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


def in_full(origin: ValueOrigin) -> str:
    """Describe where a value comes from, with the program's slice if that says more and is said nowhere else."""
    made = origin.slice
    if made is None or origin.kind in ("written", "computed") or made.literal or _said_already(origin, made):
        return origin.words
    return f"{origin.words}; put together {made.words}"


def _said_already(origin: ValueOrigin, made: Slice) -> bool:
    """Return whether the slice adds nothing: no conditions, and only responses of the origin's own tool."""
    return not made.conditions and all(one.kind == "call" and one.tool == origin.tool for one in made.sources)


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


class Crossing(Model):
    """A value from one host's response that a call would send to another host."""

    source: str
    target: str
    parameter: str = ""
    """The parameter that carries it.

    Empty if the call itself reveals it, because whether or how often it is made depends on the response.
    """
