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
    results: Mapping[int, StepResult]
    """Results by step number. Numbering starts after the prior steps that the subtask builds on."""
    earlier_count: int = 0
    """How many of the prior steps are calls of earlier runs; these come first."""


def find_prior_steps(depends_on: Collection[int], executed: Mapping[int, ExecutedSteps]) -> list[StepPlace]:
    """Return the successful steps of the direct and indirect dependencies of a subtask, in order."""
    dependencies: set[int] = set()
    pending = list(depends_on)
    while pending:
        number = pending.pop()
        if number in executed and number not in dependencies:
            dependencies.add(number)
            pending += executed[number].depends_on
    return [
        (number, step)
        for number in sorted(dependencies)
        for step in sorted(executed[number].results)
        if executed[number].results[step].status == "ok"
    ]


def number_steps_consecutively(executed: Sequence[ExecutedSteps]) -> dict[int, dict[int, int]]:
    """Return, for each subtask, a map from its step numbers to consecutive numbers over all subtasks."""
    by_number = {subtask_steps.subtask: subtask_steps for subtask_steps in executed}
    places = [(subtask_steps.subtask, step) for subtask_steps in executed for step in sorted(subtask_steps.results)]
    overall_numbers = {place: number for number, place in enumerate(places, start=1)}
    numbers: dict[int, dict[int, int]] = {}
    for subtask_steps in executed:
        prior_steps = find_prior_steps(subtask_steps.depends_on, by_number)
        own_numbers = {step: overall_numbers[subtask_steps.subtask, step] for step in subtask_steps.results}
        numbers[subtask_steps.subtask] = {
            prior_number: overall_numbers[place]
            for prior_number, place in enumerate(prior_steps, start=subtask_steps.earlier_count + 1)
        } | own_numbers
    return numbers


def translate_step_references(result: StepResult, numbers: Mapping[int, int]) -> StepResult:
    """Return a result with the step numbers in its references translated; numbers not in the map are kept."""
    bindings = tuple(_renumber_binding(binding, numbers) for binding in result.provenance)
    return result if bindings == result.provenance else result.model_copy(update={"provenance": bindings})


def _renumber_binding(binding: Binding, numbers: Mapping[int, int]) -> Binding:
    step, dot, place = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or int(step) not in numbers:
        return binding
    return binding.model_copy(update={"reference": f"{numbers[int(step)]}{dot}{place}"})
