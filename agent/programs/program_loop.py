"""Loop that serves one subtask with programs: have one written, check it, get it approved, run it, and judge its end.

A program may be written as several cells. After an error or a refuted claim, the author gets feedback and writes again.
"""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

from pydantic.types import JsonValue

from agent import resume_decisions as decisions
from agent.offer.tool_evidence import ToolEvidence
from agent.plans.plan_approval import PlanApprover, PlanQuestionBuilder, build_denial_event
from agent.plans.plan_inputs import resolve_input_values
from agent.policy.protocol import Results
from agent.programs.author_feedback import (
    build_dropped_attempt,
    describe_complaints,
    describe_contradiction,
    describe_failure,
)
from agent.programs.function_names import collect_defined_names
from agent.programs.offered_functions import build_candidates_event, build_functions, find_offered_tools
from agent.programs.open_values import NamedItemChooser
from agent.programs.plan_runner import build_end_from_calls, shorten_answers
from agent.programs.program_checks import check_program
from agent.programs.program_request import ProgramRequest
from agent.programs.program_runner import CallEnvironment, ProgramRunner, ProgramStop
from agent.programs.program_types import (
    MAX_CELLS,
    FreeTextAnswer,
    LookRequest,
    ProgramAttempt,
    ProgramError,
    ReturnedValue,
    SandboxSession,
    UnansweredQuestion,
)
from agent.programs.program_verdict import (
    FinishedProgram,
    build_ended_event,
    explain_cut_short,
    find_unreached_changes,
    is_worse,
    judge_claim,
    judge_unanswered,
    parse_claim,
)
from agent.programs.value_previews import preview_values
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
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program, ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc


class ProgramApproval:
    """Asks the user to approve the programs of one subtask."""

    def __init__(self, approver: PlanApprover, questions: PlanQuestionBuilder, memo: SubtaskMemo) -> None:
        """Start without an approved plan; ``plan`` will hold the one that the user approved last."""
        self._approver = approver
        self._questions = questions
        self._memo = memo
        self._asked_count = 0
        self._item_chooser: NamedItemChooser | None = None
        self.plan: ProgramPlan | None = None

    @property
    def pending_program(self) -> Program | None:
        """The next program, if the user was asked about it before an interruption and it has not run yet."""
        recorded = self._memo.recall(decisions.read_shown_program(self._asked_count))
        return recorded.value if recorded is not None else None

    async def request_approval(self, program: Program, tools: Mapping[str, ToolDoc]) -> Program | None:
        """Return the program to run, as the user edited it; None if nothing may run.

        ``tools``: the offered functions, by name.
        """
        self._asked_count += 1
        self.plan = await self._memo.decide(decisions.read_started_plan, partial(self._ask_user, program, tools))
        return self.plan.program if self.plan is not None else None

    async def _ask_user(self, program: Program, tools: Mapping[str, ToolDoc]) -> ProgramPlan | None:
        docs = {tool.id: tool for tool in tools.values()}
        return await self._approver(
            self._questions.build_program_question(ProgramPlan(program=program), docs, self._asked_count)
        )

    def collect_inputs(self) -> JsonObject:
        """Return the values of the approved plan's inputs by name."""
        if self.plan is None:
            return {}
        return resolve_input_values(self.plan) if self.plan.inputs else self.plan.values

    def prepare_item_choice(self, request: str, docs: Mapping[str, ToolDoc]) -> None:
        """Prepare :meth:`choose_item` for the approved plan, which is run next with these functions."""
        self._item_chooser = NamedItemChooser(request, self.plan.program, docs) if self.plan is not None else None

    def choose_item(self, items: JsonValue, place: int, back: int) -> JsonValue:
        """Choose an item of a list; see :data:`agent.programs.program_types.ItemChooser`."""
        if self._item_chooser is None:
            raise LookupError("no plan is run")
        return self._item_chooser(items, place, back)


MAX_REPAIRS = 2
"""Maximum number of times that a failed program is rewritten."""
MAX_REFUSALS = 2
"""Maximum number of times in a row that the author rewrites a program that the checks refused."""

_TOO_MANY_LOOKS = ProgramError(
    "TooManyLooks", f"there are at most {MAX_CELLS} cells: this one must come to an end without a look"
)
_FREE_TEXT_NOTE = "It asked its user, who answered in words of their own."
_NAMES_LOST_NOTE = "The names of all cells before it are lost: write the whole program."


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
        questions: PlanQuestionBuilder,
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
        approver = deps.user.plan_approver
        self._approval = ProgramApproval(approver, questions, memo) if approver else None
        self._stack = AsyncExitStack()
        self._session: SandboxSession | None = None
        self._session_programs: list[Program] = []
        self._attempts: list[ProgramAttempt] = []
        self._functions = build_functions((), 0)
        self._last_program: Program | None = None
        # Calls of the cells whose names are valid, of the cell that ran last, and of cells that count as not run.
        self._session_calls: list[tuple[str, StepResult]] = []
        self._cell_calls: list[tuple[str, StepResult]] = []
        self._earlier_calls: list[tuple[str, StepResult]] = []
        self._valid_cell_numbers: list[int] = []
        self._repairs = 0
        self._session_was_lost = False
        self._no_text_reason = ""
        self.is_over = False

    async def run(self, tools: Sequence[ToolDoc]) -> None:
        """Write and run programs that may call these tools.

        The result is recorded in the subtask's progress.

        If the program says that it lacks something, tools for that are added to the offer once, and it is continued.
        """
        self._functions = build_functions(
            tools, self._deps.planning.offer_tokens, self._request.files.names_by_variable
        )
        try:
            await self._run_to_end()
            first_end = self._progress.program_end
            new_tools = await self._find_missing_tools(first_end) if first_end is not None else []
            if first_end is None or not new_tools:
                return
            await self._environment.emit(build_candidates_event(new_tools, self._evidence))
            self._widen_offer(first_end, new_tools)
            self.is_over = False
            await self._run_to_end()
            self.is_over = True
            if is_worse(self._progress.program_end, first_end):
                await self._environment.emit(first_end)  # the last end counts, so report the better one again
        finally:
            await self._stack.aclose()

    async def _run_to_end(self) -> None:
        """Write and run cells until a program ends, or until no more may be written."""
        while self._repairs <= MAX_REPAIRS:
            program = await self._write_program()
            if program is None:
                break
            if self._approval is not None:
                program = await self._approval.request_approval(program, self._functions.docs)
                if program is None:
                    self.is_over = True
                    await self._environment.emit(
                        build_denial_event(self._progress.program_count if self._valid_cell_count else 0)
                    )
                    return
            self._last_program = program
            stop = await self._run_cell(program)
            event = self._handle_stop(stop, program)
            if isinstance(event, ProgramEnded) and not event.spoken:
                policy, choices = self._deps.planning.policy, self._deps.calls.field_choices
                await shorten_answers(self._progress, self._evidence, policy, choices, self._environment.emit)
            await self._environment.emit(event)
            if isinstance(event, ProgramEnded) or self.is_over or (self._approval and isinstance(event, ProgramFailed)):
                self.is_over = True
                return
        self.is_over = bool(
            self._progress.changes_made or (self._approval and self._approval.plan)
        )  # never repeat changes

    def _handle_stop(self, stop: ProgramStop | None, program: Program) -> Event:
        """Return the event for the stop of a cell, and record the stop for the next one."""
        number = self._progress.program_count
        match stop:
            case LookRequest(values) if self._valid_cell_count + 1 < MAX_CELLS:
                preview = preview_values(*values)
                self._session_calls += self._cell_calls
                self._valid_cell_numbers.append(number)
                self._attempts.append(ProgramAttempt(program.text, preview.text, preview.foreign, names_valid=True))
                return ProgramLooked(number=number, shown=preview.text)
            case ReturnedValue(None) if self._approval is not None:
                self._session_calls += self._cell_calls
                return build_end_from_calls(number, self._to_results(self._session_calls))
            case ReturnedValue(value):
                end = self._judge_end(value, program)
                if not end.veto or not self._can_repair(end):
                    self._session_calls += self._cell_calls
                    return end
                self._repairs += 1
                self._earlier_calls += self._cell_calls
                self._attempts.append(ProgramAttempt(program.text, describe_contradiction(end)))
                return ProgramFailed(number=number, error=describe_contradiction(end))
            case FreeTextAnswer(question):
                return self._record_user_answer(question, program)
            case UnansweredQuestion(question):
                self._session_calls += self._cell_calls
                return build_ended_event(number, judge_unanswered(question, changed=bool(self._progress.changes_made)))
            case ProgramError() as error if cut_short_reason := explain_cut_short(
                error, [*self._session_calls, *self._cell_calls]
            ):
                self._session_calls += self._cell_calls
                return ProgramEnded(
                    number=number, answered="partly", answer="", verdict="partly", veto=cut_short_reason
                )
            case ProgramError() as error:
                return self._record_failure(error, program)
            case _:
                return self._record_failure(_TOO_MANY_LOOKS, program)

    async def _write_program(self) -> Program | None:
        """Return the next program, which has passed the checks; None if there is none."""
        is_given = bool(self._request.given_text)
        if is_given and self._session_programs:
            return None
        for _ in range(1 if is_given else MAX_REFUSALS + 1):
            if self._approval is not None and (pending := self._approval.pending_program) is not None:
                return pending
            draft = await self._memo.decide(decisions.read_draft, self._draft_program)
            if draft is None:
                return None
            self._progress.meter.decisions += bool(draft.text) and not is_given
            if isinstance(draft, Program):
                return draft
            await self._environment.emit(draft)
            if not draft.text:
                return None
            self._attempts.append(ProgramAttempt(draft.text, describe_complaints(draft.complaints)))
            # A bool is added: with `counts_refusals`, a refused program uses up a repair.
            self._repairs += self._request.counts_refusals
            if self._repairs > MAX_REPAIRS:
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
            return (
                ProgramRefused(text="", complaints=(why,))
                if why and self._deps.planning.policy.can_write_programs
                else None
            )
        text, complaints = await self._check_text(text)
        if complaints:
            return ProgramRefused(text=text, complaints=complaints)
        foreign = self._environment.user_questions.may_have_quoted_response or any(
            attempt.foreign for attempt in self._attempts
        )
        return self._functions.build_program(
            text, parse_source(text).read_names, tainted=self._request.tainted or foreign
        )

    async def _check_text(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return the text as repaired by the checks, and their complaints."""
        defined_names = collect_defined_names(attempt.text for attempt in self._attempts if attempt.names_valid)
        types, type_definitions = self._request.describe_types()
        value_types = types | dict.fromkeys(defined_names, "Any")
        offer, docs = self._functions.offer, self._functions.docs
        with self._progress.measure_time("check"):
            checked = await check_program(text, offer, docs, self._sandbox, value_types, type_definitions)
        return checked.text, checked.complaints

    async def _ask_author(self) -> tuple[str, str]:
        """Return the author's text, and the reason if it is empty."""
        if self._request.given_text:
            return self._request.given_text, ""
        if self._is_exhausted or not self._deps.planning.policy.can_write_programs:
            return "", ""
        answers = [answer for answer in self._environment.user_questions.answered if not answer.unanswered]
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
        number = self._progress.program_count + 1
        values = self._approval.collect_inputs() if self._approval is not None else {}
        await self._environment.emit(ProgramStarted(number=number, program=program, goes_on=goes_on, values=values))
        if not goes_on:
            self._earlier_calls += self._session_calls
            self._session_calls, self._session_programs, self._valid_cell_numbers = [], [], []
        earlier_texts = self._list_cell_texts()
        program = program.combine_with(self._session_programs)
        self._session_programs.append(program)
        self._cell_calls = []
        await self._evidence.read(program.tools.values())
        tools = {name: self._evidence.doc(tool) for name, tool in program.tools.items() if self._evidence.has(tool)}
        self._progress.changing_tools |= {tool.id for tool in tools.values() if not tool.safe}
        defined_names = collect_defined_names(earlier_texts)
        inputs = self._request.select_inputs(
            parse_source(program.text).read_names - defined_names - program.tools.keys()
        )
        inputs |= values if goes_on else {"today": self._request.today, **values}
        environment = replace(
            self._environment, docs=tools, is_plan=self._approval is not None, has_author=self._approval is None
        )
        if self._approval is not None:
            self._approval.prepare_item_choice(self._request.request, tools)
        session = await self._open_session(goes_on=goes_on)
        offered_tools = {name: tool.id for name, tool in self._functions.docs.items()}
        call_context = (
            replace(environment.call_context, user_inputs=tuple(values)).build_cell_context(
                program, earlier_texts, offered_tools, self._valid_cell_numbers
            )
            if environment.call_context is not None
            else None
        )
        runner = ProgramRunner(session, program, number, environment, self._memo.open_program(number), call_context)
        with self._progress.measure_time("execute"):
            await runner.run(inputs)
        self._cell_calls = [(call.function, call.result) for call in runner.calls]
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
        calls = [*self._session_calls, *self._cell_calls]
        self._earlier_calls += self._cell_calls
        self._invalidate_names()
        self._attempts.append(
            self._to_dropped_attempt(program, f"{_FREE_TEXT_NOTE} {_NAMES_LOST_NOTE}", calls, foreign=False)
        )
        return ProgramLooked(number=self._progress.program_count, shown=f"{question.question} -> {question.answer}")

    def _record_failure(self, error: ProgramError, program: Program) -> ProgramFailed:
        """Record the error of a cell as feedback for the next program."""
        failure = describe_failure(error, program.text, [*self._session_calls, *self._cell_calls])
        self._earlier_calls += self._cell_calls
        feedback, dropped_calls = failure.text, self._cell_calls
        if error.lost:
            self._invalidate_names()
            feedback, dropped_calls = f"{failure.text}\n{_NAMES_LOST_NOTE}", [*self._session_calls, *self._cell_calls]
        self._attempts.append(self._to_dropped_attempt(program, feedback, dropped_calls, foreign=failure.foreign))
        # A second lost session ends the repairs: what the program does exceeds the sandbox's limits.
        self._repairs = MAX_REPAIRS + 1 if error.lost and self._session_was_lost else self._repairs + 1
        self._session_was_lost = self._session_was_lost or error.lost
        self.is_over = error.final or self._is_exhausted
        return ProgramFailed(
            number=self._progress.program_count, error=failure.text, line=error.line, final=error.final
        )

    def _to_dropped_attempt(
        self, program: Program, feedback: str, calls: Sequence[tuple[str, StepResult]], *, foreign: bool
    ) -> ProgramAttempt:
        """Return a program as an attempt that counts as not run, except for the changes among the given calls."""
        changes = [call for call in calls if call[1].status == "ok" and not self._evidence.doc(call[1].tool).safe]
        return build_dropped_attempt(program.text, feedback, changes, foreign=foreign)

    def _invalidate_names(self) -> None:
        """Mark the names that cells defined as lost: the next program starts in a fresh session."""
        self._attempts = [replace(attempt, names_valid=False) for attempt in self._attempts]

    def _judge_end(self, value: JsonValue, program: Program) -> ProgramEnded:
        """Return the event for the value that a program returned, with the verdict on it."""
        text = "\n".join((*(entry.text for entry in self._attempts if entry.names_valid), program.text))
        calls = [*self._session_calls, *self._cell_calls]
        results = self._to_results(calls)
        finished = FinishedProgram(
            text,
            results,
            self._to_results(self._earlier_calls),
            may_answer_without_calls=self._request.can_answer_without_calls(parse_source(text).read_names),
            unreached=find_unreached_changes(text, self._functions.docs, [name for name, _ in calls]),
            review=self._evidence.reader.review(
                self._request.request, [entry for entry in results if entry[1].status == "ok"]
            ),
            request=self._request.request,
            wrong_answers=self._deps.user.wrong_answers,
        )
        return build_ended_event(self._progress.program_count, judge_claim(parse_claim(value), finished))

    def _to_results(self, calls: Sequence[tuple[str, StepResult]]) -> Results:
        """Return the results of calls, each with the document of its tool."""
        return tuple((self._evidence.doc(result.tool), result) for _, result in calls)

    async def _find_missing_tools(self, end: ProgramEnded) -> list[ToolDoc]:
        """Find tools for what a program says that it lacks, except those that it was offered."""
        if not self._request.may_widen_offer or self._approval is not None or end.answered == "yes" or not end.missing:
            return []
        if self._is_exhausted:
            return []
        known_ids = [tool.id for tool in self._functions.docs.values()]
        return await find_offered_tools(end.missing, self._deps.knowledge.offers, self._evidence, known_ids)

    def _widen_offer(self, end: ProgramEnded, new_tools: Sequence[ToolDoc]) -> None:
        """Add tools to the offer, and prepare to continue the program that ended with ``end``.

        Tools that were called come first, then the new ones, then the rest, since an offer is cut at its end. The
        attempts so far are kept, and the names of their cells stay valid.
        """
        called_ids = {result.tool for _, result in self._session_calls}
        offered_tools = list(self._functions.docs.values())
        tools = [
            *(doc for doc in offered_tools if doc.id in called_ids),
            *new_tools,
            *(doc for doc in offered_tools if doc.id not in called_ids),
        ]
        self._functions = build_functions(
            tools, self._deps.planning.offer_tokens, self._request.files.names_by_variable
        )
        if self._last_program is not None:
            new_names = [name for name, tool in self._functions.docs.items() if tool in new_tools]
            feedback = f"It ended with {end.verdict!r}, lacking: {end.missing}\nThere are more functions now: {', '.join(new_names)}."
            if self._valid_cell_count + 1 < MAX_CELLS:
                self._valid_cell_numbers.append(end.number)
                self._attempts.append(ProgramAttempt(self._last_program.text, feedback, foreign=True, names_valid=True))
            else:
                self._attempts.append(
                    self._to_dropped_attempt(self._last_program, feedback, self._cell_calls, foreign=True)
                )
        self._repairs = min(self._repairs, MAX_REPAIRS)

    def _can_repair(self, end: ProgramEnded) -> bool:
        """Return True if a program whose claim is refuted is to be rewritten.

        It is rewritten only if it has made no changes, since a new one would repeat them. A resumed run decides as it
        did before the interruption.
        """
        is_authored = self._approval is None and not self._request.given_text
        return self._memo.decide_sync(
            decisions.read_repaired(end.number),
            lambda: (
                is_authored and self._repairs < MAX_REPAIRS and not (self._progress.changes_made or self._is_exhausted)
            ),
        )

    def _list_cell_texts(self) -> list[str]:
        """Return the texts that the session ran, with an empty one in place of each whose names are lost.

        The empty ones keep the numbering: a call refers to its text by the number of cells back.
        """
        valid_texts = {cell.text for cell in self._attempts if cell.names_valid}
        return [cell.text if cell.text in valid_texts else "" for cell in self._session_programs]

    @property
    def failure(self) -> str:
        """Feedback on the last attempt, or the reason why no program was written."""
        return self._attempts[-1].feedback if self._attempts else self._no_text_reason

    @property
    def _valid_cell_count(self) -> int:
        """Number of cells whose names are valid."""
        return sum(attempt.names_valid for attempt in self._attempts)

    @property
    def _is_exhausted(self) -> bool:
        """True if the budget of the run is exhausted."""
        return bool(self._progress.meter.exhausted)
