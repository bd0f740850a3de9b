"""Recorded calls and trajectories, in the form that every importer produces.

They are slotted dataclasses, since counting handles millions of them.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from domain.plan import Binding
from domain.tool import ToolId


class RecordedOutcome(StrEnum):
    """The outcome of a recorded call.

    ``OK`` and ``FAILED`` are evidence of availability. ``CALLER_FAULT`` (bad or missing arguments, a missing key, a
    function that does not exist) failed but says nothing about the tool. ``UNKNOWN`` was not recorded.
    """

    OK = "ok"
    FAILED = "failed"
    CALLER_FAULT = "caller_fault"
    UNKNOWN = "unknown"

    @property
    def is_evidence(self) -> bool:
        """True if the call is evidence of availability."""
        return self in (RecordedOutcome.OK, RecordedOutcome.FAILED)

    @property
    def failed(self) -> bool:
        """True if cleaning removes the call from the path."""
        return self in (RecordedOutcome.FAILED, RecordedOutcome.CALLER_FAULT)


TrajectoryEnd = Literal["give_answer", "give_up", "none", "other"]
"""How a trajectory ended; ``other``: its source recorded no ending."""


@dataclass(frozen=True, slots=True)
class TrajectoryCall:
    """One call of a trajectory, by the name that its source used."""

    function: str
    outcome: RecordedOutcome
    category: str | None = None
    toolset: str | None = None
    arguments: str | None = None
    """JSON text as recorded, or None."""
    observation: str | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A recorded attempt to serve a request."""

    id: str
    source: str
    query: str
    finish: TrajectoryEnd
    path: tuple[TrajectoryCall, ...]
    """All calls of the accepted branch in order, failed ones included."""
    attempts: tuple[TrajectoryCall, ...]
    """Every call node of the whole search tree once; equals ``path`` for a source without branches."""


@dataclass(frozen=True, slots=True)
class TakenValue:
    """A value that a call of ``target`` took from an earlier response of ``source``."""

    source: ToolId
    target: ToolId
    parameter: str
    fields: tuple[str, ...]
    """The fields of that response that held the value; it was taken from one of them."""


@dataclass(frozen=True, slots=True)
class SolvedRequest:
    """A request with the cleaned path that served it, whose tools all have documents."""

    request: str
    path: tuple[ToolId, ...]
    taken: tuple[TakenValue, ...] = ()
    """What its calls took from one another."""
    bindings: tuple[tuple[Binding, ...], ...] = ()
    """For each tool of the path, where the argument values came from; empty if unknown."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call with its response, kept as evidence of availability and for the replay executor."""

    category: str
    toolset: str
    """As the source wrote it, possibly in a standardised form, like ``function``."""
    function: str
    arguments: str
    """Text that holds a JSON or Python mapping."""
    response: str
    outcome: RecordedOutcome
