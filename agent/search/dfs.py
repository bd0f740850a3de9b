"""Depth-first search of the tool graph over an immutable state (thesis 4.3.2.1)."""

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
"""Emits an event of a search, and keeps the state after it."""
Walked = tuple[PathEnded, Frontier]
"""How a search ended, and the state in which it did."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the search: what is known at the end of a path."""

    path: tuple[ToolDoc, ...]
    """Tools of the path, after those of prior steps that the subtask builds on."""
    path_relevance: tuple[tuple[float, ...], ...]
    """For each tool of the path, its relevance to each clause of the request."""
    best_relevance: tuple[float, ...]
    """For each clause of the request, the highest relevance of any tool that was found and is not banned."""
    candidates: tuple[Candidate, ...]
    finish_weight: float
    """Weight of ending the path here."""
    value: float = 0.0
    """How much of the request the path serves, from 0 up."""
    again: tuple[ToolId, ...] = ()
    """Candidates that the path has already, offered again for another value."""
    recalled: tuple[Recalled, ...] = ()
    kin: Mapping[ToolId, Kin] = field(default_factory=dict[ToolId, Kin])


@dataclass(frozen=True, slots=True)
class SearchDeps:
    """Functions and options that a search works with."""

    expand: Callable[[Frontier], Awaitable[Node]]
    """Returns the node of a state, with its candidates."""
    choose: Callable[[Situation], Awaitable[Choice]]
    """Decides on the next move at a node."""
    whole_path: Callable[[PathQuestion], Awaitable[WholePath]]
    """Decides on all steps of a path at once."""
    followers: Callable[[Frontier, Node], Awaitable[tuple[Follower, ...]]]
    """Returns tools that may follow the candidates, for decisions that name several steps."""
    several: bool = False
    """The function ``choose`` may name several steps; otherwise only the first one counts."""
    results: Callable[[], Results] = tuple
    """Returns the results of the path so far."""
    step_by_step: bool = False
    """Stop after each step, so that it is called before the next is chosen."""


async def search(
    request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter, tell: TellStep
) -> Walked:
    """Search on from ``state`` until the path is finished, given up, or a limit of the budget is reached.

    A state can be kept to search on from it later. A choice that is not among the candidates counts as a dead end.
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
    """Return the candidates still to be tried.

    At the depth limit there are none: only finishing and backtracking are left.
    """
    if len(state.path) >= meter.budget.depth:
        return ()
    return tuple(c for c in node.candidates if state.is_open(c.tool.id))


def considered(state: Frontier, candidates: tuple[Candidate, ...], node: Node) -> CandidatesConsidered:
    """Build the event that lists a node's candidates."""
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
    """Return the node with only the given candidates."""
    return replace(node, candidates=candidates)
