"""Solutions as examples for the author of a program: the most similar ones, or one that the policy chooses.

For the planner ``solution``, the policy sees the solutions near a request at once and chooses one, or none (SoAy, Wang
et al. 2024). The program for the request is modelled on the chosen one.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent import resume_decisions as decisions
from agent.offer.tool_evidence import ToolEvidence
from agent.programs.names import assign_tool_names
from agent.programs.program_request import ProgramRequest
from agent.programs.protocol import KnownPrograms
from agent.resume import SubtaskMemo
from agent.run_context import RunDeps
from agent.solutions.author_context import to_known_program
from agent.solutions.protocol import ANY_LIKENESS, NearSolution, SolutionQuestion
from agent.text import clean
from domain.errors import FootpathError
from domain.learning_events import NoSolution, SolutionTaken
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId

MAX_SHOWN = 20
"""Limit of solutions that the policy sees."""
_MAX_NEAR = 8 * MAX_SHOWN
"""Limit of near solutions that are retrieved; more than are shown, because many may have the same path."""
LIBRARY_TIMEOUT = 5.0
"""Time limit of the library in seconds; after that a run goes on without it."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SolutionChoice:
    """The choice of the policy among near solutions, and the request for a program that follows from it."""

    event: SolutionTaken | NoSolution | None
    """The choice as an event; None if there was none."""
    program_request: ProgramRequest
    """Request that a program is written for, with the chosen solution as an example."""
    tools: Sequence[ToolDoc]
    """Tools that the program may use, best first."""

    @property
    def binding(self) -> bool:
        """Return whether nothing else is tried if no program is written, because the policy was asked."""
        return isinstance(self.event, SolutionTaken) or (self.event is not None and self.event.shown > 0)


async def choose_solution(
    program_request: ProgramRequest,
    offered_tools: Sequence[ToolDoc],
    deps: RunDeps,
    evidence: ToolEvidence,
    memo: SubtaskMemo,
) -> SolutionChoice:
    """Have the policy choose a solution for a request; in a resumed run, return the recorded choice.

    If one is chosen, a program may use the tools of that one; else the ``offered_tools``.
    """
    event, solution = await _make_choice(program_request, offered_tools, deps, evidence, memo)
    if isinstance(event, SolutionTaken) and solution is not None:
        ids = list(dict.fromkeys((*solution.path, *solution.plan.program.tools.values())))
        await evidence.read(ids)
        tools = [evidence.doc(tool) for tool in ids if evidence.has(tool)]
        reference_program = to_known_program(
            solution, event.pattern, {name: tool.id for name, tool in assign_tool_names(tools)}
        )
        if deps.knowledge.solutions is not None and solution.owner != deps.knowledge.solutions.owner:
            # Someone else's text may run unchanged, so it must not count as permission for its changes.
            reference_program = replace(
                reference_program, tainted=reference_program.tainted or not all(tool.safe for tool in tools)
            )
        return SolutionChoice(
            event,
            replace(program_request, known=KnownPrograms((reference_program,), chosen=True), counts_refusals=True),
            tools,
        )
    if isinstance(event, NoSolution) and event.shown:
        return SolutionChoice(
            event, replace(program_request, known=KnownPrograms(path=event.path), counts_refusals=True), offered_tools
        )
    return SolutionChoice(event, program_request, offered_tools)


async def _make_choice(
    program_request: ProgramRequest,
    offered_tools: Sequence[ToolDoc],
    deps: RunDeps,
    evidence: ToolEvidence,
    memo: SubtaskMemo,
) -> tuple[SolutionTaken | NoSolution | None, Solution | None]:
    """Return the event of the choice, and the chosen solution if it still exists."""
    recorded = memo.recall(decisions.read_chosen_solution)
    if recorded is not None:
        recorded_event = recorded.value
        return recorded_event, await _load_solution(recorded_event.solution, deps) if isinstance(
            recorded_event, SolutionTaken
        ) else None
    near = await _find_near(program_request.request, deps)
    if isinstance(near, NoSolution):
        return near, None
    names = tuple(name for name, _ in assign_tool_names(offered_tools))
    changing = await _find_changing_tools(near, evidence)
    question = SolutionQuestion(
        program_request.request, near, names, program_request.today, program_request.earlier.text, changing
    )
    choice = await deps.planning.policy.decide(question)
    if choice.place is None:
        return NoSolution(shown=len(near), path=choice.path, reason=choice.reason), None
    chosen = near[choice.place]
    event = SolutionTaken(
        solution=chosen.solution.id,
        pattern=chosen.pattern,
        likeness=chosen.likeness,
        how="chosen",
        reason=choice.reason,
    )
    return event, chosen.solution


async def _find_changing_tools(near: Sequence[NearSolution], evidence: ToolEvidence) -> frozenset[ToolId]:
    """Return the tools of these solutions that may have side effects."""
    ids = list(dict.fromkeys(tool for one in near for tool in one.solution.path))
    await evidence.read(ids)
    return frozenset(tool for tool in ids if evidence.has(tool) and not evidence.doc(tool).safe)


async def _find_near(request: str, deps: RunDeps) -> list[NearSolution] | NoSolution:
    """Return the solutions to choose from, or an event with the reason why there are none."""
    if deps.knowledge.solutions is None:
        return NoSolution(shown=0, reason="there is no library of solutions")
    try:
        async with asyncio.timeout(LIBRARY_TIMEOUT):
            near = await deps.knowledge.solutions.find_near(request, _MAX_NEAR, ANY_LIKENESS)
    except TimeoutError:
        return _skip_library(f"it did not answer within {LIBRARY_TIMEOUT:g} seconds")
    except FootpathError as error:
        return _skip_library(f"{error.code}: {error.public_message}", error)
    return _interleave_paths(near) or NoSolution(shown=0, reason="the library has no solution")


def _interleave_paths(near: Sequence[NearSolution]) -> list[NearSolution]:
    """Return the solutions to show: the nearest of each path, then the second of each and so on, ordered by likeness.

    Many solutions of one path would otherwise hide the other paths.
    """
    path_counts = Counter[tuple[ToolId, ...]]()
    rank: dict[str, int] = {}
    for one in near:
        path_counts[one.solution.path] += 1
        rank[one.solution.id] = path_counts[one.solution.path]
    first = sorted(near, key=lambda one: rank[one.solution.id])[:MAX_SHOWN]
    shown_ids = {one.solution.id for one in first}
    return [one for one in near if one.solution.id in shown_ids]


async def _load_solution(solution: str, deps: RunDeps) -> Solution | None:
    """Return a solution that was chosen before the run was interrupted, if it still exists.

    Its texts are in the run's record.
    """
    if deps.knowledge.solutions is None:
        return None
    try:
        async with asyncio.timeout(LIBRARY_TIMEOUT):
            return (await deps.knowledge.solutions.get([solution])).get(solution)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the solution %s: %s", solution, error or "no answer in time")
        return None


def _skip_library(reason: str, error: FootpathError | None = None) -> NoSolution:
    """Log why the library cannot be used, and return that as an event."""
    _log.warning(
        "a run goes on without the library of solutions: %s", error or reason
    )  # users must not see the address of a store
    return NoSolution(shown=0, reason=clean(f"the library of solutions is done without: {reason}", 400))
