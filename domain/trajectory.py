"""Past calls, as every importer normalises them. Slotted dataclasses: millions of them pass through counting."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from domain.plan import Binding
from domain.tool import ToolId


class Outcome(StrEnum):
    """What became of a call.

    ``OK`` and ``FAILED`` are evidence of availability; ``CALLER_FAULT`` (bad or missing arguments, a missing key, a
    function that does not exist) failed but says nothing of the tool; ``UNKNOWN`` was not recorded.
    """

    OK = "ok"
    FAILED = "failed"
    CALLER_FAULT = "caller_fault"
    UNKNOWN = "unknown"

    @property
    def known(self) -> bool:
        """Whether the call is evidence of availability."""
        return self in (Outcome.OK, Outcome.FAILED)

    @property
    def failed(self) -> bool:
        """Whether the call leaves the path in cleaning."""
        return self in (Outcome.FAILED, Outcome.CALLER_FAULT)


Finish = Literal["give_answer", "give_up", "none", "other"]
"""How a trajectory ended; ``other``: its source recorded no ending."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a trajectory, by the name its source used. ``arguments`` is JSON text as recorded, or None."""

    function: str
    outcome: Outcome
    category: str | None = None
    toolset: str | None = None
    arguments: str | None = None
    observation: str | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A recorded solution attempt.

    ``path`` holds the raw calls of the accepted branch, failed ones included, in order. ``attempts`` holds every call
    node of the whole search tree once (for a source without branches it equals ``path``).
    """

    id: str
    source: str
    query: str
    finish: Finish
    path: tuple[Call, ...]
    attempts: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A call of ``target`` took ``parameter`` from what ``source`` had answered before: from one of ``fields``, all of which held it."""

    source: ToolId
    target: ToolId
    parameter: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Solved:
    """A request with the cleaned path that served it, all of its tools known by a document, and what its calls took from another.

    ``bindings``: for each tool of the path where the values of its call came from; empty where that is not known.
    """

    request: str
    path: tuple[ToolId, ...]
    taken: tuple[Taken, ...] = ()
    bindings: tuple[tuple[Binding, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call with its response, kept as evidence of availability and for the replay executor.

    ``toolset`` and ``function`` may be standardised forms, as the source wrote them. ``arguments`` is text that holds a
    JSON or Python mapping.
    """

    category: str
    toolset: str
    function: str
    arguments: str
    response: str
    outcome: Outcome
