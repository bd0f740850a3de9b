"""The selection of a solution from the library, as events of the run."""

import json
from typing import Literal

from pydantic import Field

from domain.model import JsonObject, Model


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


def in_words(event: SolutionTaken | NoSolution) -> str:
    """Describe what was taken from the library, and how, in one line for people."""
    match event:
        case SolutionTaken(how="chosen"):
            return f"Wrote after the solution for “{event.pattern}”: {event.reason}"
        case SolutionTaken():
            values = ", ".join(
                f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in event.values.items()
            )
            asked = " (a model was asked)" if event.how == "asked" else ""
            return f"Took the solution for “{event.pattern}”{f' with {values}' if values else ''}{asked}"
        case NoSolution(shown=0):
            return f"Wrote without a solution: {event.reason}"
        case NoSolution():
            path = f"; proposed calls: {', '.join(event.path)}" if event.path else ""
            return f"None of {event.shown} solutions fits: {event.reason}{path}"
