"""What a run took out of the library of solutions, in words."""

import json

from domain.event import NoSolution, SolutionTaken
from ui.language import listing, say


def taken_told(event: SolutionTaken | NoSolution) -> str:
    """What was taken, and how, in a line."""
    match event:
        case SolutionTaken(how="chosen"):
            return say("Wrote after the solution for “{pattern}”: {reason}", pattern=event.pattern, reason=event.reason)
        case SolutionTaken():
            return _taken(event)
        case NoSolution(shown=0):
            return say("Wrote without a solution: {reason}", reason=event.reason)
        case NoSolution(path=()):
            return say("None of {shown} solutions fits: {reason}", shown=event.shown, reason=event.reason)
        case NoSolution():
            return say(
                "None of {shown} solutions fits: {reason}; proposed calls: {path}",
                shown=event.shown,
                reason=event.reason,
                path=listing(list(event.path)),
            )


def _taken(event: SolutionTaken) -> str:
    values = listing([f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in event.values.items()])
    told = (
        say("Took the solution for “{pattern}” with {values}", pattern=event.pattern, values=values)
        if values
        else say("Took the solution for “{pattern}”", pattern=event.pattern)
    )
    return f"{told} {say('(a model was asked)')}" if event.how == "asked" else told
