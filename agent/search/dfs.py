"""Depth-first search of the tool graph over an immutable state (thesis 4.3.2.1), with its settings and options."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.budget import BudgetMeter
from agent.memory.short_term import render_move_history
from agent.offer.candidates import FollowingCandidate, ToolCandidate, ToolsetPrior
from agent.policy.protocol import MoveQuestion, NextMove, PathQuestion, Results, WholePath
from agent.search.state import SearchState
from domain.event import CandidatesConsidered, ConsideredTool, PathEnded, StepBacktracked, StepChosen
from domain.memory import RecalledMemory
from domain.tool import ToolDoc, ToolId

_STRONG_WEIGHT = 0.5
"""Edge weight from which past paths agree so strongly on a tool that another one is not taken unasked."""


@dataclass(slots=True)
class Lookahead:
    """Steps that the last decision named and that are still to be taken."""

    tools: tuple[ToolId, ...] = ()
    """Tools to advance to, in order."""
    last: bool = False
    """True if the path is finished after these tools."""
    reason: str = ""
    """Reason of the decision."""
    unserved: str = ""
    """Part of the request that the finished path leaves undone."""

    def replace_steps(self, choice: NextMove) -> None:
        """Replace the planned steps by those of a new decision; they are cleared if it does not advance."""
        advance = choice.action == "advance"
        self.tools = choice.next_tools if advance else ()
        self.last = advance and choice.completes_path
        self.reason = choice.reason
        self.unserved = choice.unserved

    def take_move(self, candidates: Sequence[ToolCandidate]) -> NextMove | None:
        """Return the next planned move if it is safe at this node.

        Otherwise discard the plan and return None, so that the policy is asked.
        """
        if not self.tools:
            finished = NextMove("finish", self.reason, unserved=self.unserved) if self.last else None
            self.last = False
            return finished
        next_tool, self.tools = self.tools[0], self.tools[1:]
        index = next(
            (position for position, candidate in enumerate(candidates) if candidate.tool.id == next_tool), None
        )
        if index is None or not _is_clear_choice(candidates[index], candidates):
            self.tools, self.last = (), False
            return None
        return NextMove("advance", self.reason, index)


def _is_clear_choice(candidate: ToolCandidate, candidates: Sequence[ToolCandidate]) -> bool:
    """Return whether a candidate may be taken without asking the policy.

    It must have all its inputs. In addition, a field of the path must feed it, or past paths must not favour another
    tool strongly.
    """
    best_weight = max((other.weight for other in candidates if other.origin == "graph"), default=0.0)
    return not candidate.missing and bool(
        candidate.feeds or best_weight < _STRONG_WEIGHT or candidate.weight >= best_weight
    )


SearchEvent = CandidatesConsidered | StepChosen | StepBacktracked
EmitStep = Callable[[SearchEvent, SearchState], Awaitable[None]]
"""Function that emits an event of a search and saves the state after it."""
SearchResult = tuple[PathEnded, SearchState]
"""The event that ends a search, and the state at its end."""


@dataclass(frozen=True, slots=True)
class SearchNode:
    """A node of the search: the end of a path, with the tools that may come next."""

    path: tuple[ToolDoc, ...]
    """Tools of earlier steps that the subtask builds on, followed by those of the path."""
    path_relevance: tuple[tuple[float, ...], ...]
    """For each tool of the path, its relevance to each clause of the request."""
    best_relevance: tuple[float, ...]
    """For each clause of the request, the highest relevance of any tool that was found and is not banned."""
    candidates: tuple[ToolCandidate, ...]
    """Tools that may come next, best first."""
    finish_weight: float
    """Weight of ending the path here."""
    value: float = 0.0
    """How much of the request the path serves; 0 if nothing, without an upper limit."""
    again: tuple[ToolId, ...] = ()
    """Candidates that are on the path already and are offered again, to be called with another value."""
    recalled: tuple[RecalledMemory, ...] = ()
    """Paths that served similar requests."""
    toolset_priors: Mapping[ToolId, ToolsetPrior] = field(default_factory=dict[ToolId, ToolsetPrior])
    """Evidence from the tool set of each tool that was found, if past paths used few of them; else empty."""


@dataclass(frozen=True, slots=True)
class SearchDeps:
    """Functions and options of a search."""

    expand: Callable[[SearchState], Awaitable[SearchNode]]
    """Returns the node of a state."""
    choose_move: Callable[[MoveQuestion], Awaitable[NextMove]]
    """Chooses the next move at a node."""
    choose_path: Callable[[PathQuestion], Awaitable[WholePath]]
    """Chooses all steps of a path at once."""
    find_followers: Callable[[SearchState, SearchNode], Awaitable[tuple[FollowingCandidate, ...]]]
    """Returns tools that may follow the candidates, for decisions that name several steps."""
    several_steps: bool = False
    """True if one decision may name several steps; otherwise only its first step is used."""
    get_results: Callable[[], Results] = tuple
    """Returns the results of the steps called so far."""
    step_by_step: bool = False
    """True to stop after each step, so that it is called before the next one is chosen."""


async def search(
    request: str, clauses: tuple[str, ...], state: SearchState, deps: SearchDeps, meter: BudgetMeter, emit: EmitStep
) -> SearchResult:
    """Search from ``state`` until the path is finished, the search gives up, or a limit of the budget is reached.

    The returned state can be saved and passed to a later search. A choice that is not among the candidates counts as a
    decision to backtrack.

    Args:
        request: the request.
        clauses: its clauses, against each of which relevance is measured.
        state: where to start.
        deps: functions and options of the search.
        meter: counts decisions and says which limit is reached.
        emit: receives each event together with the state after it.
    """
    lookahead = Lookahead()
    while not meter.exhausted:
        node = await deps.expand(state)
        state = state.offer([candidate.tool.id for candidate in node.candidates], node.value, node.again)
        candidates = _select_open_candidates(node, state, meter)
        await emit(build_considered_event(state, candidates, node), state)
        if not candidates and not state.path:
            return PathEnded(path=(), how="gave_up", reason="no tool is left to start with"), state.backtrack("")
        choice = lookahead.take_move(candidates)
        if choice is None:
            followers = (
                await deps.find_followers(state, _replace_candidates(node, candidates))
                if deps.several_steps and candidates
                else ()
            )
            question = _build_move_question(
                request, clauses, state, node, candidates, followers, several_steps=deps.several_steps
            )
            choice = await deps.choose_move(question)
            meter.decisions += 1
            if deps.several_steps:
                lookahead.replace_steps(choice)
        if choice.action == "finish" and state.path:
            reason, unserved = choice.reason, choice.unserved
            return PathEnded(path=state.path, how="finished", reason=reason, unserved=unserved), state
        if choice.action == "advance" and choice.index is not None and 0 <= choice.index < len(candidates):
            state = state.push(candidates[choice.index].tool.id, choice.reason)
            chosen = StepChosen(tool=state.path[-1], path=state.path, reason=choice.reason, memory=choice.memory)
            await emit(chosen, state)
            if deps.step_by_step:
                return PathEnded(path=state.path, how="open", reason=choice.reason), state
            continue
        dropped, state = state.path[-1:], state.backtrack(choice.reason)
        if state.given_up or choice.action == "give_up":
            given_up = state.model_copy(update={"given_up": True})
            return PathEnded(path=(), how="gave_up", reason=choice.reason), given_up
        await emit(StepBacktracked(dropped=dropped[0], path=state.path, reason=choice.reason), state)
    return PathEnded(path=state.best, how="budget", reason=meter.exhausted), state


def _select_open_candidates(node: SearchNode, state: SearchState, meter: BudgetMeter) -> tuple[ToolCandidate, ...]:
    """Return the candidates still to be tried.

    There are none at the depth limit, where the policy can only finish or backtrack.
    """
    if len(state.path) >= meter.budget.depth:
        return ()
    return tuple(candidate for candidate in node.candidates if state.is_open(candidate.tool.id))


def build_considered_event(
    state: SearchState, candidates: tuple[ToolCandidate, ...], node: SearchNode
) -> CandidatesConsidered:
    """Build the event that lists a node's candidates."""
    considered_tools = tuple(
        ConsideredTool(
            tool=candidate.tool.id,
            weight=candidate.weight,
            availability=candidate.availability,
            relevance=max(candidate.relevance, default=0.0),
            origin=candidate.origin,
            missing=candidate.missing,
            feeds=candidate.feeds,
        )
        for candidate in candidates
    )
    return CandidatesConsidered(path=state.path, candidates=considered_tools, finish_weight=node.finish_weight)


def _build_move_question(
    request: str,
    clauses: tuple[str, ...],
    state: SearchState,
    node: SearchNode,
    candidates: tuple[ToolCandidate, ...],
    followers: tuple[FollowingCandidate, ...],
    *,
    several_steps: bool,
) -> MoveQuestion:
    return MoveQuestion(
        request=request,
        clauses=clauses,
        path=node.path,
        path_relevance=node.path_relevance,
        best_relevance=node.best_relevance,
        candidates=candidates,
        finish_weight=node.finish_weight,
        memory=render_move_history(state.trail),
        recalled=node.recalled,
        followers=followers,
        allows_several=several_steps,
        toolset_priors=node.toolset_priors,
    )


def _replace_candidates(node: SearchNode, candidates: tuple[ToolCandidate, ...]) -> SearchNode:
    """Return the node with other candidates."""
    return replace(node, candidates=candidates)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of a search."""

    candidate_count: int = 10
    """Number of candidates at a node (K in the thesis)."""
    min_relevance: float = 0.25
    """Least relevance of a candidate that the retriever adds, in [0, 1]."""
    retrieved_count: int = 20
    """Number of tools that the retriever returns for each text."""
    several_steps: bool = False
    """True if the policy may name several steps at once; it is then shown the tools that may follow the candidates."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Extensions of the search that a planner uses.

    The defaults are those of the planner ``dfs``; :data:`THESIS` has none of them.
    """

    several_steps: bool = True
    """One decision may name several steps if the settings allow it."""
    adopts_paths: bool = True
    """The path of a nearly identical earlier request may be used without a search."""
    widens_nodes: bool = True
    """A node offers more than the K heaviest edges and the retriever's tools that fill them up.

    Added are the request's offer, next steps of remembered paths, producers of missing inputs, related tools,
    substitutes, and tools that are due to be tried again.
    """
    repeats_tools: bool = False
    """Any tool of the path may be chosen again, by a planner that sees its results."""
    ends_in_program: bool = True
    """A program is written that calls the tools of the path; reflection happens only if facts speak against the path.

    Otherwise the policy reflects on every path, and arguments are found step by step.
    """
    names_categories: bool = False
    """The decomposition sees the categories of the most relevant tools, and names one for each subtask."""


THESIS = SearchOptions(
    several_steps=False, adopts_paths=False, widens_nodes=False, ends_in_program=False, names_categories=True
)
"""Options of the unchanged algorithm of the thesis (docs/adr/0030-the-thesis-planner.md)."""
