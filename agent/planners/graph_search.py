"""Search of the tool graph for a path, with reflection on what was found (thesis 4.3.2)."""

from dataclasses import replace

from agent import resume_decisions as decisions
from agent.memory.path_reuse import build_reusing_planner
from agent.offer.node_expansion import NodeExpander
from agent.planners.reflection import (
    MAX_MOVES,
    Reflector,
    ScoredPath,
    apply_reflection,
    build_reflection_event,
    select_better,
)
from agent.planners.registry import get_planner
from agent.policy.protocol import MoveQuestion, NextMove, Results
from agent.search.dfs import SearchEvent
from agent.search.search_deps import build_search_deps
from agent.search.state import SearchState
from agent.subtask_context import SubtaskContext
from domain.event import PathEnded


class GraphSearchPlanner:
    """Finds the path of one subtask.

    Which planner searches, and with which :class:`agent.search.dfs.SearchOptions`, depends on the run.
    """

    def __init__(self, context: SubtaskContext) -> None:
        deps, evidence, request = context.deps, context.evidence, context.request
        self._options = options = deps.options
        self._context = context
        self._deps = deps
        self._evidence = evidence
        self._progress = context.progress
        self._emit = context.emit
        category = context.subtask.category
        expand_node = NodeExpander(
            request,
            evidence,
            deps.planning.walk_settings,
            context.prior_tool_ids,
            context.run_name,
            deps.knowledge.offers,
            options,
            category,
        )
        search_deps = build_search_deps(
            request,
            evidence,
            deps.planning.walk_settings,
            deps.planning.policy,
            self._collect_results,
            expand_node,
            options,
        )
        self._search_deps = replace(search_deps, choose_move=self._choose_move)
        self._planner = get_planner(deps.planning.planner)
        self._reflector = Reflector(request, context.prior_tools, evidence, expand_node, deps.planning.policy)
        self._moves = 0

    async def find_path(self) -> None:
        """Search and reflect until a path is good enough or nothing more may be tried.

        If the last path is worse than an earlier one, the end of the earlier one is emitted again, so that it counts.
        """
        progress, meter = self._progress, self._progress.meter
        best: ScoredPath | None = None
        verdict = ""
        while True:
            ended = await self._search()
            if ended.how == "open" or meter.exhausted or not meter.may_reflect or progress.has_nothing_to_do:
                break
            if not await self._should_reflect(ended):
                break
            path, reflection = await self._reflector.reflect(ended, progress.state)
            verdict = reflection.verdict
            state = apply_reflection(progress.state, path, ended, reflection)
            await self._emit(build_reflection_event(path, reflection, resumed=state is not None))
            if state is None:
                break
            meter.reflections += 1
            if verdict == "partial" and ended.how == "finished":
                scored_path = await self._reflector.score_path(ended, progress.state)
                best = scored_path if best is None or scored_path.value >= best.value else best
            progress.state, verdict = state, ""
        if best is not None:
            last_path = await self._reflector.score_path(ended, progress.state)
            better_path = select_better(ended, last_path.value, verdict, best)
            if better_path is not None:
                progress.state = better_path.state
                reason = f"the best path so far: {better_path.end.reason}"
                await self._emit(better_path.end.model_copy(update={"reason": reason}))

    async def _should_reflect(self, ended: PathEnded) -> bool:
        """Return whether to reflect on a path: always, or only in doubt if a program will be written over its tools."""

        async def is_in_doubt() -> bool:
            return not self._deps.writes_programs or await self._reflector.is_doubtful(ended, self._progress.state)

        return await self._context.memo.decide(decisions.read_path_reflected, is_in_doubt)

    async def _search(self) -> PathEnded:
        """Search from the current state, and emit how the search ended."""
        progress = self._progress
        self._moves = 0
        planner = self._planner
        if self._options.adopts_paths:
            planner = build_reusing_planner(
                planner, self._deps.planning.policy.decide, self._evidence.recalled, self._evidence.reader
            )
        clauses = self._evidence.clauses
        with progress.measure_time("plan"):
            ended, state = await planner(
                self._context.request, clauses, progress.state, self._search_deps, progress.meter, self._emit_step
            )
        if self._moves > MAX_MOVES:  # it was stopped because of this, and reflection is to see the best path so far
            state = state.resume(state.best, len(state.best), ended.reason)
            ended = PathEnded(path=state.best, how="budget", reason=ended.reason)
        progress.state = state
        await self._emit(ended)
        return ended

    async def _emit_step(self, event: SearchEvent, state: SearchState) -> None:
        """Emit an event of the search, after saving the state that goes with it."""
        self._progress.state = state
        await self._emit(event)

    def _collect_results(self) -> Results:
        """Return the results so far, for a planner that sees them before it chooses the next step."""
        done = self._progress.step_results
        return (
            *self._context.prior_steps,
            *((self._evidence.doc(done[step].tool), done[step]) for step in sorted(done)),
        )

    async def _choose_move(self, situation: MoveQuestion) -> NextMove:
        """Return the next move of the policy; after too many moves, give up if a reflection may still help."""
        self._moves += 1
        if self._moves > MAX_MOVES and self._progress.meter.may_reflect:
            return NextMove("give_up", f"{MAX_MOVES} moves, and no end of the path")
        # Without a reflection left the search goes on, and must not be taken for one that was stopped here.
        self._moves = min(self._moves, MAX_MOVES)
        move = await self._deps.planning.policy.decide(situation)
        only_prior_steps = len(situation.path) == len(self._context.prior_steps) > 0
        self._progress.has_nothing_to_do = move.action == "finish" and only_prior_steps
        return move
