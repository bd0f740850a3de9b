"""Events of a run about memories, solutions and lessons."""

import json
from typing import Literal

from pydantic import Field

from domain.model import JsonObject, Model
from domain.tool import ToolId


class RecalledPath(Model):
    """A request that was served before, with its path."""

    id: str = ""
    """Id of the memory."""
    request: str
    path: tuple[ToolId, ...]
    similarity: float
    """Cosine similarity to this request, both with their values left out."""
    good: int = 0
    """How often the path had served a later request when it was recalled."""
    bad: int = 0
    """How often the path had failed a later request when it was recalled."""


class MemoryRecalled(Model):
    """Memories of requests like this one, the most similar first."""

    kind: Literal["memory.recalled"] = "memory.recalled"
    memories: tuple[RecalledPath, ...]
    note: str = ""
    """Why the memory could not be searched."""


class SolutionTaken(Model):
    """A solution was selected for a request."""

    kind: Literal["solution.taken"] = "solution.taken"
    solution: str
    """Its id."""
    pattern: str
    """The pattern that matched, with inputs in braces."""
    likeness: float = 0.0
    """Similarity of the request to the pattern."""
    values: JsonObject = Field(default_factory=dict)
    """Values of its inputs."""
    how: Literal["plain", "asked", "chosen"]
    """``plain``: the values are plain in the request; ``asked``: a model was asked for them.

    ``chosen``: a model chose the solution and writes a program of its own after it.
    """
    reason: str = ""
    """In the model's words."""
    wordings: tuple[str, ...] = ()
    """Further patterns with the same meaning, according to the model."""


class NoSolution(Model):
    """Solutions were available to choose from, and none was chosen."""

    kind: Literal["solution.none"] = "solution.none"
    shown: int
    """Number of solutions; 0 if none could be chosen, so a program is written as without a library."""
    path: tuple[str, ...] = ()
    """Functions to call instead, in order, as far as they were named."""
    reason: str = ""
    """In words that may be shown to anyone."""


def describe_selection(event: SolutionTaken | NoSolution) -> str:
    """Describe in one line for people which solution was selected, and how."""
    match event:
        case SolutionTaken(how="chosen"):
            return f"Wrote after the solution for “{event.pattern}”: {event.reason}"
        case SolutionTaken():
            values = ", ".join(
                f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in event.values.items()
            )
            asked_note = " (a model was asked)" if event.how == "asked" else ""
            return f"Took the solution for “{event.pattern}”{f' with {values}' if values else ''}{asked_note}"
        case NoSolution(shown=0):
            return f"Wrote without a solution: {event.reason}"
        case NoSolution():
            path = f"; proposed calls: {', '.join(event.path)}" if event.path else ""
            return f"None of {event.shown} solutions fits: {event.reason}{path}"


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


Verdict = Literal["right", "wrong"]
"""A user's verdict on the answer of a run."""
