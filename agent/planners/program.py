"""Serving a subtask by programs: a solution used unchanged, else a program written over the offered tools."""

from collections.abc import Sequence
from dataclasses import replace

from agent import resume_decisions as decisions
from agent.programs.offered_functions import build_candidates_event, find_follow_up_tools, find_offered_tools
from agent.programs.verdict import is_worse
from agent.solutions.author_context import select_known_programs
from agent.solutions.model_selection import SolutionChoice, choose_solution
from agent.solutions.selection import SolutionSelection, render_program, select_solution
from agent.subtask_context import SubtaskContext
from agent.text import clean
from domain.event import PathEnded, ProgramEnded
from domain.tool import ToolDoc

_UNBOUNDED_TOKENS = 1_000_000
"""Token limit that never cuts: all functions of a solution are described in full."""


class ProgramPlanner:
    """Serves one subtask by programs; an object serves one subtask."""

    def __init__(self, context: SubtaskContext) -> None:
        self._context = context
        self._deps = context.deps
        self._evidence = context.evidence
        self._progress = context.progress
        self._memo = context.memo
        self._emit = context.emit
        self._program_request = context.build_program_request(wider=True)
        self.is_over = False
        """True when nothing else may be tried."""
        self.first_end: ProgramEnded | None = None
        """End of the solution that was used unchanged, if any; it may not have served the request."""
        self.failure_reason = ""
        """Reason why the last written program came to nothing."""

    async def serve(self) -> None:
        """Run a selected solution unchanged, then a written program if need be; the better end counts."""
        selection = SolutionSelection()
        if self._deps.takes_solutions:
            with self._progress.measure_time("plan"):
                selection = await select_solution(
                    self._program_request,
                    self._deps,
                    self._memo,
                    self._progress.meter,
                    follow_up=bool(self._context.follow_up),
                )
        if selection.event is not None:
            await self._emit(selection.event)
            await self._run_selected_solution(selection)
            if self.is_over:
                return
        if not self._deps.by_program:
            return
        await self._write(selection)
        if self.is_over and self.first_end is not None and is_worse(self._progress.program_end, self.first_end):
            await self._emit(self.first_end)

    async def _run_selected_solution(self, selection: SolutionSelection) -> None:
        """Run a solution's text once, unchanged.

        If it does not serve the request, a program is written as if there were no solution, unless plans need approval,
        something was changed, or a question to the user stayed open: then nothing else is tried.
        """
        tools = await self._load_tools(selection)
        if not tools:
            return
        program_request = replace(
            self._program_request,
            # Without a plan the solution is gone since the run was interrupted, and its recorded text is used.
            given_text=render_program(selection.plan, tools) if selection.plan is not None else "pass",
            of_strangers=selection.untrusted_author,
            wider=False,
        )
        unbounded = replace(self._deps, planning=replace(self._deps.planning, offer_tokens=_UNBOUNDED_TOKENS))
        program_loop = self._context.build_program_loop(program_request, unbounded)
        await program_loop.serve(tools)
        self.first_end = self._progress.program_end
        has_unanswered = any(one.unanswered for one in self._context.calling.asking.answered)
        if self.first_end is None:
            self.is_over = program_loop.is_over
        else:
            final = self._deps.user.approves is not None or bool(self._progress.changes_made) or has_unanswered
            self.is_over = self.first_end.verdict == "yes" or final

    async def _load_tools(self, selection: SolutionSelection) -> list[ToolDoc]:
        """Return the tools of the solution, or of the recorded program in a resumed run.

        None are returned if one of them no longer exists.
        """
        plan = self._memo.decide_sync(decisions.read_started_plan, lambda: selection.plan)
        ids = tuple(dict.fromkeys(plan.program.tools.values())) if plan is not None else ()
        await self._evidence.read(ids)
        return list(self._evidence.docs(ids)) if all(map(self._evidence.has, ids)) else []

    async def _write(self, selection: SolutionSelection) -> None:
        """Write and run a program over the offered tools, or one modelled on a chosen solution."""
        with self._progress.measure_time("plan"):
            offered = await self._load_offer()
            known_solution = selection.event.solution if selection.event is not None else ""
            known_programs, offered = await select_known_programs(
                selection.near, known_solution, offered, self._evidence
            )
        await self._emit(build_candidates_event(offered, self._evidence))
        chosen = SolutionChoice(None, replace(self._program_request, known=known_programs), offered)
        if self._deps.planning.planner == "solution":
            with self._progress.measure_time("plan"):
                chosen = await choose_solution(chosen.program_request, offered, self._deps, self._evidence, self._memo)
        if chosen.event is not None:
            await self._emit(chosen.event)
        program_loop = self._context.build_program_loop(chosen.program_request)
        await program_loop.serve(chosen.tools)
        self.failure_reason = clean(program_loop.failure, 300)
        self.is_over = program_loop.is_over or (chosen.binding and self._gives_up)
        if self.is_over and not program_loop.is_over:
            reason = f"no program came to an end: {self.failure_reason}"
            await self._emit(PathEnded(path=(), how="gave_up", reason=reason))

    @property
    def _gives_up(self) -> bool:
        """Return whether the subtask ends if no program came out after a binding choice.

        It does not if the policy can no longer write programs: then a path must serve the request.
        """
        return self._memo.decide_sync(decisions.read_gave_up, lambda: self._deps.planning.policy.writes)

    async def _load_offer(self) -> Sequence[ToolDoc]:
        """Return the tools to offer, those of earlier runs included if the request may continue from them."""
        request, offers = self._program_request.request, self._deps.knowledge.offers
        if self._context.follow_up:
            return await find_follow_up_tools(request, self._context.follow_up, offers, self._evidence)
        return await find_offered_tools(request, offers, self._evidence)
