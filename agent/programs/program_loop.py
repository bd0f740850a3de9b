"""Loop that serves one subtask with programs: have one written, check it, get it approved, run it, and judge its end.

A program may be written as several cells. After an error or a refuted claim, the author gets feedback and writes again.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from pydantic.types import JsonValue

from agent import resume_decisions as decisions
from agent.offer.tool_evidence import ToolEvidence
from agent.plans.approval import PlanQuestions, build_denial_event
from agent.policy.protocol import Results
from agent.programs.author_feedback import (
    build_dropped_attempt,
    describe_complaints,
    describe_contradiction,
    describe_failure,
)
from agent.programs.names import collect_defined_names
from agent.programs.offered_functions import build_candidates_event, build_functions, find_offered_tools
from agent.programs.plan_runner import build_end_from_calls, shorten_answers
from agent.programs.program_approval import ProgramApproval
from agent.programs.program_checks import check
from agent.programs.program_request import ProgramRequest
from agent.programs.program_runner import CallEnvironment, ProgramRunner, ProgramStop
from agent.programs.protocol import (
    MAX_CELLS,
    FreeTextAnswer,
    LookRequest,
    ProgramAttempt,
    ProgramError,
    ReturnedValue,
    SandboxSession,
    UnansweredQuestion,
)
from agent.programs.value_previews import preview_values
from agent.programs.verdict import (
    FinishedProgram,
    build_ended_event,
    explain_cut_short,
    find_unreached,
    is_worse,
    judge_claim,
    judge_unanswered,
    parse_claim,
)
from agent.resume import SubtaskMemo
from agent.run_context import RunDeps
from agent.subtask_progress import SubtaskProgress
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
"""Maximum number of times that a failed program is rewritten."""
REFUSALS = 2
"""Maximum number of times in a row that the author rewrites a program that the checks refused."""

_TOO_MANY_LOOKS = ProgramError(
    "TooManyLooks", f"there are at most {MAX_CELLS} cells: this one must come to an end without a look"
)
_OWN_WORDS = "It asked its user, who answered in words of their own."
_BEGIN_ANEW = "The names of all cells before it are lost: write the whole program."


class ProgramLoop:
    """Writes and runs the programs of one subtask; for one use.

    Attributes:
        is_over: True if nothing else may be tried for the subtask: it has its verdict, or it failed in a way that must
            not be worked around.
    """

    def __init__(
        self,
        request: ProgramRequest,
        deps: RunDeps,
        evidence: ToolEvidence,
        environment: CallEnvironment,
        progress: SubtaskProgress,
        memo: SubtaskMemo,
        questions: PlanQuestions,
    ) -> None:
        if deps.planning.sandbox is None:
            raise RuntimeError("there is no sandbox to run programs in")
        self._request = request
        self._deps = deps
        self._sandbox = deps.planning.sandbox
        self._evidence = evidence
        self._environment = replace(environment, of_strangers=request.of_strangers)
        self._progress = progress
        self._memo = memo
        approves = deps.user.approves
        self._approval = ProgramApproval(approves, questions, memo) if approves else None
        self._stack = AsyncExitStack()
        self._session: SandboxSession | None = None
        self._session_programs: list[Program] = []
        self._attempts: list[ProgramAttempt] = []
        self._functions = build_functions((), 0)
        self._last_program: Program | None = None
        # Calls of the cells whose names are valid, of the cell that ran last, and of cells that count as not run.
        self._calls: list[tuple[str, StepResult]] = []
        self._cell_calls: list[tuple[str, StepResult]] = []
        self._earlier_calls: list[tuple[str, StepResult]] = []
        self._valid_numbers: list[int] = []
        self._repairs = 0
        self._session_was_lost = False
        self._no_text_reason = ""
        self.is_over = False

    async def serve(self, tools: Sequence[ToolDoc]) -> None:
        """Write and run programs that may call these tools.

        The result is recorded in the subtask's progress.

        If the program says that it lacks something, tools for that are added to the offer once, and it is continued.
        """
        self._functions = build_functions(tools, self._deps.planning.offer_tokens, self._request.files.names)
        try:
            await self._run_to_end()
            first = self._progress.program_end
            more = await self._find_missing_tools(first) if first is not None else []
            if first is None or not more:
                return
            await self._environment.emit(build_candidates_event(more, self._evidence))
            self._widen_offer(first, more)
            self.is_over = False
            await self._run_to_end()
            self.is_over = True
            if is_worse(self._progress.program_end, first):
                await self._environment.emit(first)  # the last end counts, so report the better one again
        finally:
            await self._stack.aclose()

    async def _run_to_end(self) -> None:
        """Write and run cells until a program ends, or until no more may be written."""
        while self._repairs <= REPAIRS:
            program = await self._write_program()
            if program is None:
                break
            if self._approval is not None:
                program = await self._approval.request_approval(program, self._functions.docs)
                if program is None:
                    self.is_over = True
                    await self._environment.emit(
                        build_denial_event(self._progress.programs if self._valid_cell_count else 0)
                    )
                    return
            self._last_program = program
            stop = await self._run_cell(program)
            event = self._handle_stop(stop, program)
            if isinstance(event, ProgramEnded) and not event.spoken:
                policy, choices = self._deps.planning.policy, self._deps.calls.choices
                await shorten_answers(self._progress, self._evidence, policy, choices, self._environment.emit)
            await self._environment.emit(event)
            if isinstance(event, ProgramEnded) or self.is_over or (self._approval and isinstance(event, ProgramFailed)):
                self.is_over = True
                return
        self.is_over = bool(self._progress.changes_made or (self._approval and self._approval.plan))  # never repeat changes

    def _handle_stop(self, stop: ProgramStop | None, program: Program) -> Event:
        """Return the event for the stop of a cell, and record the stop for the next one."""
        number = self._progress.programs
        match stop:
            case LookRequest(values) if self._valid_cell_count + 1 < MAX_CELLS:
                seen = preview_values(*values)
                self._calls += self._cell_calls
                self._valid_numbers.append(number)
                self._attempts.append(ProgramAttempt(program.text, seen.text, seen.foreign, names_valid=True))
                return ProgramLooked(number=number, shown=seen.text)
            case ReturnedValue(None) if self._approval is not None:
                self._calls += self._cell_calls
                return build_end_from_calls(number, self._to_results(self._calls))
            case ReturnedValue(value):
                end = self._judge_end(value, program)
                if not end.veto or not self._can_repair(end):
                    self._calls += self._cell_calls
                    return end
                self._repairs += 1
                self._earlier_calls += self._cell_calls
                self._attempts.append(ProgramAttempt(program.text, describe_contradiction(end)))
                return ProgramFailed(number=number, error=describe_contradiction(end))
            case FreeTextAnswer(question):
                return self._record_user_answer(question, program)
            case UnansweredQuestion(question):
                self._calls += self._cell_calls
                return build_ended_event(number, judge_unanswered(question, changed=bool(self._progress.changes_made)))
            case ProgramError() as broken if lost := explain_cut_short(broken, [*self._calls, *self._cell_calls]):
                self._calls += self._cell_calls
                return ProgramEnded(number=number, answered="partly", answer="", verdict="partly", veto=lost)
            case ProgramError() as broken:
                return self._record_failure(broken, program)
            case _:
                return self._record_failure(_TOO_MANY_LOOKS, program)

    async def _write_program(self) -> Program | None:
        """Return the next program, which has passed the checks; None if there is none."""
        once = bool(self._request.given_text)
        if once and self._session_programs:
            return None
        for _ in range(1 if once else REFUSALS + 1):
            if self._approval is not None and (pending := self._approval.pending_program) is not None:
                return pending
            draft = await self._memo.decide(decisions.read_draft, self._draft_program)
            if draft is None:
                return None
            self._progress.meter.decisions += bool(draft.text) and not once
            if isinstance(draft, Program):
                return draft
            await self._environment.emit(draft)
            if not draft.text:
                return None
            self._attempts.append(ProgramAttempt(draft.text, describe_complaints(draft.complaints)))
            # A bool is added: with `counts_refusals`, a refused program uses up a repair.
            self._repairs += self._request.counts_refusals
            if self._repairs > REPAIRS:
                return None
        return None

    async def _draft_program(self) -> Program | ProgramRefused | None:
        """Have a program written and checked.

        Returns the refusal if nothing was written or the checks reject it. Returns None if nothing was written and that
        needs no event: the policy does not write programs, or gave no reason.
        """
        with self._progress.measure_time("write"):
            text, why = await self._ask_author()
        self._no_text_reason = why
        if not text:  # a policy that has stopped writing programs reports that itself
            return ProgramRefused(text="", complaints=(why,)) if why and self._deps.planning.policy.writes else None
        text, complaints = await self._check_text(text)
        if complaints:
            return ProgramRefused(text=text, complaints=complaints)
        foreign = self._environment.asking.foreign or any(one.foreign for one in self._attempts)
        return self._functions.build_program(text, parse_source(text).uses, tainted=self._request.tainted or foreign)

    async def _check_text(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return the text as repaired by the checks, and their complaints."""
        cells = collect_defined_names(one.text for one in self._attempts if one.names_valid)
        types, declared = self._request.describe_types()
        value_types = types | dict.fromkeys(cells, "Any")
        offer, docs = self._functions.text, self._functions.docs
        with self._progress.measure_time("check"):
            checked = await check(text, offer, docs, self._sandbox, value_types, declared)
        return checked.text, checked.complaints

    async def _ask_author(self) -> tuple[str, str]:
        """Return the author's text, and the reason if it is empty."""
        if self._request.given_text:
            return self._request.given_text, ""
        if self._is_exhausted or not self._deps.planning.policy.writes:
            return "", ""
        answers = [one for one in self._environment.asking.answered if not one.unanswered]
        question = self._request.build_question(self._functions, self._attempts, answers)
        written = await self._deps.planning.policy.decide(question)
        return written.text, written.why

    async def _run_cell(self, program: Program) -> ProgramStop | None:
        """Run one cell and return its stop.

        The cell continues the session if the names of earlier cells are valid, and opens a fresh one otherwise.
        """
        if self._valid_cell_count and self._memo.decide_sync(decisions.read_restarted, lambda: False):
            self._invalidate_names()
        goes_on = self._valid_cell_count > 0
        number = self._progress.programs + 1
        values = self._approval.collect_inputs() if self._approval is not None else {}
        await self._environment.emit(ProgramStarted(number=number, program=program, goes_on=goes_on, values=values))
        if not goes_on:
            self._earlier_calls += self._calls
            self._calls, self._session_programs, self._valid_numbers = [], [], []
        cells = self._list_cell_texts()
        program = program.combine_with(self._session_programs)
        self._session_programs.append(program)
        self._cell_calls = []
        await self._evidence.read(program.tools.values())
        tools = {name: self._evidence.doc(tool) for name, tool in program.tools.items() if self._evidence.has(tool)}
        self._progress.writes |= {tool.id for tool in tools.values() if not tool.safe}
        defined_names = collect_defined_names(cells)
        inputs = self._request.select_inputs(parse_source(program.text).uses - defined_names - program.tools.keys())
        inputs |= values if goes_on else {"today": self._request.today, **values}
        calling = replace(self._environment, docs=tools, plan=self._approval is not None, author=self._approval is None)
        if self._approval is not None:
            self._approval.begin_plan(self._request.request, tools)
        session = await self._open_session(goes_on=goes_on)
        offered = {name: tool.id for name, tool in self._functions.docs.items()}
        call_context = (
            replace(calling.call_context, own=tuple(values)).build_cell_context(
                program, cells, offered, self._valid_numbers
            )
            if calling.call_context is not None
            else None
        )
        runner = ProgramRunner(session, program, number, calling, self._memo.open_program(number), call_context)
        with self._progress.measure_time("execute"):
            await runner.run(inputs)
        self._cell_calls = [(one.function, one.result) for one in runner.calls]
        return runner.stop

    async def _open_session(self, *, goes_on: bool) -> SandboxSession:
        """Return the session with the names of the earlier cells, or a fresh one."""
        if self._session is None or not goes_on:
            choose_item = self._approval.choose_item if self._approval is not None else None
            await self._stack.aclose()
            self._session = await self._stack.enter_async_context(self._sandbox.open_session(choose_item=choose_item))
        return self._session

    def _record_user_answer(self, question: QuestionAnswered, program: Program) -> ProgramLooked:
        """Record a free-text answer of the user, so that the author can write a program that takes it into account."""
        done = [*self._calls, *self._cell_calls]
        self._earlier_calls += self._cell_calls
        self._invalidate_names()
        self._attempts.append(self._to_dropped_attempt(program, f"{_OWN_WORDS} {_BEGIN_ANEW}", done, foreign=False))
        return ProgramLooked(number=self._progress.programs, shown=f"{question.question} -> {question.answer}")

    def _record_failure(self, broken: ProgramError, program: Program) -> ProgramFailed:
        """Record the error of a cell as feedback for the next program."""
        failure = describe_failure(broken, program.text, [*self._calls, *self._cell_calls])
        self._earlier_calls += self._cell_calls
        feedback, dropped = failure.text, self._cell_calls
        if broken.lost:
            self._invalidate_names()
            feedback, dropped = f"{failure.text}\n{_BEGIN_ANEW}", [*self._calls, *self._cell_calls]
        self._attempts.append(self._to_dropped_attempt(program, feedback, dropped, foreign=failure.foreign))
        # A second lost session ends the repairs: what the program does exceeds the sandbox's limits.
        self._repairs = REPAIRS + 1 if broken.lost and self._session_was_lost else self._repairs + 1
        self._session_was_lost = self._session_was_lost or broken.lost
        self.is_over = broken.final or self._is_exhausted
        return ProgramFailed(number=self._progress.programs, error=failure.text, line=broken.line, final=broken.final)

    def _to_dropped_attempt(
        self, program: Program, feedback: str, dropped: Sequence[tuple[str, StepResult]], *, foreign: bool
    ) -> ProgramAttempt:
        """Return a program as an attempt that counts as not run, except for the changes among the given calls."""
        changes = [one for one in dropped if one[1].status == "ok" and not self._evidence.doc(one[1].tool).safe]
        return build_dropped_attempt(program.text, feedback, changes, foreign=foreign)

    def _invalidate_names(self) -> None:
        """Mark the names that cells defined as lost: the next program starts in a fresh session."""
        self._attempts = [replace(one, names_valid=False) for one in self._attempts]

    def _judge_end(self, value: JsonValue, program: Program) -> ProgramEnded:
        """Return the event for the value that a program returned, with the verdict on it."""
        text = "\n".join((*(one.text for one in self._attempts if one.names_valid), program.text))
        calls = [*self._calls, *self._cell_calls]
        ran = self._to_results(calls)
        finished = FinishedProgram(
            text,
            ran,
            self._to_results(self._earlier_calls),
            uses_given=self._request.can_answer_without_calls(parse_source(text).uses),
            unreached=find_unreached(text, self._functions.docs, [name for name, _ in calls]),
            review=self._evidence.reader.review(self._request.request, [one for one in ran if one[1].status == "ok"]),
            request=self._request.request,
            wrong_answers=self._deps.user.wrong_answers,
        )
        return build_ended_event(self._progress.programs, judge_claim(parse_claim(value), finished))

    def _to_results(self, calls: Sequence[tuple[str, StepResult]]) -> Results:
        """Return the results of calls, each with the document of its tool."""
        return tuple((self._evidence.doc(result.tool), result) for _, result in calls)

    async def _find_missing_tools(self, end: ProgramEnded) -> list[ToolDoc]:
        """Find tools for what a program says that it lacks, except those that it was offered."""
        if not self._request.wider or self._approval is not None or end.answered == "yes" or not end.missing:
            return []
        if self._is_exhausted:
            return []
        known_ids = [tool.id for tool in self._functions.docs.values()]
        return await find_offered_tools(end.missing, self._deps.knowledge.offers, self._evidence, known_ids)

    def _widen_offer(self, end: ProgramEnded, more: Sequence[ToolDoc]) -> None:
        """Add tools to the offer, and prepare to continue the program that ended with ``end``.

        Tools that were called come first, then the new ones, then the rest, since an offer is cut at its end. The
        attempts so far are kept, and the names of their cells stay valid.
        """
        called = {result.tool for _, result in self._calls}
        before = list(self._functions.docs.values())
        tools = [*(one for one in before if one.id in called), *more, *(one for one in before if one.id not in called)]
        self._functions = build_functions(tools, self._deps.planning.offer_tokens, self._request.files.names)
        if self._last_program is not None:
            new = [name for name, tool in self._functions.docs.items() if tool in more]
            feedback = f"It ended with {end.verdict!r}, lacking: {end.missing}\nThere are more functions now: {', '.join(new)}."
            if self._valid_cell_count + 1 < MAX_CELLS:
                self._valid_numbers.append(end.number)
                self._attempts.append(ProgramAttempt(self._last_program.text, feedback, foreign=True, names_valid=True))
            else:
                self._attempts.append(
                    self._to_dropped_attempt(self._last_program, feedback, self._cell_calls, foreign=True)
                )
        self._repairs = min(self._repairs, REPAIRS)

    def _can_repair(self, end: ProgramEnded) -> bool:
        """Return True if a program whose claim is refuted is to be rewritten.

        It is rewritten only if it has made no changes, since a new one would repeat them. A resumed run decides as it
        did before the interruption.
        """
        written = self._approval is None and not self._request.given_text
        return self._memo.decide_sync(
            decisions.read_repaired(end.number),
            lambda: written and self._repairs < REPAIRS and not (self._progress.changes_made or self._is_exhausted),
        )

    def _list_cell_texts(self) -> list[str]:
        """Return the texts that the session ran, with an empty one in place of each whose names are lost.

        The empty ones keep the numbering: a call refers to its text by the number of cells back.
        """
        valid_texts = {one.text for one in self._attempts if one.names_valid}
        return [one.text if one.text in valid_texts else "" for one in self._session_programs]

    @property
    def failure(self) -> str:
        """Feedback on the last attempt, or the reason why no program was written."""
        return self._attempts[-1].feedback if self._attempts else self._no_text_reason

    @property
    def _valid_cell_count(self) -> int:
        """Number of cells whose names are valid."""
        return sum(one.names_valid for one in self._attempts)

    @property
    def _is_exhausted(self) -> bool:
        """True if the budget of the run is exhausted."""
        return bool(self._progress.meter.exhausted)
