"""SoAy's retrieval: the policy sees the solutions near a request at once and chooses one, or none.

A new program is written after the chosen one.
"""

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
"""Near solutions that are searched; many of them may have the same path."""
SECONDS = 5.0
"""Time limit of the library; a run goes on without it after that."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Choice among near solutions."""

    told: SolutionTaken | NoSolution | None
    """The choice as an event; None if there was none."""
    asked: Asked
    """Request that a program is written for, with the chosen solution."""
    tools: Sequence[ToolDoc]
    """Tools that the program may use, best first."""

    @property
    def binding(self) -> bool:
        """True if writing a program is the only way on: if it fails, nothing else is tried."""
        return isinstance(self.told, SolutionTaken) or (self.told is not None and self.told.shown > 0)


async def choose(asked: Asked, offered: Sequence[ToolDoc], deps: RunDeps, evidence: Evidence, memo: Memo) -> Chosen:
    """Return the choice for a request, or the recorded one when a run is resumed.

    ``offered`` are the tools that are offered for the request.
    """
    told, solution = await _choice(asked, offered, deps, evidence, memo)
    if isinstance(told, SolutionTaken) and solution is not None:
        ids = list(dict.fromkeys((*solution.path, *solution.plan.program.tools.values())))
        await evidence.read(ids)
        tools = [evidence.doc(tool) for tool in ids if evidence.has(tool)]
        known = known_program(solution, told.pattern, {name: tool.id for name, tool in tool_names(tools)})
        if deps.knowledge.solutions is not None and solution.owner != deps.knowledge.solutions.owner:
            # Someone else's text may run unchanged, so it must not count as permission for its changes.
            known = replace(known, tainted=known.tainted or not all(tool.safe for tool in tools))
        return Chosen(told, replace(asked, known=Known((known,), chosen=True), thrice=True), tools)
    if isinstance(told, NoSolution) and told.shown:
        return Chosen(told, replace(asked, known=Known(path=told.path), thrice=True), offered)
    return Chosen(told, asked, offered)


async def _choice(
    asked: Asked, offered: Sequence[ToolDoc], deps: RunDeps, evidence: Evidence, memo: Memo
) -> tuple[SolutionTaken | NoSolution | None, Solution | None]:
    """Return the event of the choice, and the chosen solution."""
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
    """Return the tools of these solutions that may have side effects."""
    ids = list(dict.fromkeys(tool for one in near for tool in one.solution.path))
    await evidence.read(ids)
    return frozenset(tool for tool in ids if evidence.has(tool) and not evidence.doc(tool).safe)


async def _near(request: str, deps: RunDeps) -> list[NearSolution] | NoSolution:
    """Return the near solutions, or the reason why none can be chosen."""
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
    """Return the nearest of each path, then the second of each, up to the number shown, ordered by likeness."""
    met = Counter[tuple[ToolId, ...]]()
    rank: dict[str, int] = {}
    for one in near:
        met[one.solution.path] += 1
        rank[one.solution.id] = met[one.solution.path]
    first = sorted(near, key=lambda one: rank[one.solution.id])[:MOST]
    kept = {one.solution.id for one in first}
    return [one for one in near if one.solution.id in kept]


async def _kept(solution: str, deps: RunDeps) -> Solution | None:
    """Return a solution that was chosen before the run was interrupted, if it still exists.

    Its texts are in the run's record.
    """
    if deps.knowledge.solutions is None:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            return (await deps.knowledge.solutions.get([solution])).get(solution)
    except (TimeoutError, FootpathError) as error:
        _log.warning("a run goes on without the solution %s: %s", solution, error or "no answer in time")
        return None


def _without(reason: str, error: FootpathError | None = None) -> NoSolution:
    """Log why the library cannot be used, and return that as an event."""
    _log.warning(
        "a run goes on without the library of solutions: %s", error or reason
    )  # users must not see the address of a store
    return NoSolution(shown=0, reason=clean(f"the library of solutions is done without: {reason}", 400))
