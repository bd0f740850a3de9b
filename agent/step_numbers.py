"""Step numbers of a run with several subtasks, and their translation in references.

Each subtask numbers the prior steps that it builds on, then its own. A reference such as ``2.items[0].lat`` uses the
numbers of its own subtask. In the answer of the run, the steps of all subtasks are numbered consecutively.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from domain.plan import Binding, StepResult

StepPlace = tuple[int, int]
"""A step: the number of its subtask, and its number within it."""


@dataclass(frozen=True, slots=True)
class ExecutedSteps:
    """The steps that a subtask executed."""

    subtask: int
    """Number of the subtask."""
    depends_on: tuple[int, ...]
    """Numbers of the subtasks that it depends on."""
    done: Mapping[int, StepResult]
    """Results by step number. Numbering starts after the prior steps that the subtask builds on."""
    earlier: int = 0
    """How many of the prior steps are calls of earlier runs; these come first."""


def find_prior_steps(depends_on: Collection[int], executed: Mapping[int, ExecutedSteps]) -> list[StepPlace]:
    """Return the successful steps of the direct and indirect dependencies of a subtask, in order."""
    dependencies: set[int] = set()
    waiting = list(depends_on)
    while waiting:
        number = waiting.pop()
        if number in executed and number not in dependencies:
            dependencies.add(number)
            waiting += executed[number].depends_on
    return [
        (number, step)
        for number in sorted(dependencies)
        for step in sorted(executed[number].done)
        if executed[number].done[step].status == "ok"
    ]


def number_steps(executed: Sequence[ExecutedSteps]) -> dict[int, dict[int, int]]:
    """Return, for each subtask, a map from its step numbers to consecutive numbers over all subtasks."""
    by_number = {one.subtask: one for one in executed}
    places = [(one.subtask, step) for one in executed for step in sorted(one.done)]
    overall = {place: number for number, place in enumerate(places, start=1)}
    numbers: dict[int, dict[int, int]] = {}
    for one in executed:
        prior_steps = find_prior_steps(one.depends_on, by_number)
        own = {step: overall[one.subtask, step] for step in one.done}
        numbers[one.subtask] = {at: overall[place] for at, place in enumerate(prior_steps, start=one.earlier + 1)} | own
    return numbers


def renumber(result: StepResult, numbers: Mapping[int, int]) -> StepResult:
    """Return a result with the step numbers in its references translated; numbers not in the map are kept."""
    bindings = tuple(_renumber_binding(binding, numbers) for binding in result.provenance)
    return result if bindings == result.provenance else result.model_copy(update={"provenance": bindings})


def _renumber_binding(binding: Binding, numbers: Mapping[int, int]) -> Binding:
    step, dot, place = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or int(step) not in numbers:
        return binding
    return binding.model_copy(update={"reference": f"{numbers[int(step)]}{dot}{place}"})
