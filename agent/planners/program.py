"""Serving a request by programs: by a solution used unchanged, else by one written over the offered tools."""

from collections.abc import Sequence
from dataclasses import replace

from agent import resume_decisions as decisions
from agent.programs.offered import considered, offered_for_follow_up, offered_tools
from agent.programs.verdict import worse
from agent.solutions.choosing import Chosen, choose
from agent.solutions.for_authors import shown_to_author
from agent.solutions.taking import Took, as_text, take
from agent.subtask_context import SubtaskContext
from agent.text import clean
from domain.event import PathEnded, ProgramEnded
from domain.tool import ToolDoc

_WHOLE = 1_000_000
"""Token limit that never cuts: all functions of a solution are described in full."""


class ProgramPlanner:
    """Serves one subtask by programs. Used once."""

    def __init__(self, context: SubtaskContext) -> None:
        self._context = context
        self._deps = context.deps
        self._evidence = context.evidence
        self._progress = context.progress
        self._memo = context.memo
        self._tell = context.tell
        self._asked = context.asked(wider=True)
        self.over = False
        """True when nothing else may be tried."""
        self.first: ProgramEnded | None = None
        """End of the solution that was used unchanged, if any; it may not have served the request."""
        self.why_not = ""
        """Reason why the last written program came to nothing."""

    async def serve(self) -> None:
        """Try a solution unchanged, then a written program; the better end counts."""
        took = Took()
        if self._deps.takes_solutions:
            with self._progress.spends("plan"):
                took = await take(
                    self._asked,
                    self._deps,
                    self._memo,
                    self._progress.meter,
                    follow_up=bool(self._context.follow_up),
                )
        if took.told is not None:
            await self._tell(took.told)
            await self._run_taken(took)
            if self.over:
                return
        if not self._deps.by_program:
            return
        await self._write(took)
        if self.over and self.first is not None and worse(self._progress.program, self.first):
            await self._tell(self.first)

    async def _run_taken(self, took: Took) -> None:
        """Run a solution's text once, unchanged.

        If it does not serve the request, planning goes on as if there were none, unless a plan is to be approved, something was
        changed, or a question to the user stayed open.
        """
        tools = await self._tools_of(took)
        if not tools:
            return
        given = replace(
            self._asked,
            given=as_text(took.plan, tools) if took.plan is not None else "pass",
            of_strangers=took.of_strangers,
            wider=False,
        )
        unbounded = replace(self._deps, planning=replace(self._deps.planning, offer_tokens=_WHOLE))
        serving = self._context.serving(given, unbounded)
        await serving.serve(tools)
        self.first = self._progress.program
        asked = any(one.unanswered for one in self._context.calling.asking.answered)
        if self.first is None:
            self.over = serving.over
        else:
            final = self._deps.user.approves is not None or bool(self._progress.changes_made) or asked
            self.over = self.first.verdict == "yes" or final

    async def _tools_of(self, took: Took) -> list[ToolDoc]:
        """Return the tools of the solution, or of the recorded program in a resumed run.

        The result is empty if one of them no longer exists.
        """
        plan = self._memo.settle(decisions.started_plan, lambda: took.plan)
        ids = tuple(dict.fromkeys(plan.program.tools.values())) if plan is not None else ()
        await self._evidence.read(ids)
        return list(self._evidence.docs(ids)) if all(map(self._evidence.has, ids)) else []

    async def _write(self, took: Took) -> None:
        """Write and run a program over the offered tools, or modelled on a chosen solution."""
        with self._progress.spends("plan"):
            offered = await self._offered()
            known = took.told.solution if took.told is not None else ""
            shown, offered = await shown_to_author(took.near, known, offered, self._evidence)
        await self._tell(considered(offered, self._evidence))
        chosen = Chosen(None, replace(self._asked, known=shown), offered)
        if self._deps.planning.planner == "solution":
            with self._progress.spends("plan"):
                chosen = await choose(chosen.asked, offered, self._deps, self._evidence, self._memo)
        if chosen.told is not None:
            await self._tell(chosen.told)
        serving = self._context.serving(chosen.asked)
        await serving.serve(chosen.tools)
        self.why_not = clean(serving.failure, 300)
        self.over = serving.over or (chosen.binding and self._gives_up)
        if self.over and not serving.over:
            reason = f"no program came to an end: {self.why_not}"
            await self._tell(PathEnded(path=(), how="gave_up", reason=reason))

    @property
    def _gives_up(self) -> bool:
        """Return whether to end when no program came out after a binding choice.

        A resumed run does as recorded. Otherwise it ends only while the policy can write: else the graph search must serve.
        """
        return self._memo.settle(decisions.gives_up, lambda: self._deps.planning.policy.writes)

    async def _offered(self) -> Sequence[ToolDoc]:
        request, offers = self._asked.request, self._deps.knowledge.offers
        if self._context.follow_up:
            return await offered_for_follow_up(request, self._context.follow_up, offers, self._evidence)
        return await offered_tools(request, offers, self._evidence)
