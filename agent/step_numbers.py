"""The numbers of steps where a request has several subtasks: each counts for itself, after the steps that it was given.

A reference such as ``2.items[0].lat`` means a step of its own subtask's count. Brought together, the steps of all are counted through.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from domain.plan import Binding, StepResult

Place = tuple[int, int]
"""A step: the number of its subtask, and its own there."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What a subtask carried out. ``done``: results by step; the first is one more than the steps that it was given, ``earlier`` of
    them calls of earlier runs, which come first.
    """

    subtask: int
    depends_on: tuple[int, ...]
    done: Mapping[int, StepResult]
    earlier: int = 0


def given_to(depends_on: Collection[int], carried: Mapping[int, Carried]) -> list[Place]:
    """The steps that a subtask is given: those that succeeded in what it builds on, and in what that builds on, in order."""
    behind: set[int] = set()
    waiting = list(depends_on)
    while waiting:
        number = waiting.pop()
        if number in carried and number not in behind:
            behind.add(number)
            waiting += carried[number].depends_on
    return [
        (number, step)
        for number in sorted(behind)
        for step in sorted(carried[number].done)
        if carried[number].done[step].status == "ok"
    ]


def counted_through(carried: Sequence[Carried]) -> dict[int, dict[int, int]]:
    """For each subtask, what its own count of steps is in the count of all, which goes through the subtasks in order."""
    by_number = {one.subtask: one for one in carried}
    places = [(one.subtask, step) for one in carried for step in sorted(one.done)]
    overall = {place: number for number, place in enumerate(places, start=1)}
    found: dict[int, dict[int, int]] = {}
    for one in carried:
        given = given_to(one.depends_on, by_number)
        own = {step: overall[one.subtask, step] for step in one.done}
        found[one.subtask] = {at: overall[place] for at, place in enumerate(given, start=one.earlier + 1)} | own
    return found


def renumbered(result: StepResult, numbers: Mapping[int, int]) -> StepResult:
    """A result whose references to steps follow another count; one that is not in it stays."""
    bindings = tuple(_renumbered(binding, numbers) for binding in result.provenance)
    return result if bindings == result.provenance else result.model_copy(update={"provenance": bindings})


def _renumbered(binding: Binding, numbers: Mapping[int, int]) -> Binding:
    step, dot, place = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or int(step) not in numbers:
        return binding
    return binding.model_copy(update={"reference": f"{numbers[int(step)]}{dot}{place}"})
