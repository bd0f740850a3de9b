"""The depth-first walk through the tool graph, over a pure state (thesis 4.3.2.1)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from agent.budget import Meter
from agent.memory.short_term import told
from agent.offer.candidates import Candidate, Follower, Kin
from agent.policy.protocol import Choice, PathQuestion, Results, Situation, WholePath
from agent.search.lookahead import Foresight
from agent.search.state import Frontier
from domain.event import CandidatesConsidered, ConsideredTool, PathEnded, StepBacktracked, StepChosen
from domain.memory import Recalled
from domain.tool import ToolDoc, ToolId

WalkEvent = CandidatesConsidered | StepChosen | StepBacktracked
TellStep = Callable[[WalkEvent, Frontier], Awaitable[None]]
"""Tells an event of a walk, and keeps the state after it."""
Walked = tuple[PathEnded, Frontier]
"""How a walk ended, and the state in which it did."""


@dataclass(frozen=True, slots=True)
class Node:
    """What is known at the end of a path. ``path``: its tools, after those of steps that are done already. ``value``: how much of the request the path serves, from 0 up. ``again``: the candidates
    that the path has already, offered once more for another value.
    """

    path: tuple[ToolDoc, ...]
    path_relevance: tuple[tuple[float, ...], ...]
    best_relevance: tuple[float, ...]
    candidates: tuple[Candidate, ...]
    finish_weight: float
    value: float = 0.0
    again: tuple[ToolId, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    kin: Mapping[ToolId, Kin] = field(default_factory=dict[ToolId, Kin])


@dataclass(frozen=True, slots=True)
class SearchDeps:
    """What the walk needs: the candidates at a state's node, and the next move there. ``followers``: what may come next but one, for
    whoever names several steps at once; ``several``: whether ``choose`` does; otherwise only the first one counts. ``whole_path``: all steps in one decision.
    ``results``: what the path has given so far. ``step_by_step``: the walk stops after each step, so that it is called before the next is chosen.
    """

    expand: Callable[[Frontier], Awaitable[Node]]
    choose: Callable[[Situation], Awaitable[Choice]]
    whole_path: Callable[[PathQuestion], Awaitable[WholePath]]
    followers: Callable[[Frontier, Node], Awaitable[tuple[Follower, ...]]]
    several: bool = False
    results: Callable[[], Results] = tuple
    step_by_step: bool = False


async def search(
    request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter, tell: TellStep
) -> Walked:
    """Walk on from ``state`` until the path is finished, given up, or a bound of the budget is reached.

    A state can be kept and walked on from later. A choice that is not on offer counts as a dead end.
    """
    foresight = Foresight()
    while not meter.exhausted:
        node = await deps.expand(state)
        state = state.offer([c.tool.id for c in node.candidates], node.value, node.again)
        candidates = _open(node, state, meter)
        await tell(considered(state, candidates, node), state)
        if not candidates and not state.path:
            return PathEnded(path=(), how="gave_up", reason="no tool is left to start with"), state.backtrack("")
        choice = foresight.move(candidates)
        if choice is None:
            followers = await deps.followers(state, _only(node, candidates)) if deps.several and candidates else ()
            situation = _situation(request, clauses, state, node, candidates, followers, several=deps.several)
            choice = await deps.choose(situation)
            meter.decisions += 1
            if deps.several:
                foresight.note(choice)
        if choice.action == "finish" and state.path:
            reason, unserved = choice.reason, choice.unserved
            return PathEnded(path=state.path, how="finished", reason=reason, unserved=unserved), state
        if choice.action == "advance" and choice.index is not None and 0 <= choice.index < len(candidates):
            state = state.push(candidates[choice.index].tool.id, choice.reason)
            chosen = StepChosen(tool=state.path[-1], path=state.path, reason=choice.reason, memory=choice.memory)
            await tell(chosen, state)
            if deps.step_by_step:
                return PathEnded(path=state.path, how="open", reason=choice.reason), state
            continue
        dropped, state = state.path[-1:], state.backtrack(choice.reason)
        if state.given_up or choice.action == "give_up":
            given_up = state.model_copy(update={"given_up": True})
            return PathEnded(path=(), how="gave_up", reason=choice.reason), given_up
        await tell(StepBacktracked(dropped=dropped[0], path=state.path, reason=choice.reason), state)
    return PathEnded(path=state.best, how="budget", reason=meter.exhausted), state


def _open(node: Node, state: Frontier, meter: Meter) -> tuple[Candidate, ...]:
    """The candidates still to be tried; none at the depth bound, where only Finish and going back are left."""
    if len(state.path) >= meter.budget.depth:
        return ()
    return tuple(c for c in node.candidates if state.is_open(c.tool.id))


def considered(state: Frontier, candidates: tuple[Candidate, ...], node: Node) -> CandidatesConsidered:
    """The event of a node's candidates."""
    shown = tuple(
        ConsideredTool(
            tool=c.tool.id,
            weight=c.weight,
            availability=c.availability,
            relevance=max(c.relevance, default=0.0),
            origin=c.origin,
            missing=c.missing,
            feeds=c.feeds,
        )
        for c in candidates
    )
    return CandidatesConsidered(path=state.path, candidates=shown, finish_weight=node.finish_weight)


def _situation(
    request: str,
    clauses: tuple[str, ...],
    state: Frontier,
    node: Node,
    candidates: tuple[Candidate, ...],
    followers: tuple[Follower, ...],
    *,
    several: bool,
) -> Situation:
    return Situation(
        request=request,
        clauses=clauses,
        path=node.path,
        path_relevance=node.path_relevance,
        best_relevance=node.best_relevance,
        candidates=candidates,
        finish_weight=node.finish_weight,
        memory=told(state.trail),
        recalled=node.recalled,
        followers=followers,
        several=several,
        kin=node.kin,
    )


def _only(node: Node, candidates: tuple[Candidate, ...]) -> Node:
    """The node with those candidates that can still be chosen."""
    return replace(node, candidates=candidates)
