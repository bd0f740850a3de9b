"""Step numbers in a run with several subtasks.

Each subtask counts its own steps, after the prior steps that it builds on.
A reference such as ``2.items[0].lat`` uses the numbers of its own subtask. In the run's answer, the steps of all subtasks are
numbered consecutively.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from domain.plan import Binding, StepResult

Place = tuple[int, int]
"""A step: the number of its subtask, and its number within it."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The steps that a subtask executed."""

    subtask: int
    depends_on: tuple[int, ...]
    done: Mapping[int, StepResult]
    """Results by step number. Numbering starts after the prior steps that the subtask builds on."""
    earlier: int = 0
    """How many of the prior steps are calls of earlier runs; these come first."""


def given_to(depends_on: Collection[int], carried: Mapping[int, Carried]) -> list[Place]:
    """Return the prior steps of a subtask: successful steps of its direct and indirect dependencies, in order."""
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
    """Return, for each subtask, a map from its own step numbers to consecutive numbers over all subtasks."""
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
    """Return a result whose step references are translated to other numbers.

    Numbers that are not in the map are kept.
    """
    bindings = tuple(_renumbered(binding, numbers) for binding in result.provenance)
    return result if bindings == result.provenance else result.model_copy(update={"provenance": bindings})


def _renumbered(binding: Binding, numbers: Mapping[int, int]) -> Binding:
    step, dot, place = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or int(step) not in numbers:
        return binding
    return binding.model_copy(update={"reference": f"{numbers[int(step)]}{dot}{place}"})
