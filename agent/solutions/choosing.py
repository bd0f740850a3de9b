"""SoAy's retrieval: the solutions near a request are shown to the policy at once; it chooses the one that a program is written after, or says that none fits."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent import resume_decisions as decisions
from agent.offer.tool_facts import Evidence
from agent.programs.earlier import Asked
from agent.programs.known import Known
from agent.programs.names import tool_names
from agent.resume import Memo
from agent.run_context import RunDeps
from agent.solutions.for_authors import known_program
from agent.solutions.protocol import ANY, NearSolution, SolutionQuestion
from agent.text import clean
from domain.errors import FootpathError
from domain.solution import Solution
from domain.taken import NoSolution, SolutionTaken
from domain.tool import ToolDoc, ToolId

MOST = 20
"""Solutions that are shown."""
_LOOKED_AT = 8 * MOST
"""Near solutions: those of many paths may come behind many of one."""
SECONDS = 5.0
"""A library that takes longer than this is done without."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chosen:
    """``told``: the choice as an event; None where none was made. ``asked``: what a program is written for now; ``tools``: over these, best first.

    ``binding``: a program is the only way from here: where none comes out, nothing else is tried.
    """

    told: SolutionTaken | NoSolution | None
    asked: Asked
    tools: Sequence[ToolDoc]

    @property
    def binding(self) -> bool:
        return isinstance(self.told, SolutionTaken) or (self.told is not None and self.told.shown > 0)


async def choose(asked: Asked, offered: Sequence[ToolDoc], deps: RunDeps, evidence: Evidence, memo: Memo) -> Chosen:
    """The choice for a request, that of the run's record where it holds one. ``offered``: the tools that are offered for it."""
    told, solution = await _choice(asked, offered, deps, evidence, memo)
    if isinstance(told, SolutionTaken) and solution is not None:
        ids = list(dict.fromkeys((*solution.path, *solution.plan.program.tools.values())))
        await evidence.read(ids)
        tools = [evidence.doc(tool) for tool in ids if evidence.has(tool)]
        known = known_program(solution, told.pattern, {name: tool.id for name, tool in tool_names(tools)})
        if deps.knowledge.solutions is not None and solution.owner != deps.knowledge.solutions.owner:
            # Another's text, which may be run as it stands: it brings no leave for its changes.
            known = replace(known, tainted=known.tainted or not all(tool.safe for tool in tools))
        return Chosen(told, replace(asked, known=Known((known,), chosen=True), thrice=True), tools)
    if isinstance(told, NoSolution) and told.shown:
        return Chosen(told, replace(asked, known=Known(path=told.path), thrice=True), offered)
    return Chosen(told, asked, offered)


async def _choice(
    asked: Asked, offered: Sequence[ToolDoc], deps: RunDeps, evidence: Evidence, memo: Memo
) -> tuple[SolutionTaken | NoSolution | None, Solution | None]:
    """The event of a choice, with the solution that it names."""
    recorded = memo.recall(decisions.chosen_solution)
    if recorded is not None:
        told = recorded.value
        return told, await _kept(told.solution, deps) if isinstance(told, SolutionTaken) else None
    near = await _near(asked.request, deps)
    if isinstance(near, NoSolution):
        return near, None
    names = tuple(name for name, _ in tool_names(offered))
    changing = await _changing(near, evidence)
    question = SolutionQuestion(asked.request, near, names, asked.today, asked.earlier.text, changing)
    choice = await deps.planning.policy.decide(question)
    if choice.place is None:
        return NoSolution(shown=len(near), path=choice.path, reason=choice.reason), None
    one = near[choice.place]
    taken = SolutionTaken(
        solution=one.solution.id, pattern=one.pattern, likeness=one.likeness, how="chosen", reason=choice.reason
    )
    return taken, one.solution


async def _changing(near: Sequence[NearSolution], evidence: Evidence) -> frozenset[ToolId]:
    """The tools of solutions that change something, or may."""
    ids = list(dict.fromkeys(tool for one in near for tool in one.solution.path))
    await evidence.read(ids)
    return frozenset(tool for tool in ids if evidence.has(tool) and not evidence.doc(tool).safe)


async def _near(request: str, deps: RunDeps) -> list[NearSolution] | NoSolution:
    """What the library has for a request; why nothing can be chosen where it is empty or cannot be asked."""
    if deps.knowledge.solutions is None:
        return NoSolution(shown=0, reason="there is no library of solutions")
    try:
        async with asyncio.timeout(SECONDS):
            near = await deps.knowledge.solutions.near(request, _LOOKED_AT, ANY)
    except TimeoutError:
        return _without(f"it did not answer within {SECONDS:g} seconds")
    except FootpathError as error:
        return _without(f"{error.code}: {error.public_message}", error)
    return _apart(near) or NoSolution(shown=0, reason="the library has no solution")


def _apart(near: Sequence[NearSolution]) -> list[NearSolution]:
    """The nearest of each path, then the second of each, and so on, as many as are shown; in the order of all."""
    met = Counter[tuple[ToolId, ...]]()
    rank: dict[str, int] = {}
    for one in near:
        met[one.solution.path] += 1
        rank[one.solution.id] = met[one.solution.path]
    first = sorted(near, key=lambda one: rank[one.solution.id])[:MOST]
    kept = {one.solution.id for one in first}
    return [one for one in near if one.solution.id in kept]


async def _kept(solution: str, deps: RunDeps) -> Solution | None:
    """One that was chosen before the run was broken off, as far as it is still there: its texts are in the record."""
    if deps.knowledge.solutions is None:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            return (await deps.knowledge.solutions.get([solution])).get(solution)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the solution %s: %s", solution, error or "no answer in time")
        return None


def _without(reason: str, error: FootpathError | None = None) -> NoSolution:
    _log.warning(
        "a run goes on without the library of solutions: %s", error or reason
    )  # where a store is, is not for users
    return NoSolution(shown=0, reason=clean(f"the library of solutions is done without: {reason}", 400))
