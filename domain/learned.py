"""The lessons of a run, as an event that is emitted just before the run ends."""

from typing import Literal

from domain.model import Model
from domain.tool import ToolId


class LearnedEdge(Model):
    """A transition of a run, with how often it was made."""

    source: ToolId
    target: ToolId
    walked: int


class LearnedTool(Model):
    """Evidence from a run about a tool."""

    tool: ToolId
    scores: tuple[float, ...] = ()
    """Its scores in [-1, 1], in order."""
    outcomes: tuple[str, ...] = ()
    """The outcomes of its calls that are evidence, in order."""


class JudgedMemory(Model):
    """A memory that the run followed, and whether its path served the request."""

    memory: str
    good: bool


class JudgedSolution(Model):
    """A solution that the run used, and whether it served the request."""

    solution: str
    good: bool


class WeightsLearned(Model):
    """The lessons of a run; the event before the last."""

    kind: Literal["weights.learned"] = "weights.learned"
    transitions: tuple[LearnedEdge, ...] = ()
    tools: tuple[LearnedTool, ...] = ()
    remembered: tuple[str, ...] = ()
    """Ids of the memories of this run: none, one, or one per subtask."""
    judged: tuple[JudgedMemory, ...] = ()
    solutions: tuple[str, ...] = ()
    """Ids of the solutions, new or known, that this run is now counted as a run of."""
    solved: tuple[JudgedSolution, ...] = ()
    """How the solutions that the run used turned out."""
    error: str = ""
    """Why it was not learnt, or only in part; the run itself is not affected."""
    deferred: Literal["", "waiting", "learnt", "dropped"] = ""
    """``waiting``: a store could not be used when the run ended, and the rest is learnt when it is back.

    An event that says ``learnt`` then replaces this one, or one that says ``dropped`` if it could not be learnt later either.
    """
