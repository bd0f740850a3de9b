"""What a run taught: an event of its own, told just before the run ends."""

from typing import Literal

from domain.model import Model
from domain.tool import ToolId


class LearnedEdge(Model):
    """A transition that a run has walked, and how often."""

    source: ToolId
    target: ToolId
    walked: int


class LearnedTool(Model):
    """What a run says of a tool: its scores in [-1, 1], and the outcomes of its calls that are evidence, each in order."""

    tool: ToolId
    scores: tuple[float, ...] = ()
    outcomes: tuple[str, ...] = ()


class JudgedMemory(Model):
    """A memory that the run followed, and whether its path served."""

    memory: str
    good: bool


class JudgedSolution(Model):
    """A solution that the run took, and whether it served."""

    solution: str
    good: bool


class WeightsLearned(Model):
    """What the run taught, just before its end. ``remembered``: the ids of the memories of this run: none, one, or one of each subtask.

    ``solutions``: the ids of those that it is a run of now, new or known; ``solved``: what became of those that it took.
    ``error``: why it was not learnt, or not all of it; the run itself is not affected.
    """

    kind: Literal["weights.learned"] = "weights.learned"
    transitions: tuple[LearnedEdge, ...] = ()
    tools: tuple[LearnedTool, ...] = ()
    remembered: tuple[str, ...] = ()
    judged: tuple[JudgedMemory, ...] = ()
    solutions: tuple[str, ...] = ()
    solved: tuple[JudgedSolution, ...] = ()
    error: str = ""
    deferred: Literal["", "waiting", "learnt", "dropped"] = ""
    """``waiting``: a store could not be used when the run ended, and what is missing here is learnt when it is back, which then stands in this event's
    place as ``learnt``. ``dropped``: it could not be learnt later either.
    """
