"""A run from its request to its last event: split the request, serve the subtasks, compose the answer, learn."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from agent.budget import Budget, BudgetMeter
from agent.conversation import ConversationHistory, EarlierRun
from agent.execution.approval import AnnouncedCallRegistry
from agent.execution.provenance import ProvenanceTracker, RunStatements
from agent.execution.run_executor import build_run_executor
from agent.execution.undo_candidates import UndoFinder
from agent.files.given_files import NEEDS_MODEL_MESSAGE
from agent.offer.tool_evidence import CachedGraphReads, ToolEvidence, ToolFinder
from agent.offer.undo_search import UndoCandidateSearch
from agent.outcome import build_run_finished, combine_outcomes, format_program_answer, format_sources, report_changes
from agent.plans.planned_arguments import collect_fixed_values, collect_given_texts
from agent.policy.protocol import (
    DecomposeQuestion,
    Decomposition,
    EarlierRequest,
    PhraseQuestion,
    Policy,
    Results,
    Subtask,
    build_single_subtask,
    take_notices,
)
from agent.programs.program_request import EARLIER
from agent.programs.program_verdict import WRONG_ANSWER_REASON
from agent.request_reader import RequestReview
from agent.resume import ReplayDecomposition, open_log
from agent.run_context import RunContext, RunDeps
from agent.run_events import RunEventStream
from agent.scheduler import SubtaskScheduler, closing
from agent.step_numbers import find_prior_steps, number_steps_consecutively, translate_step_references
from agent.subtask import SubtaskRun
from agent.text import clean_text
from agent.user_questions import UserQuestions
from agent.wrong_answers import is_known_wrong
from domain.errors import FootpathError, InvalidDecisionError, TransientError
from domain.event import AnswerDelta, EarlierStep, Event, EventRecord, RunOutcome, RunStarted
from domain.plan import StepResult
from domain.source_text import try_parse_source
from domain.tool import ToolDoc, split_tool_id

_log = logging.getLogger(__name__)

_NEAREST_TOOLS = 60
"""Number of tools nearest to a request whose categories are offered for the decomposition."""
_MAX_CATEGORIES = 30
"""Limit of categories offered for the decomposition."""


async def decompose_request(
    request: str, policy: Policy, earlier: tuple[EarlierRequest, ...] = (), categories: tuple[str, ...] = ()
) -> Decomposition:
    """Split a request into at least one subtask, in an order in which they can be done.

    Args:
        request: the user's words.
        policy: the policy that decides.
        earlier: previous requests of the conversation.
        categories: categories of tools, one of which each subtask is to name; empty if it need not.

    Raises:
        InvalidDecisionError: subtasks are not numbered in order, depend on a later one, or refer to earlier calls
            that do not exist.
    """
    decomposition = await policy.decide(DecomposeQuestion(request, earlier, categories))
    known_calls = {number for earlier_request in earlier for number, _, _ in earlier_request.steps}
    for number, subtask in enumerate(decomposition.subtasks, start=1):
        if (
            subtask.number != number
            or not all(1 <= other < number for other in subtask.depends_on)
            or not known_calls.issuperset(subtask.earlier)
        ):
            raise InvalidDecisionError(f"the policy's subtask {number} is out of order: {subtask.name!r}")
    return decomposition if decomposition.subtasks else build_single_subtask(request, "it was not split")


async def find_tool_categories(request: str, search: ToolFinder) -> tuple[str, ...]:
    """Return the categories of the tools nearest to a request, nearest first."""
    nearest = [tool.id for tools in await search.find_tools_for_all([request], _NEAREST_TOOLS) for tool in tools]
    return tuple(dict.fromkeys(split_tool_id(tool)[0] for tool in nearest))[:_MAX_CATEGORIES]


_MAX_UNUSED_VALUES = 5
"""Limit of unused values that the answer lists."""
_NO_TOOLS_MESSAGE = "There are no tools yet, so nothing can be called: an author adds an API on the page under Sources, or a document is built into the store"
_FILE_ADVICE = ": ask with the policy llm and the planner program, or put what it says into the question"


async def run(
    request: str,
    deps: RunDeps,
    budget: Budget | None = None,
    *,
    name: str = "",
    past_events: Sequence[EventRecord] = (),
    earlier_runs: Sequence[EarlierRun] = (),
) -> AsyncGenerator[EventRecord]:
    """Run a request and yield its events up to the answer; the last event is always ``run.finished``.

    Args:
        request: the user's words.
        deps: everything that the run works with.
        budget: limits of the run.
        name: name of the run, a new one by default. It also seeds which failed tools get another chance.
        past_events: events of this run from before it was interrupted. The run resumes after them (:mod:`agent.resume`) and
            continues their numbers.
        earlier_runs: earlier runs of the conversation, oldest first; a request that refers back may use their results.

    Errors are not raised: they end the run with the outcome ``failed`` and ``code: message``. A cancellation is raised
    after ``run.finished`` with the outcome ``cancelled``. A ``TransientError`` in a run that can be resumed
    (:attr:`agent.run_context.RunHost.is_resumable`) is raised without a last event.
    """
    events = RunEventStream(name or uuid4().hex, past_events)
    active_run = _ActiveRun(
        request,
        await _build_run_context(request, deps, events, budget or Budget(), ConversationHistory(tuple(earlier_runs))),
    )
    async with closing(events.follow(active_run.complete, deps.host.run_in_turns)) as records:
        async for record in records:
            yield record


async def _build_run_context(
    request: str, deps: RunDeps, events: RunEventStream, budget: Budget, history: ConversationHistory
) -> RunContext:
    """Build the state that all subtasks of a run share, as it was after the recorded events."""
    past_events = tuple(events.records)
    meter = BudgetMeter(budget, deps.planning.policy.cost, find_exhausted_quota=deps.host.find_exhausted_quota)
    log = await open_log(past_events, deps.knowledge.store)
    statements = deps.user.statements
    if statements is None:
        fixed_values = await asyncio.to_thread(collect_fixed_values, deps.planning.plan)
        statements = RunStatements(
            user_messages=(*collect_given_texts(deps.planning.plan), request), user_values=fixed_values
        )
    provenance = ProvenanceTracker(statements, deps.planning.reader)
    provenance.add_files(deps.user.files.all_files)
    user_questions = UserQuestions(deps.user.channel, provenance, meter.stopwatch, [*statements.user_messages])
    past_calls = log.collect_calls(has_ledger=deps.calls.has_ledger)
    meter.changes = log.count_changes(past_calls)
    announcements = AnnouncedCallRegistry()
    undo_finder = UndoFinder(UndoCandidateSearch(deps.knowledge.store, deps.knowledge.search))
    executor = build_run_executor(
        deps.calls.executor,
        deps.calls.layers,
        approver=deps.calls.approver,
        provenance=provenance,
        meter=meter,
        earlier_results=past_calls,
        announced_calls=announcements,
        undo=undo_finder,
    )
    today = deps.host.today or (past_events[0].at if past_events else datetime.now(UTC)).date().isoformat()
    return RunContext(
        deps,
        events,
        meter,
        executor,
        provenance,
        user_questions,
        log=log,
        history=history,
        request=request,
        scheduler=SubtaskScheduler(deps.planning.max_parallel_subtasks),
        today=today,
        announcements=announcements,
    )


class _ActiveRun:
    """One run from start to end; an object serves one run."""

    def __init__(self, request: str, context: RunContext) -> None:
        self._request = request
        self._context = context
        self._deps = context.deps
        self._events = context.events
        self._memo = context.log.get_memo(0)
        self._subtask_runs: dict[int, SubtaskRun] = {}
        self._answer = ""
        self._is_answer_withheld = False
        self._earlier_steps: dict[int, tuple[ToolDoc, StepResult]] = {}
        self._graph_reads = CachedGraphReads(context.deps.knowledge.store)

    async def complete(self) -> None:
        """Execute the run, and emit its last event whatever happens."""
        try:
            await self._execute()
        except asyncio.CancelledError:
            # Without a follower nobody would receive the event, and emitting it would cancel again.
            if self._events.has_follower:
                await self._finish("cancelled")
            raise
        except FootpathError as error:
            if self._deps.host.is_resumable and isinstance(error, TransientError):
                raise
            _log.warning(
                "a run failed: %s", error
            )  # the whole text may hold the address of a store, so only the log has it
            await self._finish("failed", f"{error.code}: {error.public_message}")
        except Exception as error:  # noqa: BLE001  # a defect of ours must end the run in order, not tear the stream
            _log.exception("a run failed")
            await self._finish("failed", f"internal: {type(error).__name__}; the log has the details")

    async def _emit(self, event: Event) -> None:
        """Emit an event of the run as a whole, unless it is replayed."""
        if not self._memo.replay_event(event):
            await self._events.emit(0, event)

    async def _finish(self, outcome: RunOutcome, error: str = "", unanswered: Sequence[int] = ()) -> None:
        """Learn from the run, then emit its end; the costs of learning are part of its usage."""
        subtasks = [subtask_run.progress for subtask_run in self._subtask_runs.values()]
        end = build_run_finished(outcome, self._answer, self._context.meter, subtasks, error)
        end = end.model_copy(update={"unanswered": tuple(unanswered)})
        if (learner := self._deps.host.learner) is not None:
            records = self._events.records
            learned = await learner.learn((*records, self._events.build_record(0, end)))
            if learned is not None:
                await self._events.emit(0, learned)
            end = learner.add_cost(end)
        await self._events.emit(0, end)

    async def _execute(self) -> None:
        """Check that the request can be served, split it, serve its subtasks, and compose the answer."""
        step_references, deps = self._context.history.list_step_references(), self._deps
        await self._emit(self._build_run_started(step_references))
        if deps.user.files.new and not deps.can_read_files:
            await self._give_up(f"{NEEDS_MODEL_MESSAGE}{_FILE_ADVICE}.\n")
            return
        if deps.planning.plan is None and not deps.user.files.new and not await deps.knowledge.search.count_tools():
            await self._give_up(f"{_NO_TOOLS_MESSAGE}.\n")
            return
        earlier_requests = (
            await self._context.history.load_requests(self._build_evidence(self._request)) if step_references else ()
        )
        self._earlier_steps = {
            number: (tool, result) for undivided in earlier_requests for number, tool, result in undivided.steps
        }
        for number, (tool, result) in self._earlier_steps.items():
            self._context.provenance.record_response(tool, result, f"earlier.{number}")
        if (request := self._build_undivided_subtask()) is not None:
            subtasks = (request,)
        else:
            policy = ReplayDecomposition(self._deps.planning.policy, self._context.log)
            categories = (
                await find_tool_categories(self._request, deps.knowledge.search)
                if deps.options.names_categories
                else ()
            )
            subtasks = (await decompose_request(self._request, policy, earlier_requests, categories)).subtasks
        for notice in take_notices(self._deps.planning.policy):
            await self._emit(notice)
        work_by_subtask = {subtask.number: partial(self._serve_subtask, subtask) for subtask in subtasks}
        await self._context.scheduler.run_all(
            work_by_subtask, {subtask.number: subtask.depends_on for subtask in subtasks}
        )
        await self._compose_answer()

    async def _give_up(self, text: str) -> None:
        """End the run before any planning, with a text as its answer."""
        await self._emit_answer_text(text)
        await self._finish("gave_up")

    def _build_run_started(self, earlier: tuple[EarlierStep, ...]) -> RunStarted:
        deps = self._deps
        return RunStarted(
            request=self._request,
            planner=deps.planning.planner,
            policy=deps.planning.policy.name,
            earlier=earlier,
            files=tuple(file.file_note for file in deps.user.files.new),
            files_before=tuple(file.file_note for file in deps.user.files.earlier),
        )

    def _build_undivided_subtask(self) -> Subtask | None:
        """Return the undivided request as the only subtask; None if it is to be decomposed.

        It is not divided if a plan is given, or if one program serves it and can use all earlier results itself. A
        resumed run keeps to what was done before the interruption.
        """
        if (plan := self._deps.planning.plan) is not None:
            (subtask,) = build_single_subtask(self._request, "its plan is given").subtasks
            source = try_parse_source(plan.program.text)
            earlier_numbers = sorted(self._earlier_steps) if source is not None and EARLIER in source.read_names else []
            return replace(subtask, earlier=tuple(earlier_numbers))
        if not self._deps.tries_program_first or (self._earlier_steps and not self._deps.can_use_earlier_results):
            return None
        started_subtasks, _ = self._context.log.load_subtasks()
        if started_subtasks:
            return (
                started_subtasks[1]
                if len(started_subtasks) == 1 and started_subtasks[1].description == self._request
                else None
            )
        (subtask,) = build_single_subtask(self._request, "one program serves it").subtasks
        return replace(subtask, earlier=tuple(sorted(self._earlier_steps)))

    def _build_evidence(self, request: str, queries: Sequence[str] = ()) -> ToolEvidence:
        """Build the evidence about tools for a request. ``queries`` are texts to search with, besides its parts."""
        deps = self._deps
        texts = tuple(dict.fromkeys((*deps.planning.reader.split_request(request), *queries)))
        return ToolEvidence(
            texts,
            self._graph_reads,
            deps.knowledge.search,
            deps.knowledge.weights,
            deps.calls.secrets,
            deps.knowledge.flows,
            deps.planning.reader,
        )

    async def _serve_subtask(self, subtask: Subtask) -> None:
        """Serve one subtask, after those that it depends on have ended."""
        executed = {number: subtask_run.to_executed_steps() for number, subtask_run in self._subtask_runs.items()}
        prior_steps = [self._earlier_steps[number] for number in subtask.earlier]
        prior_steps += [
            self._subtask_runs[number].get_step(step) for number, step in find_prior_steps(subtask.depends_on, executed)
        ]
        subtask_run = SubtaskRun(
            subtask, self._context, self._build_evidence(subtask.description, subtask.queries), tuple(prior_steps)
        )
        unmet = [
            self._subtask_runs[number].subtask.name
            for number in subtask.depends_on
            if not self._subtask_runs[number].is_served
        ]
        self._subtask_runs[subtask.number] = subtask_run
        await subtask_run.serve(unmet=", ".join(unmet))

    async def _compose_answer(self) -> None:
        """Emit the answer of the run, with what was changed, missing or failed, and finish the run."""
        subtask_runs = [self._subtask_runs[number] for number in sorted(self._subtask_runs)]
        steps = self._collect_steps(subtask_runs)
        for line in self._report_changes(subtask_runs, steps):
            await self._emit_answer_text(line)
        reviews = [subtask_run.review for subtask_run in subtask_runs]
        for sentence in dict.fromkeys(mismatch for review in reviews for mismatch in review.mismatches):
            await self._emit_answer_text(f"Not what was asked for: {sentence}.\n")
        if unapplied_filters := list(
            dict.fromkeys(
                filter_text
                for subtask_run, review in zip(subtask_runs, reviews, strict=True)
                for filter_text in review.unapplied_filters
                if not subtask_run.progress.served_by_program
            )
        ):
            await self._emit_answer_text(
                f"Not gone by: {', '.join(unapplied_filters)}. What follows is not cut to that.\n"
            )
        if (unused_values := _quote_unused_values(reviews)) and any(result.status == "ok" for _, result in steps):
            await self._emit_answer_text(f"No call was made for: {', '.join(unused_values)}.\n")
        await self._emit_subtask_answers(subtask_runs)
        outcomes: list[RunOutcome] = [self._judge_outcome(subtask_run) for subtask_run in subtask_runs]
        missing = [
            subtask_run for subtask_run, outcome in zip(subtask_runs, outcomes, strict=True) if outcome != "answered"
        ]
        for subtask_run in missing if len(subtask_runs) > 1 else []:
            await self._emit_answer_text(
                f'Not answered: "{clean_text(subtask_run.subtask.name)}": {clean_text(subtask_run.failure_reason, 300)}\n'
            )
        await self._finish(
            combine_outcomes(outcomes), unanswered=[subtask_run.subtask.number for subtask_run in missing]
        )

    async def _emit_subtask_answers(self, subtask_runs: Sequence[SubtaskRun]) -> None:
        """Emit the answers of programs, then the answer that the policy words from the steps of the other subtasks.

        The others are paths, and plans without an answer of their own. If none of their steps succeeded, the reasons
        are emitted instead.
        """
        program_runs = [
            subtask_run
            for subtask_run in subtask_runs
            if subtask_run.progress.served_by_program and not subtask_run.progress.lacks_answer_text
        ]
        for subtask_run in program_runs:
            await self._emit_answer_text(await self._render_program_answer(subtask_run))
        ended_runs = [subtask_run for subtask_run in program_runs if subtask_run.progress.program_end is not None]
        numbered = enumerate(self._collect_steps(ended_runs), start=1)
        if sources := format_sources((number, tool) for number, (tool, result) in numbered if result.status == "ok"):
            await self._emit_answer_text(sources)
        path_runs = [subtask_run for subtask_run in subtask_runs if subtask_run not in program_runs]
        steps = self._collect_steps(path_runs)
        if not any(result.status in ("ok", "unknown") for _, result in steps):
            if failures := "".join(subtask_run.format_failure() for subtask_run in path_runs):
                await self._emit_answer_text(failures)
            return
        has_changes = any(not tool.safe and result.status == "ok" for tool, result in steps)
        # An answer that may repeat a known wrong one is collected and checked before the user sees any of it. After a
        # change it is not withheld, because the user must learn what was done.
        held_back = "" if self._deps.user.wrong_answers and not has_changes else None
        async with closing(self._deps.planning.policy.answer(self._resolve_request(), steps)) as pieces:
            async for piece in pieces:
                for notice in take_notices(self._deps.planning.policy):
                    await self._emit(notice)
                if held_back is None:
                    await self._emit_answer_text(piece)
                else:
                    held_back += piece
        if held_back is not None:
            wrong_answers, request = self._deps.user.wrong_answers, self._resolve_request()
            self._is_answer_withheld = is_known_wrong(
                self._answer + held_back, wrong_answers, request
            ) or is_known_wrong(held_back, wrong_answers, request)
            await self._emit_answer_text(
                f"This could not be answered: {WRONG_ANSWER_REASON}.\n" if self._is_answer_withheld else held_back
            )

    def _judge_outcome(self, subtask_run: SubtaskRun) -> RunOutcome:
        """Return the outcome of a subtask; one whose answer was withheld as known to be wrong counts as given up."""
        is_path_answer = not subtask_run.progress.served_by_program or subtask_run.progress.lacks_answer_text
        return "gave_up" if self._is_answer_withheld and is_path_answer else subtask_run.outcome

    async def _render_program_answer(self, subtask_run: SubtaskRun) -> str:
        """Return the answer of a program, rephrased by the policy if the run asks for that.

        If the program did not end, return the reason.
        """
        end = subtask_run.progress.program_end
        if end is None:
            return subtask_run.format_failure()
        if self._deps.planning.rephrases_answers and end.verdict != "no" and end.answer:
            phrased_answer = await self._deps.planning.policy.decide(
                PhraseQuestion(subtask_run.subtask.description, end.answer)
            )
            end = end.model_copy(update={"answer": phrased_answer})
        return format_program_answer(end)

    @staticmethod
    def _report_changes(subtask_runs: Sequence[SubtaskRun], steps: Results) -> Iterator[str]:
        """Yield a line for each change that the run made or failed to make."""
        calls = tuple(
            (subtask_run.evidence.doc(result.tool), result)
            for subtask_run in subtask_runs
            for result in subtask_run.progress.call_results
        )
        missing_changes = [tool for subtask_run in subtask_runs for tool in subtask_run.missing_changes]
        program_runs = [subtask_run for subtask_run in subtask_runs if subtask_run.progress.served_by_program]
        program_calls = tuple(
            (subtask_run.evidence.doc(result.tool), result)
            for subtask_run in program_runs
            for result in subtask_run.results
        )
        return report_changes(
            steps,
            calls,
            [clause for subtask_run in subtask_runs for clause in subtask_run.unserved_parts],
            missing_changes,
            program_calls,
        )

    def _resolve_request(self) -> str:
        """Return the request in a form that is clear without the conversation.

        The description of a single subtask has references to earlier runs resolved.
        """
        descriptions = [subtask_run.subtask.description for subtask_run in self._subtask_runs.values()]
        return descriptions[0] if len(descriptions) == 1 else self._request

    async def _emit_answer_text(self, text: str) -> None:
        """Emit a piece of the answer."""
        self._answer += text
        await self._emit(AnswerDelta(text=text))

    def _collect_steps(self, subtask_runs: Sequence[SubtaskRun]) -> Results:
        """Return the steps of subtasks, then steps that were abandoned, then reused steps of earlier runs.

        Their references use the consecutive step numbers of the run.
        """
        numbers = number_steps_consecutively(
            [self._subtask_runs[number].to_executed_steps() for number in sorted(self._subtask_runs)]
        )
        steps: list[tuple[ToolDoc, StepResult]] = []
        for results in (
            [subtask_run.results for subtask_run in subtask_runs],
            [subtask_run.abandoned_results for subtask_run in subtask_runs],
        ):
            for subtask_run, subtask_results in zip(subtask_runs, results, strict=True):
                steps += [
                    (
                        subtask_run.evidence.doc(result.tool),
                        translate_step_references(result, numbers[subtask_run.subtask.number]),
                    )
                    for result in subtask_results
                ]
        return (*steps, *(step for subtask_run in subtask_runs for step in subtask_run.reused_steps))


def _quote_unused_values(reviews: Sequence[RequestReview]) -> list[str]:
    """Return the first few values, in quotes, that the subtasks name and no call used."""
    return [
        f"“{clean_text(text, 60)}”"
        for text in dict.fromkeys(text for review in reviews for text in review.unused_values)
    ][:_MAX_UNUSED_VALUES]
