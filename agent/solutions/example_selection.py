"""Solutions as examples for the author of a program: the most similar ones, or one that the policy chooses.

For the planner ``solution``, the policy sees the solutions near a request at once and chooses one, or none (SoAy, Wang
et al. 2024). The program for the request is modelled on the chosen one.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent import resume_decisions as decisions
from agent.offer.tool_evidence import ToolEvidence
from agent.programs.analysis.canonical_form import rename_functions
from agent.programs.function_names import assign_tool_names
from agent.programs.program_request import ProgramRequest
from agent.programs.program_types import KnownProgram, KnownPrograms
from agent.resume import SubtaskMemo
from agent.run_context import RunDeps
from agent.solutions.protocol import ANY_LIKENESS, NearSolution, SolutionQuestion
from agent.text import clean_text
from domain.errors import FootpathError
from domain.event import NoSolution, SolutionTaken
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId

_log = logging.getLogger(__name__)

MAX_EXAMPLES = 2
"""Limit of examples."""
MIN_EXAMPLE_LIKENESS = 0.5
"""Minimum likeness of a solution that is shown as an example."""
_MAX_EXAMPLE_LENGTH = 1_500
"""Limit of the text of an example, in characters; longer ones are not shown."""


async def select_known_programs(
    near_solutions: Sequence[NearSolution], excluded_id: str, offered_tools: Sequence[ToolDoc], evidence: ToolEvidence
) -> tuple[KnownPrograms, Sequence[ToolDoc]]:
    """Return the best near solutions as examples, and the offered tools with the tools of the examples in front.

    Not shown are the solution ``excluded_id``, which was tried already; texts whose author had seen responses, because
    they may contain words of these; and texts whose tools are not all indexed.
    """
    suitable = [
        candidate
        for candidate in near_solutions
        if candidate.likeness >= MIN_EXAMPLE_LIKENESS
        and candidate.solution.id != excluded_id
        and _is_suitable(candidate)
    ]
    await evidence.read(
        [tool for candidate in suitable[:MAX_EXAMPLES] for tool in candidate.solution.plan.program.tools.values()]
    )
    chosen = [
        candidate
        for candidate in suitable[:MAX_EXAMPLES]
        if all(map(evidence.has, candidate.solution.plan.program.tools.values()))
    ]
    offered_ids = {tool.id for tool in offered_tools}
    called_tools = dict.fromkeys(
        tool for candidate in chosen for tool in candidate.solution.plan.program.tools.values()
    )
    missing_tools = [evidence.doc(tool) for tool in called_tools if tool not in offered_ids]
    tools = [*missing_tools, *offered_tools]
    names = {name: tool.id for name, tool in assign_tool_names(tools)}
    return KnownPrograms(
        tuple(to_known_program(candidate.solution, candidate.pattern, names) for candidate in chosen)
    ), tools


def _is_suitable(candidate: NearSolution) -> bool:
    """Return whether the text of a solution may be shown to an author."""
    program = candidate.solution.plan.program
    return not program.tainted and len(program.text) <= _MAX_EXAMPLE_LENGTH


def to_known_program(solution: Solution, pattern: str, names: Mapping[str, ToolId]) -> KnownProgram:
    """Return a solution as an example for an author; ``names`` are the names that functions have in the prompt."""
    plan = solution.plan
    by_tool = {tool: name for name, tool in names.items()}
    called = {name: by_tool.get(tool, name) for name, tool in plan.program.tools.items()}
    return KnownProgram(pattern, plan.inputs, rename_functions(plan.program.text, called), plan.program.tainted)


MAX_SHOWN_SOLUTIONS = 20
"""Limit of solutions that the policy sees."""
_MAX_NEAR = 8 * MAX_SHOWN_SOLUTIONS
"""Limit of near solutions that are retrieved; more than are shown, because many may have the same path."""
LIBRARY_TIMEOUT = 5.0
"""Time limit of the library in seconds; after that a run goes on without it."""


@dataclass(frozen=True, slots=True)
class ExampleChoice:
    """The choice of the policy among near solutions, and the request for a program that follows from it."""

    event: SolutionTaken | NoSolution | None
    """The choice as an event; None if there was none."""
    program_request: ProgramRequest
    """Request that a program is written for, with the chosen solution as an example."""
    tools: Sequence[ToolDoc]
    """Tools that the program may use, best first."""

    @property
    def is_binding(self) -> bool:
        """Return whether nothing else is tried if no program is written, because the policy was asked."""
        return isinstance(self.event, SolutionTaken) or (self.event is not None and self.event.shown > 0)


async def choose_example(
    program_request: ProgramRequest,
    offered_tools: Sequence[ToolDoc],
    deps: RunDeps,
    evidence: ToolEvidence,
    memo: SubtaskMemo,
) -> ExampleChoice:
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
        return ExampleChoice(
            event,
            replace(
                program_request,
                known_programs=KnownPrograms((reference_program,), is_chosen=True),
                counts_refusals=True,
            ),
            tools,
        )
    if isinstance(event, NoSolution) and event.shown:
        return ExampleChoice(
            event,
            replace(program_request, known_programs=KnownPrograms(path=event.path), counts_refusals=True),
            offered_tools,
        )
    return ExampleChoice(event, program_request, offered_tools)


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
        return recorded_event, await _load_chosen_solution(recorded_event.solution, deps) if isinstance(
            recorded_event, SolutionTaken
        ) else None
    near = await _find_choices(program_request.request, deps)
    if isinstance(near, NoSolution):
        return near, None
    names = tuple(name for name, _ in assign_tool_names(offered_tools))
    changing = await _find_changing_tools(near, evidence)
    question = SolutionQuestion(
        program_request.request, near, names, program_request.today, program_request.earlier.text, changing
    )
    choice = await deps.planning.policy.decide(question)
    if choice.index is None:
        return NoSolution(shown=len(near), path=choice.path, reason=choice.reason), None
    chosen = near[choice.index]
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
    ids = list(dict.fromkeys(tool for candidate in near for tool in candidate.solution.path))
    await evidence.read(ids)
    return frozenset(tool for tool in ids if evidence.has(tool) and not evidence.doc(tool).safe)


async def _find_choices(request: str, deps: RunDeps) -> list[NearSolution] | NoSolution:
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
    for candidate in near:
        path_counts[candidate.solution.path] += 1
        rank[candidate.solution.id] = path_counts[candidate.solution.path]
    shown = sorted(near, key=lambda one: rank[one.solution.id])[:MAX_SHOWN_SOLUTIONS]
    shown_ids = {candidate.solution.id for candidate in shown}
    return [candidate for candidate in near if candidate.solution.id in shown_ids]


async def _load_chosen_solution(solution: str, deps: RunDeps) -> Solution | None:
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
    return NoSolution(shown=0, reason=clean_text(f"the library of solutions is done without: {reason}", 400))
