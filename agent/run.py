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
from agent.decomposition import decompose, find_categories
from agent.execution.layers import build_executor
from agent.execution.pending_calls import PendingCallRegistry
from agent.execution.provenance import ProvenanceTracker, RunStatements
from agent.execution.undo_candidates import UndoFinder
from agent.files.given import NEEDS_MODEL
from agent.offer.tool_evidence import CachedGraphReads, ToolEvidence
from agent.offer.undo_search import UndoCandidateSearch
from agent.outcome import build_run_finished, combine_outcomes, report_changes
from agent.plans.fixed_values import collect_fixed_values, collect_given_texts
from agent.policy.protocol import PhraseQuestion, Results, take_notices
from agent.policy.subtasks import Subtask, build_single_subtask
from agent.program_answer import format_answer, format_sources
from agent.programs.program_request import EARLIER
from agent.programs.verdict import WRONG
from agent.request_reader import RequestReview
from agent.resume import open_log
from agent.resume_policy import ReplayDecomposition
from agent.run_context import RunContext, RunDeps
from agent.run_events import RunEventStream
from agent.scheduler import SubtaskScheduler, closing
from agent.step_numbers import find_prior_steps, number_steps, renumber
from agent.subtask import SubtaskRun
from agent.text import clean
from agent.user_questions import UserQuestions
from agent.wrong_answers import is_known_wrong
from domain.errors import FootpathError, TransientError
from domain.event import AnswerDelta, EarlierStep, Event, EventRecord, RunOutcome, RunStarted
from domain.plan import StepResult
from domain.source_text import try_parse_source
from domain.tool import ToolDoc

__all__ = ["RunDeps", "run"]

_log = logging.getLogger(__name__)
_MAX_UNUSED = 5
"""Limit of unused values that the answer lists."""
_NO_TOOLS = "There are no tools yet, so nothing can be called: an author adds an API on the page under Sources, or a document is built into the store"
_WITH_A_MODEL = ": ask with the policy llm and the planner program, or put what it says into the question"


async def run(
    request: str,
    deps: RunDeps,
    budget: Budget | None = None,
    *,
    name: str = "",
    past: Sequence[EventRecord] = (),
    earlier: Sequence[EarlierRun] = (),
) -> AsyncGenerator[EventRecord]:
    """Run a request and yield its events up to the answer; the last event is always ``run.finished``.

    Args:
        request: the user's words.
        deps: everything that the run works with.
        budget: limits of the run.
        name: name of the run, a new one by default. It also seeds which failed tools get another chance.
        past: events of this run from before it was interrupted. The run resumes after them (:mod:`agent.resume`) and
            continues their numbers.
        earlier: earlier runs of the conversation, oldest first; a request that refers back may use their results.

    Errors are not raised: they end the run with the outcome ``failed`` and ``code: message``. A cancellation is raised
    after ``run.finished`` with the outcome ``cancelled``. A ``TransientError`` in a run that can be resumed
    (:attr:`agent.run_context.RunHost.taken_up`) is raised without a last event.
    """
    events = RunEventStream(name or uuid4().hex, past)
    active_run = _ActiveRun(
        request,
        await _build_run_context(request, deps, events, budget or Budget(), ConversationHistory(tuple(earlier))),
    )
    async with closing(events.follow(active_run.complete, deps.host.in_turn)) as records:
        async for record in records:
            yield record


async def _build_run_context(
    request: str, deps: RunDeps, events: RunEventStream, budget: Budget, earlier: ConversationHistory
) -> RunContext:
    """Build the state that all subtasks of a run share, as it was after the recorded events."""
    past = tuple(events.records)
    meter = BudgetMeter(budget, deps.planning.policy.cost, used_up=deps.host.used_up)
    log = await open_log(past, deps.knowledge.store)
    voices = deps.user.voices
    if voices is None:
        fixed = await asyncio.to_thread(collect_fixed_values, deps.planning.plan)
        voices = RunStatements(user_messages=(*collect_given_texts(deps.planning.plan), request), user_values=fixed)
    provenance = ProvenanceTracker(voices, deps.planning.reader)
    provenance.add_files(deps.user.files.all)
    asking = UserQuestions(deps.user.asker, provenance, meter.stopwatch, [*voices.user_messages])
    past_calls = log.collect_calls(ledger=deps.calls.ledger)
    meter.changes = log.count_changes(past_calls)
    announcements = PendingCallRegistry()
    undo = UndoFinder(UndoCandidateSearch(deps.knowledge.store, deps.knowledge.search))
    executor = build_executor(
        deps.calls.executor,
        deps.calls.layers,
        approver=deps.calls.approver,
        provenance=provenance,
        meter=meter,
        earlier_results=past_calls,
        announcements=announcements,
        undo=undo,
    )
    today = deps.host.today or (past[0].at if past else datetime.now(UTC)).date().isoformat()
    return RunContext(
        deps,
        events,
        meter,
        executor,
        provenance,
        asking,
        log=log,
        earlier=earlier,
        request=request,
        scheduler=SubtaskScheduler(deps.planning.at_once),
        today=today,
        announcements=announcements,
    )


class _ActiveRun:
    """One run from start to end; an object serves one run."""

    def __init__(self, request: str, shared: RunContext) -> None:
        self._request = request
        self._shared = shared
        self._deps = shared.deps
        self._events = shared.events
        self._memo = shared.log.get_memo(0)
        self._subtask_runs: dict[int, SubtaskRun] = {}
        self._answer = ""
        self._withheld = False
        self._earlier_steps: dict[int, tuple[ToolDoc, StepResult]] = {}
        self._graph = CachedGraphReads(shared.deps.knowledge.store)

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
            if self._deps.host.taken_up and isinstance(error, TransientError):
                raise
            _log.warning("a run failed: %s", error)  # the whole text may hold the address of a store, so only the log has it
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
        subtasks = [turn.progress for turn in self._subtask_runs.values()]
        end = build_run_finished(outcome, self._answer, self._shared.meter, subtasks, error)
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
        step_references, deps = self._shared.earlier.list_step_references(), self._deps
        await self._emit(self._build_run_started(step_references))
        if deps.user.files.new and not deps.reads_files:
            await self._give_up(f"{NEEDS_MODEL}{_WITH_A_MODEL}.\n")
            return
        if deps.planning.plan is None and not deps.user.files.new and not await deps.knowledge.search.size():
            await self._give_up(f"{_NO_TOOLS}.\n")
            return
        earlier_requests = (
            await self._shared.earlier.load_requests(self._build_evidence(self._request)) if step_references else ()
        )
        self._earlier_steps = {number: (tool, result) for one in earlier_requests for number, tool, result in one.steps}
        for number, (tool, result) in self._earlier_steps.items():
            self._shared.provenance.record_response(tool, result, f"earlier.{number}")
        if (one := self._build_undivided_subtask()) is not None:
            subtasks = (one,)
        else:
            policy = ReplayDecomposition(self._deps.planning.policy, self._shared.log)
            categories = (
                await find_categories(self._request, deps.knowledge.search) if deps.options.names_categories else ()
            )
            subtasks = (await decompose(self._request, policy, earlier_requests, categories)).subtasks
        for notice in take_notices(self._deps.planning.policy):
            await self._emit(notice)
        parts = {one.number: partial(self._serve_subtask, one) for one in subtasks}
        await self._shared.scheduler.run_all(parts, {one.number: one.depends_on for one in subtasks})
        await self._compose_answer()

    async def _give_up(self, text: str) -> None:
        """End the run before any planning, with a text as its answer."""
        await self._emit_answer(text)
        await self._finish("gave_up")

    def _build_run_started(self, earlier: tuple[EarlierStep, ...]) -> RunStarted:
        deps = self._deps
        return RunStarted(
            request=self._request,
            planner=deps.planning.planner,
            policy=deps.planning.policy.name,
            earlier=earlier,
            files=tuple(one.file_note for one in deps.user.files.new),
            files_before=tuple(one.file_note for one in deps.user.files.before),
        )

    def _build_undivided_subtask(self) -> Subtask | None:
        """Return the undivided request as the only subtask; None if it is to be decomposed.

        It is not divided if a plan is given, or if one program serves it and can use all earlier results itself. A
        resumed run keeps to what was done before the interruption.
        """
        if (plan := self._deps.planning.plan) is not None:
            (one,) = build_single_subtask(self._request, "its plan is given").subtasks
            source = try_parse_source(plan.program.text)
            builds_on = sorted(self._earlier_steps) if source is not None and EARLIER in source.uses else []
            return replace(one, earlier=tuple(builds_on))
        if not self._deps.by_program or (self._earlier_steps and not self._deps.continues_from_results):
            return None
        begun, _ = self._shared.log.load_subtasks()
        if begun:
            return begun[1] if len(begun) == 1 and begun[1].description == self._request else None
        (one,) = build_single_subtask(self._request, "one program serves it").subtasks
        return replace(one, earlier=tuple(sorted(self._earlier_steps)))

    def _build_evidence(self, request: str, queries: Sequence[str] = ()) -> ToolEvidence:
        """Build the evidence about tools for a request. ``queries`` are texts to search with, besides its parts."""
        deps = self._deps
        texts = tuple(dict.fromkeys((*deps.planning.reader.split_request(request), *queries)))
        return ToolEvidence(
            texts,
            self._graph,
            deps.knowledge.search,
            deps.knowledge.weights,
            deps.calls.secrets,
            deps.knowledge.flows,
            deps.planning.reader,
        )

    async def _serve_subtask(self, subtask: Subtask) -> None:
        """Serve one subtask, after those that it depends on have ended."""
        carried = {number: turn.to_executed_steps() for number, turn in self._subtask_runs.items()}
        prior_steps = [self._earlier_steps[number] for number in subtask.earlier]
        prior_steps += [
            self._subtask_runs[number].get_step(step) for number, step in find_prior_steps(subtask.depends_on, carried)
        ]
        turn = SubtaskRun(
            subtask, self._shared, self._build_evidence(subtask.description, subtask.queries), tuple(prior_steps)
        )
        unmet = [self._subtask_runs[n].subtask.name for n in subtask.depends_on if not self._subtask_runs[n].served]
        self._subtask_runs[subtask.number] = turn
        await turn.serve(unmet=", ".join(unmet))

    async def _compose_answer(self) -> None:
        """Emit the answer of the run, with what was changed, missing or failed, and finish the run."""
        turns = [self._subtask_runs[number] for number in sorted(self._subtask_runs)]
        steps = self._collect_steps(turns)
        for line in self._report_changes(turns, steps):
            await self._emit_answer(line)
        reviews = [turn.review for turn in turns]
        for sentence in dict.fromkeys(one for review in reviews for one in review.mismatches):
            await self._emit_answer(f"Not what was asked for: {sentence}.\n")
        if unapplied_filters := list(
            dict.fromkeys(
                one
                for turn, review in zip(turns, reviews, strict=True)
                for one in review.unapplied_filters
                if not turn.progress.by_program
            )
        ):
            await self._emit_answer(f"Not gone by: {', '.join(unapplied_filters)}. What follows is not cut to that.\n")
        if (unused_values := _collect_unused(reviews)) and any(result.status == "ok" for _, result in steps):
            await self._emit_answer(f"No call was made for: {', '.join(unused_values)}.\n")
        await self._emit_answers(turns)
        outcomes: list[RunOutcome] = [self._judge_outcome(turn) for turn in turns]
        missing = [turn for turn, outcome in zip(turns, outcomes, strict=True) if outcome != "answered"]
        for turn in missing if len(turns) > 1 else []:
            await self._emit_answer(f'Not answered: "{clean(turn.subtask.name)}": {clean(turn.failure_reason, 300)}\n')
        await self._finish(combine_outcomes(outcomes), unanswered=[turn.subtask.number for turn in missing])

    async def _emit_answers(self, turns: Sequence[SubtaskRun]) -> None:
        """Emit the answers of programs, then the answer that the policy words from the steps of the other subtasks.

        The others are paths, and plans without an answer of their own. If none of their steps succeeded, the reasons
        are emitted instead.
        """
        programs = [turn for turn in turns if turn.progress.by_program and not turn.progress.unspoken]
        for turn in programs:
            await self._emit_answer(await self._phrase_program_answer(turn))
        rests_on = [turn for turn in programs if turn.progress.program_end is not None]
        numbered = enumerate(self._collect_steps(rests_on), start=1)
        if sources := format_sources((number, tool) for number, (tool, result) in numbered if result.status == "ok"):
            await self._emit_answer(sources)
        walked = [turn for turn in turns if turn not in programs]
        steps = self._collect_steps(walked)
        if not any(result.status in ("ok", "unknown") for _, result in steps):
            if failures := "".join(turn.format_failure() for turn in walked):
                await self._emit_answer(failures)
            return
        has_changes = any(not tool.safe and result.status == "ok" for tool, result in steps)
        # An answer that may repeat a known wrong one is collected and checked before the user sees any of it. After a
        # change it is not withheld, because the user must learn what was done.
        withheld = "" if self._deps.user.wrong_answers and not has_changes else None
        async with closing(self._deps.planning.policy.answer(self._resolve_request(), steps)) as pieces:
            async for piece in pieces:
                for notice in take_notices(self._deps.planning.policy):
                    await self._emit(notice)
                if withheld is None:
                    await self._emit_answer(piece)
                else:
                    withheld += piece
        if withheld is not None:
            wrong, request = self._deps.user.wrong_answers, self._resolve_request()
            self._withheld = is_known_wrong(self._answer + withheld, wrong, request) or is_known_wrong(
                withheld, wrong, request
            )
            await self._emit_answer(f"This could not be answered: {WRONG}.\n" if self._withheld else withheld)

    def _judge_outcome(self, turn: SubtaskRun) -> RunOutcome:
        """Return the outcome of a subtask; one whose answer was withheld as known to be wrong counts as given up."""
        walked = not turn.progress.by_program or turn.progress.unspoken
        return "gave_up" if self._withheld and walked else turn.outcome

    async def _phrase_program_answer(self, turn: SubtaskRun) -> str:
        """Return the answer of a program, rephrased by the policy if the run asks for that.

        If the program did not end, return the reason.
        """
        end = turn.progress.program_end
        if end is None:
            return turn.format_failure()
        if self._deps.planning.phrase and end.verdict != "no" and end.answer:
            words = await self._deps.planning.policy.decide(PhraseQuestion(turn.subtask.description, end.answer))
            end = end.model_copy(update={"answer": words})
        return format_answer(end)

    @staticmethod
    def _report_changes(turns: Sequence[SubtaskRun], steps: Results) -> Iterator[str]:
        """Yield a line for each change that the run made or failed to make."""
        called = tuple((turn.evidence.doc(result.tool), result) for turn in turns for result in turn.progress.called)
        unmade = [tool for turn in turns for tool in turn.missing_changes]
        programs = [turn for turn in turns if turn.progress.by_program]
        each = tuple((turn.evidence.doc(result.tool), result) for turn in programs for result in turn.done)
        return report_changes(steps, called, [clause for turn in turns for clause in turn.unserved], unmade, each)

    def _resolve_request(self) -> str:
        """Return the request in a form that is clear without the conversation.

        The description of a single subtask has references to earlier runs resolved.
        """
        descriptions = [turn.subtask.description for turn in self._subtask_runs.values()]
        return descriptions[0] if len(descriptions) == 1 else self._request

    async def _emit_answer(self, text: str) -> None:
        """Emit a piece of the answer."""
        self._answer += text
        await self._emit(AnswerDelta(text=text))

    def _collect_steps(self, turns: Sequence[SubtaskRun]) -> Results:
        """Return the steps of subtasks, then steps that were abandoned, then reused steps of earlier runs.

        Their references use the consecutive step numbers of the run.
        """
        numbers = number_steps(
            [self._subtask_runs[number].to_executed_steps() for number in sorted(self._subtask_runs)]
        )
        steps: list[tuple[ToolDoc, StepResult]] = []
        for results in ([turn.done for turn in turns], [turn.failed for turn in turns]):
            for turn, subtask_results in zip(turns, results, strict=True):
                steps += [
                    (turn.evidence.doc(r.tool), renumber(r, numbers[turn.subtask.number])) for r in subtask_results
                ]
        return (*steps, *(step for turn in turns for step in turn.reused_steps))


def _collect_unused(reviews: Sequence[RequestReview]) -> list[str]:
    """Return the first few values, in quotes, that the subtasks name and no call used."""
    return [
        f"“{clean(text, 60)}”" for text in dict.fromkeys(text for review in reviews for text in review.unused_values)
    ][:_MAX_UNUSED]
