"""The planner that sees each result before it goes on: choose, call, see what came back, choose (ReAct, Yao et al. 2023)."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from agent.budget import Meter
from agent.policy.protocol import Choice, Situation
from agent.search.dfs import SearchDeps, Step, search
from agent.search.state import Frontier
from domain.event import PathEnded, StepChosen


async def react(
    request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter
) -> AsyncIterator[Step]:
    """One step of the walk; its path is ``open``, so that it is called, and the planner is asked again with its result."""

    async def choose(situation: Situation) -> Choice:
        return await deps.choose(replace(situation, results=deps.results()))

    seeing = replace(deps, choose=choose, several=False)
    async with aclosing(cast("Any", search(request, clauses, state, seeing, meter))) as steps:
        async for event, after in steps:
            yield event, after
            if isinstance(event, StepChosen):
                yield PathEnded(path=after.path, how="open", reason=event.reason), after
                return
