"""What a run takes out of the library of solutions, as its events have it."""

import json
from typing import Literal

from pydantic import Field

from domain.model import JsonObject, Model


class SolutionTaken(Model):
    """A solution is taken for a request. ``solution``: its id; ``pattern``: what it serves, its inputs in braces; ``likeness`` of the request to that.

    ``values``: of its inputs. ``how``: they are plain in the request; a model was asked for them; or a model chose the solution, and writes a program of its own
    after it. ``reason``: in its words. ``wordings``: further patterns that ask the same, as the model that was asked says.
    """

    kind: Literal["solution.taken"] = "solution.taken"
    solution: str
    pattern: str
    likeness: float = 0.0
    values: JsonObject = Field(default_factory=dict)
    how: Literal["plain", "asked", "chosen"]
    reason: str = ""
    wordings: tuple[str, ...] = ()


class NoSolution(Model):
    """Solutions were to be chosen among, and none was. ``shown``: how many there were; 0: none could be chosen, and a program is written as without a library.

    ``path``: functions that are called instead, in order, as far as they are named. ``reason``: fit to be shown.
    """

    kind: Literal["solution.none"] = "solution.none"
    shown: int
    path: tuple[str, ...] = ()
    reason: str = ""


def in_words(event: SolutionTaken | NoSolution) -> str:
    """What was taken out of the library, and how, in a line for people."""
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
