"""A solution is taken for a request: without a word of a model where the request is one of its patterns with plain values, else after one small question.

What the pattern does not account for counts: a request that says anything else than a pattern, or values that do not fit, is for a model to judge; and where
that lets something pass that stands in figures or between quotation marks, the solution is not taken.
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
"""Near solutions whose patterns a request is laid over."""
NEAR_ENOUGH, LEAST, LEAD = 0.7, 0.5, 0.1
"""Likeness from which a model is asked whether the nearest solution serves; less will do where no other comes near it (docs/memory.md has the measurement)."""
_SECONDS = 5.0
"""A library that takes longer than this is done without."""
_FIGURE = re.compile(r"\d+")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Took:
    """What the library has for a request. ``near``: the nearest, best first. ``told``: what is taken of them, as an event; ``plan``: that with its values,
    None where it is not there any more; ``of_strangers``: whether somebody else's words may stand in it: it is not the user's own, or its author was
    shown foreign data.
    """

    near: Sequence[NearSolution] = ()
    told: SolutionTaken | None = None
    plan: ProgramPlan | None = None
    of_strangers: bool = False


async def take(asked: Asked, deps: RunDeps, memo: Memo, meter: Meter, *, follow_up: bool) -> Took:
    """What is taken for a request. ``follow_up``: it may go on from earlier requests, which no pattern knows."""
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
    """A plan as the text that is run, over functions with the names that these tools have: what its inputs are stands at its beginning."""
    names = {tool.id: name for name, tool in tool_names(tools)}
    called = {name: names.get(tool, name) for name, tool in plan.program.tools.items()}
    return called_as(with_inputs(plan, {}).program.text, called)


def _plainly(request: str, near: Sequence[NearSolution], *, follow_up: bool) -> SolutionTaken | None:
    """The first that has a pattern which the request is, with plain values. In a conversation it has to name something."""
    for one in near:
        for pattern in one.solution.patterns:
            values = plain_values(request, pattern, one.solution.plan.inputs)
            if values is not None and (inputs_of(pattern) or not follow_up):
                return SolutionTaken(
                    solution=one.solution.id, pattern=pattern, likeness=one.likeness, values=values, how="plain"
                )
    return None


def plain_values(request: str, pattern: str, inputs: dict[str, JsonObject]) -> JsonObject | None:
    """Values for all inputs that have no default, as plain words of the request; None where it says anything else than the pattern."""
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
    """Whether it is likely enough that the nearest serves: a question costs a third of what writing does."""
    others = [one.likeness for one in near[1:]]
    ahead = near[0].likeness - max(others, default=0.0)
    return near[0].likeness >= NEAR_ENOUGH or (near[0].likeness >= LEAST and ahead >= LEAD)


async def _after_asking(asked: Asked, one: NearSolution, deps: RunDeps, meter: Meter) -> SolutionTaken | None:
    """What the policy says of the nearest."""
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
    """Figures and quotations of a request that are neither in the pattern nor among the values, whatever they were made into."""
    known = f"{literals(pattern)} {' '.join(map(shown, values.values()))}"
    figures = {one.lstrip("0") for one in _FIGURE.findall(known)}
    quoted = [hit[hit.lastindex or 0] for hit in QUOTED.finditer(request)]
    left = [one for one in _FIGURE.findall(request) if one.lstrip("0") not in figures]
    return left + [one for one in quoted if one.casefold() not in known.casefold()]


def _fitting(inputs: dict[str, JsonObject], values: JsonObject) -> JsonObject | None:
    """The values, where they are what the schemas allow, and none is lacking that has no default."""
    _, wrong = read_values(inputs, values)
    lacking = [name for name, schema in inputs.items() if name not in values and "default" not in schema]
    return None if wrong or lacking else values


def _filled(plan: ProgramPlan, values: JsonObject) -> ProgramPlan:
    return plan.model_copy(update={"values": read_values(plan.inputs, values)[0]})


def _of(near: Sequence[NearSolution], solution: str) -> Solution | None:
    return next((one.solution for one in near if one.solution.id == solution), None)


async def _near(request: str, library: Solutions) -> list[NearSolution]:
    """The nearest; nothing where the library cannot be asked: a run goes on without it."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await library.near(request, LOOKED_AT)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the library of solutions: %s", error or "no answer in time")
        return []


async def _kept(solution: str, library: Solutions, near: Sequence[NearSolution]) -> Solution | None:
    """One that is taken, as far as it is there: it may have been taken before the run was broken off."""
    try:
        async with asyncio.timeout(_SECONDS):
            return _of(near, solution) or (await library.get([solution])).get(solution)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the solution %s: %s", solution, error or "no answer in time")
        return None
