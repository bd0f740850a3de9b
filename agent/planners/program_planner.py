"""Serving a subtask by programs: a solution used unchanged, else a program written over the offered tools."""

from collections.abc import Sequence
from dataclasses import replace

from agent import resume_decisions as decisions
from agent.programs.offered_functions import build_candidates_event, find_follow_up_tools, find_offered_tools
from agent.programs.program_verdict import is_worse
from agent.solutions.example_selection import ExampleChoice, choose_example, select_known_programs
from agent.solutions.selection import SolutionSelection, render_program, select_solution
from agent.subtask_context import SubtaskContext
from agent.text import clean_text
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
        self.reused_end: ProgramEnded | None = None
        """End of the solution that was used unchanged, if any; it may not have served the request."""
        self.failure_reason = ""
        """Reason why the last written program came to nothing."""

    async def serve(self) -> None:
        """Run a selected solution unchanged, then a written program if need be; the better end counts."""
        selection = SolutionSelection()
        if self._deps.reuses_solutions:
            with self._progress.measure_time("plan"):
                selection = await select_solution(
                    self._program_request,
                    self._deps,
                    self._memo,
                    self._progress.meter,
                    follow_up=bool(self._context.follow_up_runs),
                )
        if selection.event is not None:
            await self._emit(selection.event)
            await self._run_selected_solution(selection)
            if self.is_over:
                return
        if not self._deps.tries_program_first:
            return
        await self._write_program(selection)
        if self.is_over and self.reused_end is not None and is_worse(self._progress.program_end, self.reused_end):
            await self._emit(self.reused_end)

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
            of_strangers=selection.has_untrusted_author,
            may_widen_offer=False,
        )
        deps_without_limit = replace(self._deps, planning=replace(self._deps.planning, offer_tokens=_UNBOUNDED_TOKENS))
        program_loop = self._context.build_program_loop(program_request, deps_without_limit)
        await program_loop.run(tools)
        self.reused_end = self._progress.program_end
        has_unanswered = any(event.unanswered for event in self._context.call_environment.user_questions.answered)
        if self.reused_end is None:
            self.is_over = program_loop.is_over
        else:
            is_final = self._deps.user.plan_approver is not None or bool(self._progress.changes_made) or has_unanswered
            self.is_over = self.reused_end.verdict == "yes" or is_final

    async def _load_tools(self, selection: SolutionSelection) -> list[ToolDoc]:
        """Return the tools of the solution, or of the recorded program in a resumed run.

        None are returned if one of them no longer exists.
        """
        plan = self._memo.decide_sync(decisions.read_started_plan, lambda: selection.plan)
        ids = tuple(dict.fromkeys(plan.program.tools.values())) if plan is not None else ()
        await self._evidence.read(ids)
        return list(self._evidence.docs(ids)) if all(map(self._evidence.has, ids)) else []

    async def _write_program(self, selection: SolutionSelection) -> None:
        """Write and run a program over the offered tools, or one modelled on a chosen solution."""
        with self._progress.measure_time("plan"):
            offered_tools = await self._load_offered_tools()
            known_solution = selection.event.solution if selection.event is not None else ""
            known_programs, offered_tools = await select_known_programs(
                selection.near, known_solution, offered_tools, self._evidence
            )
        await self._emit(build_candidates_event(offered_tools, self._evidence))
        choice = ExampleChoice(None, replace(self._program_request, known_programs=known_programs), offered_tools)
        if self._deps.planning.planner == "solution":
            with self._progress.measure_time("plan"):
                choice = await choose_example(
                    choice.program_request, offered_tools, self._deps, self._evidence, self._memo
                )
        if choice.event is not None:
            await self._emit(choice.event)
        program_loop = self._context.build_program_loop(choice.program_request)
        await program_loop.run(choice.tools)
        self.failure_reason = clean_text(program_loop.failure, 300)
        self.is_over = program_loop.is_over or (choice.is_binding and self._ends_without_program)
        if self.is_over and not program_loop.is_over:
            reason = f"no program came to an end: {self.failure_reason}"
            await self._emit(PathEnded(path=(), how="gave_up", reason=reason))

    @property
    def _ends_without_program(self) -> bool:
        """Return whether the subtask ends if no program came out after a binding choice.

        It does not if the policy can no longer write programs: then a path must serve the request.
        """
        return self._memo.decide_sync(decisions.read_gave_up, lambda: self._deps.planning.policy.can_write_programs)

    async def _load_offered_tools(self) -> Sequence[ToolDoc]:
        """Return the tools to offer, those of earlier runs included if the request may continue from them."""
        request, offers = self._program_request.request, self._deps.knowledge.offers
        if self._context.follow_up_runs:
            return await find_follow_up_tools(request, self._context.follow_up_runs, offers, self._evidence)
        return await find_offered_tools(request, offers, self._evidence)
