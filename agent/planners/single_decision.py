"""Planners that decide once: the whole path in one answer, with reasons (cot) or without (basic)."""

from agent.budget import Meter
from agent.memory.short_term import told
from agent.offer.candidates import Candidate
from agent.planners.protocol import Planner
from agent.policy.protocol import PathQuestion
from agent.search.dfs import Node, SearchDeps, TellStep, Walked, considered
from agent.search.state import Frontier
from domain.event import PathEnded, StepChosen


def at_once(*, reasoned: bool) -> Planner:
    """Build a planner that chooses the whole path in one decision.

    With ``reasoned``, every step is justified before it is named (chain of thought, Wei et al. 2022). The planner sees the start
    node's candidates and what past paths called right after them. It does not backtrack: if a step fails when called, the rest of
    the path is decided again.
    """

    async def plan(
        request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter, tell: TellStep
    ) -> Walked:
        if meter.exhausted:
            return PathEnded(path=state.path or state.best, how="budget", reason=meter.exhausted), state
        node = await deps.expand(state)
        offered = [c for c in node.candidates if state.is_open(c.tool.id)]
        offered += [f.candidate for f in await deps.followers(state, node) if state.is_open(f.candidate.tool.id)]
        state = state.offer([c.tool.id for c in offered], node.value)
        await tell(considered(state, tuple(offered), node), state)
        room = meter.budget.depth - len(state.path)
        if offered and room > 0:
            answer = await deps.whole_path(_question(request, clauses, state, node, tuple(offered), room, reasoned))
            meter.decisions += 1
            for place in [place for place in answer.steps if 0 <= place < len(offered)][:room]:
                state = state.offer([c.tool.id for c in offered])
                if state.is_open(tool := offered[place].tool.id):
                    state = state.push(tool, answer.reason)
                    await tell(StepChosen(tool=tool, path=state.path, reason=answer.reason), state)
            reason, unserved = answer.reason, answer.unserved
        else:
            reason, unserved = "no tool is left to go on with", ""
        how = "finished" if state.path else "gave_up"
        return PathEnded(path=state.path, how=how, reason=reason, unserved=unserved), state

    return plan


def _question(
    request: str,
    clauses: tuple[str, ...],
    state: Frontier,
    node: Node,
    offered: tuple[Candidate, ...],
    longest: int,
    reasoned: bool,
) -> PathQuestion:
    return PathQuestion(
        request=request,
        clauses=clauses,
        path=node.path,
        path_relevance=node.path_relevance,
        candidates=offered,
        best_relevance=node.best_relevance,
        longest=longest,
        reasoned=reasoned,
        memory=told(state.trail),
    )
