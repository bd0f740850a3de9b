"""Planner that sees each result before it goes on: choose, call, observe, choose (ReAct, Yao et al. 2023)."""

from dataclasses import replace

from agent.budget import Meter
from agent.policy.protocol import Choice, Situation
from agent.search.dfs import SearchDeps, TellStep, Walked, search
from agent.search.state import Frontier


async def react(
    request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter, tell: TellStep
) -> Walked:
    """Choose one step.

    The path ends as ``open``, so that the step is called and the planner is asked again with its result.
    """

    async def choose(situation: Situation) -> Choice:
        return await deps.choose(replace(situation, results=deps.results()))

    seeing = replace(deps, choose=choose, several=False, step_by_step=True)
    return await search(request, clauses, state, seeing, meter, tell)
