"""Search of the tool graph for one path: search, reflect, search on (thesis 4.3.2), with the planner's options."""

from dataclasses import replace

from agent import resume_decisions as decisions
from agent.memory.path_reuse import remembering
from agent.offer.expansion import Expander
from agent.planners.by_name import planner_named
from agent.policy.protocol import Choice, Results, Situation
from agent.reflection import PATIENCE, Judged, Reflector, better, made, resumed
from agent.search.dfs import WalkEvent
from agent.search.state import Frontier
from agent.search.walk import walk_deps
from agent.subtask_context import SubtaskContext
from domain.event import PathEnded


class GraphSearchPlanner:
    """Finds the path of one subtask, in the mode set by its planner's :class:`agent.search.settings.SearchOptions`."""

    def __init__(self, context: SubtaskContext) -> None:
        deps, evidence, request = context.deps, context.evidence, context.request
        self._options = options = deps.options
        self._context = context
        self._deps = deps
        self._evidence = evidence
        self._progress = context.progress
        self._tell = context.tell
        category = context.subtask.category
        expand = Expander(
            request,
            evidence,
            deps.planning.walk,
            context.given_ids,
            context.run,
            deps.knowledge.offers,
            options,
            category,
        )
        walking = walk_deps(request, evidence, deps.planning.walk, deps.planning.policy, self._results, expand, options)
        self._walking = replace(walking, choose=self._choose)
        self._planner = planner_named(deps.planning.planner)
        self._reflector = Reflector(request, context.given_tools, evidence, expand, deps.planning.policy)
        self._moves = 0

    async def find_path(self) -> None:
        """Search and reflect until a path is good enough or nothing more may be tried; the best path found is used."""
        progress, meter = self._progress, self._progress.meter
        best: Judged | None = None
        verdict = ""
        while True:
            ended = await self._walk()
            if ended.how == "open" or meter.exhausted or not meter.may_reflect or progress.done_already:
                break
            if not await self._is_to_reflect(ended):
                break
            path, reflection = await self._reflector.reflect(ended, progress.state)
            verdict = reflection.verdict
            state = resumed(progress.state, path, ended, reflection)
            await self._tell(made(path, reflection, goes_on=state is not None))
            if state is None:
                break
            meter.reflections += 1
            if verdict == "partial" and ended.how == "finished":
                judged = await self._reflector.judged(ended, progress.state)
                best = judged if best is None or judged.value >= best.value else best
            progress.state, verdict = state, ""
        if best is not None:
            last = await self._reflector.judged(ended, progress.state)
            kept = better(ended, last.value, verdict, best)
            if kept is not None:
                progress.state = kept.state
                reason = f"the best path so far: {kept.ended.reason}"
                await self._tell(kept.ended.model_copy(update={"reason": reason}))

    async def _is_to_reflect(self, ended: PathEnded) -> bool:
        """Return whether to reflect on a path: always, or only in case of doubt if a program is written over it."""

        async def is_in_doubt() -> bool:
            return not self._deps.writes_programs or await self._reflector.in_doubt(ended, self._progress.state)

        return await self._context.memo.decide(decisions.is_path_judged, is_in_doubt)

    async def _walk(self) -> PathEnded:
        """Search from the current state and keep the state in which the search ended."""
        progress = self._progress
        self._moves = 0
        planner = self._planner
        if self._options.adopts_paths:
            planner = remembering(
                planner, self._deps.planning.policy.decide, self._evidence.recalled, self._evidence.reader
            )
        clauses = self._evidence.clauses
        with progress.spends("plan"):
            ended, state = await planner(
                self._context.request, clauses, progress.state, self._walking, progress.meter, self._tell_step
            )
        if self._moves > PATIENCE:
            state = state.resume(state.best, len(state.best), ended.reason)
            ended = PathEnded(path=state.best, how="budget", reason=ended.reason)
        progress.state = state
        await self._tell(ended)
        return ended

    async def _tell_step(self, event: WalkEvent, state: Frontier) -> None:
        self._progress.state = state
        await self._tell(event)

    def _results(self) -> Results:
        """Return the results of the steps so far, for a planner that looks at them before it goes on."""
        done = self._progress.done
        return (
            *self._context.given,
            *((self._evidence.doc(done[step].tool), done[step]) for step in sorted(done)),
        )

    async def _choose(self, situation: Situation) -> Choice:
        """Return the policy's next move; give up after too many moves if a reflection may still correct the search."""
        self._moves += 1
        if self._moves > PATIENCE and self._progress.meter.may_reflect:
            return Choice("give_up", f"{PATIENCE} moves, and no end of the path")
        self._moves = min(self._moves, PATIENCE)
        choice = await self._deps.planning.policy.decide(situation)
        only_given = len(situation.path) == len(self._context.given) > 0
        self._progress.done_already = choice.action == "finish" and only_given
        return choice
