"""The planner that sees each result before it goes on: choose, call, see what came back, choose (ReAct, Yao et al. 2023)."""

from dataclasses import replace

from agent.budget import Meter
from agent.policy.protocol import Choice, Situation
from agent.search.dfs import SearchDeps, TellStep, Walked, search
from agent.search.state import Frontier


async def react(
    request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter, tell: TellStep
) -> Walked:
    """One step of the walk; its path is ``open``, so that it is called, and the planner is asked again with its result."""

    async def choose(situation: Situation) -> Choice:
        return await deps.choose(replace(situation, results=deps.results()))

    seeing = replace(deps, choose=choose, several=False, step_by_step=True)
    return await search(request, clauses, state, seeing, meter, tell)
