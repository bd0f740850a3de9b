"""Selection of a solution that serves a request unchanged, with new values for its inputs.

If the request matches a pattern and all values are plain (:mod:`agent.solutions.plain_values`), no model is asked.
Otherwise one short question to the policy decides about the nearest solution. If the answer ignores a figure or a
quotation of the request, the solution is not used.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent import resume_decisions as decisions
from agent.budget import BudgetMeter
from agent.plans.plan_inputs import check_values, select_inputs
from agent.programs.analysis.canonical_form import rename_functions
from agent.programs.function_names import assign_tool_names
from agent.programs.program_request import ProgramRequest
from agent.resume import SubtaskMemo
from agent.run_context import RunDeps
from agent.solutions.patterns import QUOTATION, align_request, get_literal_text, list_inputs
from agent.solutions.plain_values import read_plain_value
from agent.solutions.protocol import FillQuestion, NearSolution, SolutionAccess
from agent.text import format_scalar
from domain.errors import FootpathError
from domain.event import SolutionTaken
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution
from domain.tool import ToolDoc

MAX_NEAR = 8
"""Limit of near solutions whose patterns are aligned with a request."""
NEAR_ENOUGH, MIN_LIKENESS, LEAD = 0.7, 0.5, 0.1
"""Likeness from which the policy is asked whether the nearest solution serves.

The lower ``MIN_LIKENESS`` is enough if no other solution comes within ``LEAD`` of the nearest. docs/memory.md has the
measurements.
"""
_LIBRARY_TIMEOUT = 5.0
"""Time limit of the library in seconds; after that a run goes on without it."""
_FIGURE = re.compile(r"\d+")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SolutionSelection:
    """The solution selected for a request, if any, and the near ones."""

    near: Sequence[NearSolution] = ()
    """Near solutions, best first."""
    event: SolutionTaken | None = None
    """The selected solution as an event; None if there is none."""
    plan: ProgramPlan | None = None
    """The selected solution with its values; None if it no longer exists."""
    has_untrusted_author: bool = False
    """True if the plan may contain someone else's words: another user's, or those of responses shown to its author."""


async def select_solution(
    program_request: ProgramRequest, deps: RunDeps, memo: SubtaskMemo, meter: BudgetMeter, *, follow_up: bool
) -> SolutionSelection:
    """Select a solution for a request; in a resumed run, return the recorded selection.

    With ``follow_up`` the request may refer to earlier ones, which no pattern contains; the policy is then not asked.
    """
    if deps.knowledge.solutions is None:
        return SolutionSelection()
    near = await _find_near(program_request.request, deps.knowledge.solutions)

    async def decide_now() -> SolutionTaken | None:
        if not near or meter.exhausted:
            return None
        plain_match = _select_plain_match(program_request.request, near, follow_up=follow_up)
        if plain_match is None and not follow_up and is_worth_asking(near):
            return await _ask_policy(program_request, near[0], deps, meter)
        return plain_match

    event = await memo.decide(decisions.read_taken_solution, decide_now)
    solution = await _load_solution(event.solution, deps.knowledge.solutions, near) if event is not None else None
    return _build_selection(near, event, solution, deps.knowledge.solutions.owner)


def _build_selection(
    near: Sequence[NearSolution], event: SolutionTaken | None, solution: Solution | None, owner: str
) -> SolutionSelection:
    if event is None or solution is None:
        return SolutionSelection(near, event)
    is_untrusted = solution.plan.program.tainted or solution.owner != owner
    return SolutionSelection(near, event, _fill_plan(solution.plan, event.values), is_untrusted)


def render_program(plan: ProgramPlan, tools: Sequence[ToolDoc]) -> str:
    """Return the text of a plan to run: inputs are assigned at its beginning, functions named after these tools."""
    names = {tool.id: name for name, tool in assign_tool_names(tools)}
    called = {name: names.get(tool, name) for name, tool in plan.program.tools.items()}
    return rename_functions(select_inputs(plan, {}).program.text, called)


def _select_plain_match(request: str, near: Sequence[NearSolution], *, follow_up: bool) -> SolutionTaken | None:
    """Return the first solution with a pattern that the request matches with plain values; None if there is none.

    In a conversation the pattern must have an input, because a request without values may refer to earlier ones.
    """
    for candidate in near:
        for pattern in candidate.solution.patterns:
            values = read_request_values(request, pattern, candidate.solution.plan.inputs)
            if values is not None and (list_inputs(pattern) or not follow_up):
                return SolutionTaken(
                    solution=candidate.solution.id,
                    pattern=pattern,
                    likeness=candidate.likeness,
                    values=values,
                    how="plain",
                )
    return None


def read_request_values(request: str, pattern: str, inputs: dict[str, JsonObject]) -> JsonObject | None:
    """Return the values of a pattern's inputs, read from the request.

    None if the request differs from the pattern in anything else, a value is not plain or does not fit its schema, or
    an input without a default has no value.
    """
    request_values = align_request(request, pattern)
    if request_values is None or not request_values.keys() <= inputs.keys():
        return None
    values: JsonObject = {}
    for name, words in request_values.items():
        value = read_plain_value(words, inputs[name])
        if value is None:
            return None
        values[name] = value
    return _validate_values(inputs, values)


def is_worth_asking(near: Sequence[NearSolution]) -> bool:
    """Return whether the nearest solution is likely enough to serve; asking costs a third of writing a program."""
    other_likenesses = [candidate.likeness for candidate in near[1:]]
    ahead = near[0].likeness - max(other_likenesses, default=0.0)
    return near[0].likeness >= NEAR_ENOUGH or (near[0].likeness >= MIN_LIKENESS and ahead >= LEAD)


async def _ask_policy(
    program_request: ProgramRequest, candidate: NearSolution, deps: RunDeps, meter: BudgetMeter
) -> SolutionTaken | None:
    """Return a near solution with values if the policy finds that it serves the request; else None."""
    inputs = candidate.solution.plan.inputs
    answer = await deps.planning.policy.decide(
        FillQuestion(program_request.request, candidate.pattern, inputs, program_request.today, {})
    )
    meter.decisions += 1
    values = _validate_values(inputs, {name: value for name, value in answer.values.items() if name in inputs})
    if not answer.fits or values is None or find_unaccounted_values(program_request.request, candidate.pattern, values):
        return None
    return SolutionTaken(
        solution=candidate.solution.id,
        pattern=candidate.pattern,
        likeness=candidate.likeness,
        values=values,
        how="asked",
        reason=answer.reason,
        wordings=answer.wordings,
    )


def find_unaccounted_values(request: str, pattern: str, values: JsonObject) -> list[str]:
    """Return figures and quotations of a request that are neither in the pattern nor among the values.

    A solution that ignores one of them would answer another request.
    """
    accounted_text = f"{get_literal_text(pattern)} {' '.join(map(format_scalar, values.values()))}"
    figures = {figure.lstrip("0") for figure in _FIGURE.findall(accounted_text)}
    quoted = [hit[hit.lastindex or 0] for hit in QUOTATION.finditer(request)]
    unaccounted_figures = [figure for figure in _FIGURE.findall(request) if figure.lstrip("0") not in figures]
    return unaccounted_figures + [
        quotation for quotation in quoted if quotation.casefold() not in accounted_text.casefold()
    ]


def _validate_values(inputs: dict[str, JsonObject], values: JsonObject) -> JsonObject | None:
    """Return the values if they fit their schemas and no input without a default lacks one; else None."""
    _, wrong = check_values(inputs, values)
    lacking = [name for name, schema in inputs.items() if name not in values and "default" not in schema]
    return None if wrong or lacking else values


def _fill_plan(plan: ProgramPlan, values: JsonObject) -> ProgramPlan:
    return plan.model_copy(update={"values": check_values(plan.inputs, values)[0]})


def _find_among(near: Sequence[NearSolution], solution: str) -> Solution | None:
    return next((candidate.solution for candidate in near if candidate.solution.id == solution), None)


async def _find_near(request: str, library: SolutionAccess) -> list[NearSolution]:
    """Return the near solutions; none if the library does not answer, because a run can go on without it."""
    try:
        async with asyncio.timeout(_LIBRARY_TIMEOUT):
            return await library.find_near(request, MAX_NEAR)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the library of solutions: %s", error or "no answer in time")
        return []


async def _load_solution(solution: str, library: SolutionAccess, near: Sequence[NearSolution]) -> Solution | None:
    """Return the selected solution; None if it was removed since the run was interrupted, or cannot be read."""
    try:
        async with asyncio.timeout(_LIBRARY_TIMEOUT):
            return _find_among(near, solution) or (await library.get([solution])).get(solution)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the solution %s: %s", solution, error or "no answer in time")
        return None
