"""Program loop of one subtask: write, check and run texts, show looks, repair, widen the offer, judge the end."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from pydantic.types import JsonValue

from agent import resume_decisions as decisions
from agent.offer.tool_facts import Evidence
from agent.plans.approval import PlanQuestions, not_allowed
from agent.policy.protocol import Results
from agent.programs.approving import Approving
from agent.programs.carrying import said_by_calls, shorten
from agent.programs.checking import check
from agent.programs.earlier import Asked
from agent.programs.looks import shown
from agent.programs.names import names_left
from agent.programs.offered import considered, functions, offered_tools
from agent.programs.protocol import (
    MOST_CELLS,
    Answered,
    Attempt,
    Broken,
    LeftOpen,
    Looking,
    Returned,
    Session,
)
from agent.programs.running import Calling, ProgramRunner, ProgramStop
from agent.programs.telling import not_run, told_complaints, told_contradiction, told_failure
from agent.programs.verdict import Ran, claim_of, cut_short, ended, judged, left_open, unreached, worse
from agent.resume import Memo
from agent.run_context import RunDeps
from agent.subtask_progress import Progress
from domain.event import (
    Event,
    ProgramEnded,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
    QuestionAnswered,
)
from domain.plan import StepResult
from domain.program import Program
from domain.source_text import parse_source
from domain.tool import ToolDoc

REPAIRS = 2
"""Maximum number of times that a failed text is rewritten."""
REFUSALS = 2
"""Maximum number of times in a row that complaints of checks go back to the author."""

_NO_LOOK = Broken("TooManyLooks", f"there are at most {MOST_CELLS} cells: this one must come to an end without a look")
_OWN_WORDS = "It asked its user, who answered in words of their own."
_BEGIN_ANEW = "The names of all cells before it are lost: write the whole program."


class Serving:
    """Writes and runs the programs over one choice of tools; used once.

    ``over`` is True if nothing else may be tried for the subtask: it has its verdict, or failed in a way that must not be worked around.
    """

    def __init__(
        self,
        asked: Asked,
        deps: RunDeps,
        evidence: Evidence,
        calling: Calling,
        progress: Progress,
        memo: Memo,
        questions: PlanQuestions,
    ) -> None:
        if deps.planning.sandbox is None:
            raise RuntimeError("there is no sandbox to run programs in")
        self._asked = asked
        self._deps = deps
        self._sandbox = deps.planning.sandbox
        self._evidence = evidence
        self._calling = replace(calling, of_strangers=asked.of_strangers)
        self._progress = progress
        self._memo = memo
        approves = deps.user.approves
        self._approving = Approving(approves, questions, memo) if approves else None
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._fed: list[Program] = []
        self._attempts: list[Attempt] = []
        self._functions = functions((), 0)
        self._program: Program | None = None
        self._calls: list[tuple[str, StepResult]] = []
        self._cell: list[tuple[str, StepResult]] = []
        self._before: list[tuple[str, StepResult]] = []
        self._standing: list[int] = []
        self._repairs = 0
        self._lost = False
        self._unwritten = ""
        self.over = False

    async def serve(self, tools: Sequence[ToolDoc]) -> None:
        """Write and run programs over these tools until no more can be written; the result is in the progress."""
        self._functions = functions(tools, self._deps.planning.offer_tokens, self._asked.files.names)
        try:
            await self._to_an_end()
            first = self._progress.program
            more = await self._lacking(first) if first is not None else []
            if first is None or not more:
                return
            await self._calling.tell(considered(more, self._evidence))
            self._widen(first, more)
            self.over = False
            await self._to_an_end()
            self.over = True
            if worse(self._progress.program, first):
                await self._calling.tell(first)  # it stands
        finally:
            await self._stack.aclose()

    async def _to_an_end(self) -> None:
        """Write and run texts until a ``ProgramEnded``, or until no more may be written."""
        while self._repairs <= REPAIRS:
            program = await self._written()
            if program is None:
                break
            if self._approving is not None:
                program = await self._approving.approved(program, self._functions.docs)
                if program is None:
                    self.over = True
                    await self._calling.tell(not_allowed(self._progress.programs if self._stood else 0))
                    return
            self._program = program
            stop = await self._ran(program)
            event = self._come_to(stop, program)
            if isinstance(event, ProgramEnded) and not event.spoken:
                policy, choices = self._deps.planning.policy, self._deps.calls.choices
                await shorten(self._progress, self._evidence, policy, choices, self._calling.tell)
            await self._calling.tell(event)
            if isinstance(event, ProgramEnded) or self.over or (self._approving and isinstance(event, ProgramFailed)):
                self.over = True
                return
        self.over = bool(self._progress.changes_made or (self._approving and self._approving.plan))  # once is enough

    def _come_to(self, stop: ProgramStop | None, program: Program) -> Event:
        """Return the event for a stop of a cell, and record it for the next text."""
        number = self._progress.programs
        match stop:
            case Looking(values) if self._stood + 1 < MOST_CELLS:
                seen = shown(*values)
                self._calls += self._cell
                self._standing.append(number)
                self._attempts.append(Attempt(program.text, seen.text, seen.foreign, stands=True))
                return ProgramLooked(number=number, shown=seen.text)
            case Returned(None) if self._approving is not None:
                self._calls += self._cell
                return said_by_calls(number, self._results(self._calls))
            case Returned(value):
                end = self._end(value, program)
                if not end.veto or not self._may_repair(end):
                    self._calls += self._cell
                    return end
                self._repairs += 1
                self._before += self._cell
                self._attempts.append(Attempt(program.text, told_contradiction(end)))
                return ProgramFailed(number=number, error=told_contradiction(end))
            case Answered(question):
                return self._to_be_read(question, program)
            case LeftOpen(question):
                self._calls += self._cell
                return ended(number, left_open(question, changed=bool(self._progress.changes_made)))
            case Broken() as broken if lost := cut_short(broken, [*self._calls, *self._cell]):
                self._calls += self._cell
                return ProgramEnded(number=number, answered="partly", answer="", verdict="partly", veto=lost)
            case Broken() as broken:
                return self._failed(broken, program)
            case _:
                return self._failed(_NO_LOOK, program)

    async def _written(self) -> Program | None:
        """Return a text that passes the checks, as the next program, or None."""
        once = bool(self._asked.given)
        if once and self._fed:
            return None
        for _ in range(1 if once else REFUSALS + 1):
            if self._approving is not None and (shown := self._approving.shown) is not None:
                return shown
            draft = await self._memo.decide(decisions.draft, self._draft)
            if draft is None:
                return None
            self._progress.meter.decisions += bool(draft.text) and not once
            if isinstance(draft, Program):
                return draft
            await self._calling.tell(draft)
            if not draft.text:
                return None
            self._attempts.append(Attempt(draft.text, told_complaints(draft.complaints)))
            # A bool: with `thrice`, a refused text counts as a repair.
            self._repairs += self._asked.thrice
            if self._repairs > REPAIRS:
                return None
        return None

    async def _draft(self) -> Program | ProgramRefused | None:
        """Have a text written and checked.

        Returns the refusal if there is no text or the checks reject it, and None if the policy reports the missing text by other means.
        """
        with self._progress.spends("write"):
            text, why = await self._asked_for()
        self._unwritten = why
        if not text:  # one that writes no more tells that itself
            return ProgramRefused(text="", complaints=(why,)) if why and self._deps.planning.policy.writes else None
        text, complaints = await self._checked(text)
        if complaints:
            return ProgramRefused(text=text, complaints=complaints)
        foreign = self._calling.asking.foreign or any(one.foreign for one in self._attempts)
        return self._functions.program(text, parse_source(text).uses, tainted=self._asked.tainted or foreign)

    async def _checked(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return the text as it would run, and the complaints of the checks."""
        cells = names_left(one.text for one in self._attempts if one.stands)
        types, declared = self._asked.types()
        given = types | dict.fromkeys(cells, "Any")
        offer, docs = self._functions.text, self._functions.docs
        with self._progress.spends("check"):
            checked = await check(text, offer, docs, self._sandbox, given, declared)
        return checked.text, checked.complaints

    async def _asked_for(self) -> tuple[str, str]:
        """Return the author's text; if it is empty, the second value says why."""
        if self._asked.given:
            return self._asked.given, ""
        if self._spent or not self._deps.planning.policy.writes:
            return "", ""
        answers = [one for one in self._calling.asking.answered if not one.unanswered]
        question = self._asked.question(self._functions, self._attempts, answers)
        written = await self._deps.planning.policy.decide(question)
        return written.text, written.why

    async def _ran(self, program: Program) -> ProgramStop | None:
        """Run one cell and return its stop."""
        if self._stood and self._memo.settle(decisions.begins_anew, lambda: False):
            self._forget()
        goes_on = self._stood > 0
        number = self._progress.programs + 1
        values = self._approving.inputs() if self._approving is not None else {}
        await self._calling.tell(ProgramStarted(number=number, program=program, goes_on=goes_on, values=values))
        if not goes_on:
            self._before += self._calls
            self._calls, self._fed, self._standing = [], [], []
        cells = self._cells()
        program = program.over(self._fed)
        self._fed.append(program)
        self._cell = []
        await self._evidence.read(program.tools.values())
        tools = {name: self._evidence.doc(tool) for name, tool in program.tools.items() if self._evidence.has(tool)}
        self._progress.writes |= {tool.id for tool in tools.values() if not tool.safe}
        made = names_left(cells)
        inputs = self._asked.found(parse_source(program.text).uses - made - program.tools.keys())
        inputs |= values if goes_on else {"today": self._asked.today, **values}
        calling = replace(self._calling, docs=tools, plan=self._approving is not None, author=self._approving is None)
        if self._approving is not None:
            self._approving.begins(self._asked.request, tools)
        session = await self._at(goes_on=goes_on)
        offered = {name: tool.id for name, tool in self._functions.docs.items()}
        leave = (
            replace(calling.leave, own=tuple(values)).of(program, cells, offered, self._standing)
            if calling.leave is not None
            else None
        )
        runner = ProgramRunner(session, program, number, calling, self._memo.program(number), leave)
        with self._progress.spends("execute"):
            await runner.run(inputs)
        self._cell = [(one.function, one.result) for one in runner.calls]
        return runner.stop

    async def _at(self, *, goes_on: bool) -> Session:
        """Return the session with the names of the cells before, or a fresh one."""
        if self._session is None or not goes_on:
            named = self._approving.named if self._approving is not None else None
            await self._stack.aclose()
            self._session = await self._stack.enter_async_context(self._sandbox.session(named=named))
        return self._session

    def _to_be_read(self, question: QuestionAnswered, program: Program) -> ProgramLooked:
        """Record a free-text answer of the user, so that the author can write a text that follows it."""
        done = [*self._calls, *self._cell]
        self._before += self._cell
        self._forget()
        self._attempts.append(self._unmade(program, f"{_OWN_WORDS} {_BEGIN_ANEW}", done, foreign=False))
        return ProgramLooked(number=self._progress.programs, shown=f"{question.question} -> {question.answer}")

    def _failed(self, broken: Broken, program: Program) -> ProgramFailed:
        """Record the error of a text for the next one."""
        told = told_failure(broken, program.text, [*self._calls, *self._cell])
        self._before += self._cell
        said, dropped = told.text, self._cell
        if broken.lost:
            self._forget()
            said, dropped = f"{told.text}\n{_BEGIN_ANEW}", [*self._calls, *self._cell]
        self._attempts.append(self._unmade(program, said, dropped, foreign=told.foreign))
        # A second lost session ends the repairs: the program is too much for the sandbox.
        self._repairs = REPAIRS + 1 if broken.lost and self._lost else self._repairs + 1
        self._lost = self._lost or broken.lost
        self.over = broken.final or self._spent
        return ProgramFailed(number=self._progress.programs, error=told.text, line=broken.line, final=broken.final)

    def _unmade(
        self, program: Program, said: str, dropped: Sequence[tuple[str, StepResult]], *, foreign: bool
    ) -> Attempt:
        """Return a text that counts as not run, except for the changes among its calls: those cannot be undone."""
        made = [one for one in dropped if one[1].status == "ok" and not self._evidence.doc(one[1].tool).safe]
        return not_run(program.text, said, made, foreign=foreign)

    def _forget(self) -> None:
        """Mark the names of all cells as lost."""
        self._attempts = [replace(one, stands=False) for one in self._attempts]

    def _end(self, value: JsonValue, program: Program) -> ProgramEnded:
        """Judge what a program returned."""
        text = "\n".join((*(one.text for one in self._attempts if one.stands), program.text))
        calls = [*self._calls, *self._cell]
        ran = self._results(calls)
        known = Ran(
            text,
            ran,
            self._results(self._before),
            given=self._asked.stands_on(parse_source(text).uses),
            unreached=unreached(text, self._functions.docs, [name for name, _ in calls]),
            review=self._evidence.reader.review(self._asked.request, [one for one in ran if one[1].status == "ok"]),
            request=self._asked.request,
            wrong=self._deps.user.wrong_answers,
        )
        return ended(self._progress.programs, judged(claim_of(value), known))

    def _results(self, calls: Sequence[tuple[str, StepResult]]) -> Results:
        """Return calls with the documents of their tools."""
        return tuple((self._evidence.doc(result.tool), result) for _, result in calls)

    async def _lacking(self, end: ProgramEnded) -> list[ToolDoc]:
        """Find tools for what a program says it lacks, other than those that it had."""
        if not self._asked.wider or self._approving is not None or end.answered == "yes" or not end.missing:
            return []
        if self._spent:
            return []
        known = [tool.id for tool in self._functions.docs.values()]
        return await offered_tools(end.missing, self._deps.knowledge.offers, self._evidence, known)

    def _widen(self, end: ProgramEnded, more: Sequence[ToolDoc]) -> None:
        """Add tools to the offer: called ones first, then the new ones, then the rest.

        Feedback so far is kept, and the names of its cells stay valid.
        """
        called = {result.tool for _, result in self._calls}
        before = list(self._functions.docs.values())
        tools = [*(one for one in before if one.id in called), *more, *(one for one in before if one.id not in called)]
        self._functions = functions(tools, self._deps.planning.offer_tokens, self._asked.files.names)
        if self._program is not None:
            new = [name for name, tool in self._functions.docs.items() if tool in more]
            told = f"It ended with {end.verdict!r}, lacking: {end.missing}\nThere are more functions now: {', '.join(new)}."
            if self._stood + 1 < MOST_CELLS:
                self._standing.append(end.number)
                self._attempts.append(Attempt(self._program.text, told, foreign=True, stands=True))
            else:
                self._attempts.append(self._unmade(self._program, told, self._cell, foreign=True))
        self._repairs = min(self._repairs, REPAIRS)

    def _may_repair(self, end: ProgramEnded) -> bool:
        """Return True if a text whose claim is refuted is rewritten.

        A resumed run decides as it did before; otherwise a text is rewritten only while nothing was changed by it.
        """
        written = self._approving is None and not self._asked.given
        return self._memo.settle(
            decisions.is_mended(end.number),
            lambda: written and self._repairs < REPAIRS and not (self._progress.changes_made or self._spent),
        )

    def _cells(self) -> list[str]:
        """Return the texts that the session ran, with empty ones for those whose names are lost.

        The empty ones are needed, since a call's place is given by the number of texts before it.
        """
        standing = {one.text for one in self._attempts if one.stands}
        return [one.text if one.text in standing else "" for one in self._fed]

    @property
    def failure(self) -> str:
        """Reason why the last text failed, or why none was written."""
        return self._attempts[-1].told if self._attempts else self._unwritten

    @property
    def _stood(self) -> int:
        """Number of cells whose names are valid."""
        return sum(one.stands for one in self._attempts)

    @property
    def _spent(self) -> bool:
        """True if the budget of the run is exhausted."""
        return bool(self._progress.meter.exhausted)
