"""Selection of a solution for a request.

No model is asked if the request matches a pattern with plain values; else it takes one short question.

A request that says anything besides a pattern, or has values that do not fit, is left to a model. If the model
ignores a figure or a quotation of the request, the solution is not taken.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent import resume_decisions as decisions
from agent.budget import Meter
from agent.plans.inputs import with_inputs
from agent.plans.parameters import read_values
from agent.programs.analysis.forms import called_as
from agent.programs.earlier import Asked
from agent.programs.names import tool_names
from agent.resume import Memo
from agent.run_context import RunDeps
from agent.solutions.alignment import QUOTED, aligned, inputs_of, literals
from agent.solutions.plain_values import plain
from agent.solutions.protocol import FillQuestion, NearSolution, Solutions
from agent.text import shown
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution
from domain.taken import SolutionTaken
from domain.tool import ToolDoc

LOOKED_AT = 8
"""Near solutions whose patterns are aligned with a request."""
NEAR_ENOUGH, LEAST, LEAD = 0.7, 0.5, 0.1
"""Likeness from which a model is asked whether the nearest solution serves.

A lower one (``LEAST``) is enough if no other solution comes within ``LEAD`` of it; docs/memory.md has the
measurements.
"""
_SECONDS = 5.0
"""Time limit of the library; a run goes on without it after that."""
_FIGURE = re.compile(r"\d+")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Took:
    """Selection from the library for a request."""

    near: Sequence[NearSolution] = ()
    """Near solutions, best first."""
    told: SolutionTaken | None = None
    """The selected solution as an event; None if there is none."""
    plan: ProgramPlan | None = None
    """The selected solution with its values; None if it no longer exists."""
    of_strangers: bool = False
    """The plan may contain someone else's words: it is not the user's own, or its author was shown foreign data."""


async def take(asked: Asked, deps: RunDeps, memo: Memo, meter: Meter, *, follow_up: bool) -> Took:
    """Return the selection for a request, or the recorded one when a run is resumed.

    A ``follow_up`` may refer to earlier requests, which no pattern knows.
    """
    if deps.knowledge.solutions is None:
        return Took()
    near = await _near(asked.request, deps.knowledge.solutions)

    async def take_now() -> SolutionTaken | None:
        if not near or meter.exhausted:
            return None
        plainly = _plainly(asked.request, near, follow_up=follow_up)
        if plainly is None and not follow_up and worth_asking(near):
            return await _after_asking(asked, near[0], deps, meter)
        return plainly

    taken = await memo.decide(decisions.taken_solution, take_now)
    solution = await _kept(taken.solution, deps.knowledge.solutions, near) if taken is not None else None
    return _took(near, taken, solution, deps.knowledge.solutions.owner)


def _took(near: Sequence[NearSolution], told: SolutionTaken | None, solution: Solution | None, owner: str) -> Took:
    if told is None or solution is None:
        return Took(near, told)
    strange = solution.plan.program.tainted or solution.owner != owner
    return Took(near, told, _filled(solution.plan, told.values), strange)


def as_text(plan: ProgramPlan, tools: Sequence[ToolDoc]) -> str:
    """Return the text of a plan that is run: functions named after these tools, inputs assigned at its beginning."""
    names = {tool.id: name for name, tool in tool_names(tools)}
    called = {name: names.get(tool, name) for name, tool in plan.program.tools.items()}
    return called_as(with_inputs(plan, {}).program.text, called)


def _plainly(request: str, near: Sequence[NearSolution], *, follow_up: bool) -> SolutionTaken | None:
    """Return the first solution with a pattern that the request matches with plain values.

    In a conversation, the pattern has to have an input: a request without values may refer to earlier ones.
    """
    for one in near:
        for pattern in one.solution.patterns:
            values = plain_values(request, pattern, one.solution.plan.inputs)
            if values is not None and (inputs_of(pattern) or not follow_up):
                return SolutionTaken(
                    solution=one.solution.id, pattern=pattern, likeness=one.likeness, values=values, how="plain"
                )
    return None


def plain_values(request: str, pattern: str, inputs: dict[str, JsonObject]) -> JsonObject | None:
    """Return values for all inputs without a default, read from the request.

    None if the request says anything else than the pattern, or a value is not plain.
    """
    said = aligned(request, pattern)
    if said is None or not said.keys() <= inputs.keys():
        return None
    values: JsonObject = {}
    for name, words in said.items():
        value = plain(words, inputs[name])
        if value is None:
            return None
        values[name] = value
    return _fitting(inputs, values)


def worth_asking(near: Sequence[NearSolution]) -> bool:
    """Return True if the nearest solution is likely enough to serve; asking costs a third of writing a program."""
    others = [one.likeness for one in near[1:]]
    ahead = near[0].likeness - max(others, default=0.0)
    return near[0].likeness >= NEAR_ENOUGH or (near[0].likeness >= LEAST and ahead >= LEAD)


async def _after_asking(asked: Asked, one: NearSolution, deps: RunDeps, meter: Meter) -> SolutionTaken | None:
    """Return the nearest solution if the policy finds that it serves the request."""
    inputs = one.solution.plan.inputs
    filled = await deps.planning.policy.decide(FillQuestion(asked.request, one.pattern, inputs, asked.today, {}))
    meter.decisions += 1
    values = _fitting(inputs, {name: value for name, value in filled.values.items() if name in inputs})
    if not filled.fits or values is None or unaccounted(asked.request, one.pattern, values):
        return None
    return SolutionTaken(
        solution=one.solution.id,
        pattern=one.pattern,
        likeness=one.likeness,
        values=values,
        how="asked",
        reason=filled.why,
        wordings=filled.wordings,
    )


def unaccounted(request: str, pattern: str, values: JsonObject) -> list[str]:
    """Return figures and quotations of a request that are neither in the pattern nor among the values."""
    known = f"{literals(pattern)} {' '.join(map(shown, values.values()))}"
    figures = {one.lstrip("0") for one in _FIGURE.findall(known)}
    quoted = [hit[hit.lastindex or 0] for hit in QUOTED.finditer(request)]
    left = [one for one in _FIGURE.findall(request) if one.lstrip("0") not in figures]
    return left + [one for one in quoted if one.casefold() not in known.casefold()]


def _fitting(inputs: dict[str, JsonObject], values: JsonObject) -> JsonObject | None:
    """Return the values if they fit their schemas and no input without a default lacks one; else None."""
    _, wrong = read_values(inputs, values)
    lacking = [name for name, schema in inputs.items() if name not in values and "default" not in schema]
    return None if wrong or lacking else values


def _filled(plan: ProgramPlan, values: JsonObject) -> ProgramPlan:
    return plan.model_copy(update={"values": read_values(plan.inputs, values)[0]})


def _of(near: Sequence[NearSolution], solution: str) -> Solution | None:
    return next((one.solution for one in near if one.solution.id == solution), None)


async def _near(request: str, library: Solutions) -> list[NearSolution]:
    """Return the near solutions; none if the library cannot be reached, since a run goes on without it."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await library.near(request, LOOKED_AT)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the library of solutions: %s", error or "no answer in time")
        return []


async def _kept(solution: str, library: Solutions, near: Sequence[NearSolution]) -> Solution | None:
    """Return the selected solution if it still exists; it may have been selected before the run was interrupted."""
    try:
        async with asyncio.timeout(_SECONDS):
            return _of(near, solution) or (await library.get([solution])).get(solution)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the solution %s: %s", solution, error or "no answer in time")
        return None
