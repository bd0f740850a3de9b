"""One run: split the request, serve its subtasks, compose the answer, and learn from the run."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from agent.asking import Asking
from agent.budget import Budget, Meter
from agent.conversation import Earlier, EarlierRun
from agent.decomposition import decompose, find_categories
from agent.execution.announcements import Announcements
from agent.execution.layers import build_executor
from agent.execution.provenance import Provenance, Voices
from agent.execution.undo import Undo
from agent.files.given import NEEDS_MODEL
from agent.offer.siblings import SearchedSiblings
from agent.offer.tool_facts import Evidence, ReadOnce
from agent.outcome import changed, finished, outcome_of
from agent.plans.fixed_values import fixed_values, said_values
from agent.policy.protocol import PhraseQuestion, Results, told_notices
from agent.policy.subtasks import Subtask, whole
from agent.program_answer import based_on, said
from agent.programs.earlier import EARLIER
from agent.programs.verdict import WRONG
from agent.request_reader import Review
from agent.resume import open_log
from agent.resume_policy import ReplaySplit
from agent.run_context import RunDeps, Shared
from agent.run_events import RunEvents
from agent.scheduler import Parts, closing
from agent.step_numbers import counted_through, given_to, renumbered
from agent.subtask import SubtaskRun
from agent.text import clean
from agent.wrong_answers import said_again
from domain.errors import FootpathError, PassingError
from domain.event import AnswerDelta, EarlierStep, Event, EventRecord, Outcome, RunStarted
from domain.plan import StepResult
from domain.source_text import try_parse_source
from domain.tool import ToolDoc

__all__ = ["RunDeps", "run"]

_log = logging.getLogger(__name__)
_MOST_UNUSED = 5
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
        past: events of this run from before it was interrupted. The run resumes after them (:mod:`agent.resume`) and continues
            their numbers.
        earlier: earlier runs of the conversation, oldest first; a request that refers back may use their results.

    Only a cancellation is raised, and only after ``run.finished`` with the outcome ``cancelled``. An error ends the run with the
    outcome ``failed`` and ``code: message``. The exception is a ``PassingError`` in a run that somebody resumes later
    (``RunHost.taken_up``): it is raised without a last event.
    """
    events = RunEvents(name or uuid4().hex, past)
    whole = _Run(request, await _shared(request, deps, events, budget or Budget(), Earlier(tuple(earlier))))
    async with closing(events.follow(whole.complete, deps.host.in_turn)) as records:
        async for record in records:
            yield record


async def _shared(request: str, deps: RunDeps, events: RunEvents, budget: Budget, earlier: Earlier) -> Shared:
    """Build what all subtasks of a run share, in its state after the recorded events."""
    past = tuple(events.records)
    meter = Meter(budget, deps.planning.policy.cost, used_up=deps.host.used_up)
    log = await open_log(past, deps.knowledge.store)
    voices = deps.user.voices
    if voices is None:
        fixed = await asyncio.to_thread(fixed_values, deps.planning.plan)
        voices = Voices(said=(*said_values(deps.planning.plan), request), fixed=fixed)
    provenance = Provenance(voices, deps.planning.reader)
    provenance.give(deps.user.files.all)
    asking = Asking(deps.user.asker, provenance, meter.stopwatch, [*voices.said])
    made = log.made(ledger=deps.calls.ledger)
    meter.changes = log.count_changes(made)
    announcements = Announcements()
    undo = Undo(SearchedSiblings(deps.knowledge.store, deps.knowledge.search))
    executor = build_executor(
        deps.calls.executor,
        deps.calls.layers,
        approver=deps.calls.approver,
        provenance=provenance,
        meter=meter,
        made=made,
        announcements=announcements,
        undo=undo,
    )
    today = deps.host.today or (past[0].at if past else datetime.now(UTC)).date().isoformat()
    return Shared(
        deps,
        events,
        meter,
        executor,
        provenance,
        asking,
        log=log,
        earlier=earlier,
        request=request,
        parts=Parts(deps.planning.at_once),
        today=today,
        announcements=announcements,
    )


class _Run:
    """One run from start to end. Used once."""

    def __init__(self, request: str, shared: Shared) -> None:
        self._request = request
        self._shared = shared
        self._deps = shared.deps
        self._events = shared.events
        self._memo = shared.log.of(0)
        self._turns: dict[int, SubtaskRun] = {}
        self._answer = ""
        self._withheld = False
        self._given: dict[int, tuple[ToolDoc, StepResult]] = {}
        self._graph = ReadOnce(shared.deps.knowledge.store)

    async def complete(self) -> None:
        """Execute the run to its last event, whatever happens."""
        try:
            await self._do()
        except asyncio.CancelledError:
            if self._events.followed:
                await self._finish("cancelled")
            raise
        except FootpathError as error:
            if self._deps.host.taken_up and isinstance(error, PassingError):
                raise
            _log.warning("a run failed: %s", error)  # where a store is, is not for users
            await self._finish("failed", f"{error.code}: {error.public_message}")
        except Exception as error:  # noqa: BLE001  # a defect of ours must end the run in order, not tear the stream
            _log.exception("a run failed")
            await self._finish("failed", f"internal: {type(error).__name__}; the log has the details")

    async def _tell(self, event: Event) -> None:
        """Emit an event of the run as a whole, unless it is a replayed one."""
        if not self._memo.replays(event):
            await self._events.tell(0, event)

    async def _finish(self, outcome: Outcome, error: str = "", unanswered: Sequence[int] = ()) -> None:
        """Learn from the run, then emit its end with all costs so far, those of learning included."""
        subtasks = [turn.progress for turn in self._turns.values()]
        end = finished(outcome, self._answer, self._shared.meter, subtasks, error)
        end = end.model_copy(update={"unanswered": tuple(unanswered)})
        if (learner := self._deps.host.learner) is not None:
            records = self._events.records
            learned = await learner.learn((*records, self._events.record(0, end)))
            if learned is not None:
                await self._events.tell(0, learned)
            end = learner.with_cost(end)
        await self._events.tell(0, end)

    async def _do(self) -> None:
        told, deps = self._shared.earlier.told(), self._deps
        await self._tell(self._begun(told))
        if deps.user.files.new and not deps.reads_files:
            await self._give_up(f"{NEEDS_MODEL}{_WITH_A_MODEL}.\n")
            return
        if deps.planning.plan is None and not deps.user.files.new and not await deps.knowledge.search.size():
            await self._give_up(f"{_NO_TOOLS}.\n")
            return
        asked = await self._shared.earlier.asked(self._evidence(self._request)) if told else ()
        self._given = {number: (tool, result) for one in asked for number, tool, result in one.steps}
        for number, (tool, result) in self._given.items():
            self._shared.provenance.hear(tool, result, f"earlier.{number}")
        if (one := self._whole()) is not None:
            subtasks = (one,)
        else:
            policy = ReplaySplit(self._deps.planning.policy, self._shared.log)
            near = await find_categories(self._request, deps.knowledge.search) if deps.options.names_categories else ()
            subtasks = (await decompose(self._request, policy, asked, near)).subtasks
        for notice in told_notices(self._deps.planning.policy):
            await self._tell(notice)
        parts = {one.number: partial(self._serve, one) for one in subtasks}
        await self._shared.parts.do(parts, {one.number: one.depends_on for one in subtasks})
        await self._bring_together()

    async def _give_up(self, text: str) -> None:
        await self._say(text)
        await self._finish("gave_up")

    def _begun(self, earlier: tuple[EarlierStep, ...]) -> RunStarted:
        deps = self._deps
        return RunStarted(
            request=self._request,
            planner=deps.planning.planner,
            policy=deps.planning.policy.name,
            earlier=earlier,
            files=tuple(one.told for one in deps.user.files.new),
            files_before=tuple(one.told for one in deps.user.files.before),
        )

    def _whole(self) -> Subtask | None:
        """Return the undivided request as the only subtask; None if it is decomposed, or was before an interruption.

        It stays whole if a plan is given, or if one program serves it and can use all earlier results itself.
        """
        if (plan := self._deps.planning.plan) is not None:
            (one,) = whole(self._request, "its plan is given").subtasks
            source = try_parse_source(plan.program.text)
            builds_on = sorted(self._given) if source is not None and EARLIER in source.uses else []
            return replace(one, earlier=tuple(builds_on))
        if not self._deps.by_program or (self._given and not self._deps.writes_on):
            return None
        begun, _ = self._shared.log.subtasks()
        if begun:
            return begun[1] if len(begun) == 1 and begun[1].description == self._request else None
        (one,) = whole(self._request, "one program serves it").subtasks
        return replace(one, earlier=tuple(sorted(self._given)))

    def _evidence(self, request: str, queries: Sequence[str] = ()) -> Evidence:
        """Build the tool facts for a request. ``queries`` are further texts to search tools with, besides its parts."""
        deps = self._deps
        texts = tuple(dict.fromkeys((*deps.planning.reader.parts(request), *queries)))
        return Evidence(
            texts,
            self._graph,
            deps.knowledge.search,
            deps.knowledge.weights,
            deps.calls.secrets,
            deps.knowledge.flows,
            deps.planning.reader,
        )

    async def _serve(self, subtask: Subtask) -> None:
        """Serve one subtask; the ones that it depends on have ended."""
        carried = {number: turn.carried() for number, turn in self._turns.items()}
        given = [self._given[number] for number in subtask.earlier]
        given += [self._turns[number].step(step) for number, step in given_to(subtask.depends_on, carried)]
        turn = SubtaskRun(subtask, self._shared, self._evidence(subtask.description, subtask.queries), tuple(given))
        lacking = [self._turns[n].subtask.name for n in subtask.depends_on if not self._turns[n].served]
        self._turns[subtask.number] = turn
        await turn.serve(lacking=", ".join(lacking))

    async def _bring_together(self) -> None:
        """Emit one answer from all that succeeded, with what is missing or failed, and finish the run."""
        turns = [self._turns[number] for number in sorted(self._turns)]
        steps = self._steps(turns)
        for line in self._changed(turns, steps):
            await self._say(line)
        reviews = [turn.review for turn in turns]
        for sentence in dict.fromkeys(one for review in reviews for one in review.about_another):
            await self._say(f"Not what was asked for: {sentence}.\n")
        if whole := list(
            dict.fromkeys(
                one
                for turn, review in zip(turns, reviews, strict=True)
                for one in review.not_sifted
                if not turn.progress.by_program
            )
        ):
            await self._say(f"Not gone by: {', '.join(whole)}. What follows is not cut to that.\n")
        if (left := _unused(reviews)) and any(result.status == "ok" for _, result in steps):
            await self._say(f"No call was made for: {', '.join(left)}.\n")
        await self._say_answers(turns)
        outcomes: list[Outcome] = [self._outcome(turn) for turn in turns]
        missing = [turn for turn, outcome in zip(turns, outcomes, strict=True) if outcome != "answered"]
        for turn in missing if len(turns) > 1 else []:
            await self._say(f'Not answered: "{clean(turn.subtask.name)}": {clean(turn.why_not, 300)}\n')
        await self._finish(outcome_of(outcomes), unanswered=[turn.subtask.number for turn in missing])

    async def _say_answers(self, turns: Sequence[SubtaskRun]) -> None:
        """Emit the answers of programs, then the policy's answer from the steps of paths and of silent plans.

        If no such step succeeded, the reasons are emitted instead.
        """
        programs = [turn for turn in turns if turn.progress.by_program and not turn.progress.unspoken]
        for turn in programs:
            await self._say(await self._told_by_program(turn))
        rests_on = [turn for turn in programs if turn.progress.program is not None]
        numbered = enumerate(self._steps(rests_on), start=1)
        if named := based_on((number, tool) for number, (tool, result) in numbered if result.status == "ok"):
            await self._say(named)
        walked = [turn for turn in turns if turn not in programs]
        steps = self._steps(walked)
        if not any(result.status in ("ok", "unknown") for _, result in steps):
            if failures := "".join(turn.failure_message() for turn in walked):
                await self._say(failures)
            return
        made = any(not tool.safe and result.status == "ok" for tool, result in steps)
        # An answer that may repeat a known wrong one is collected whole and checked before the user sees any of it.
        held = "" if self._deps.user.wrong_answers and not made else None
        async with closing(self._deps.planning.policy.answer(self._asked(), steps)) as pieces:
            async for piece in pieces:
                for notice in told_notices(self._deps.planning.policy):
                    await self._tell(notice)
                if held is None:
                    await self._say(piece)
                else:
                    held += piece
        if held is not None:
            wrong, asked = self._deps.user.wrong_answers, self._asked()
            self._withheld = said_again(self._answer + held, wrong, asked) or said_again(held, wrong, asked)
            await self._say(f"This could not be answered: {WRONG}.\n" if self._withheld else held)

    def _outcome(self, turn: SubtaskRun) -> Outcome:
        """Return the outcome of a subtask; one whose answer was withheld as wrong counts as given up."""
        walked = not turn.progress.by_program or turn.progress.unspoken
        return "gave_up" if self._withheld and walked else turn.outcome

    async def _told_by_program(self, turn: SubtaskRun) -> str:
        """Return a program's answer, phrased by the policy if the run asks for that.

        If the program did not end, the result is the reason.
        """
        end = turn.progress.program
        if end is None:
            return turn.failure_message()
        if self._deps.planning.phrase and end.verdict != "no" and end.answer:
            words = await self._deps.planning.policy.decide(PhraseQuestion(turn.subtask.description, end.answer))
            end = end.model_copy(update={"answer": words})
        return said(end)

    @staticmethod
    def _changed(turns: Sequence[SubtaskRun], steps: Results) -> Iterator[str]:
        """Yield a line for each change that the run made or failed to make."""
        called = tuple((turn.evidence.doc(result.tool), result) for turn in turns for result in turn.progress.called)
        unmade = [tool for turn in turns for tool in turn.unmade]
        programs = [turn for turn in turns if turn.progress.by_program]
        each = tuple((turn.evidence.doc(result.tool), result) for turn in programs for result in turn.done)
        return changed(steps, called, [clause for turn in turns for clause in turn.undone], unmade, each)

    def _asked(self) -> str:
        """Return the request in a form that stands alone.

        The description of a single subtask resolves references to earlier runs.
        """
        whole = [turn.subtask.description for turn in self._turns.values()]
        return whole[0] if len(whole) == 1 else self._request

    async def _say(self, text: str) -> None:
        """Emit a piece of the answer."""
        self._answer += text
        await self._tell(AnswerDelta(text=text))

    def _steps(self, turns: Sequence[SubtaskRun]) -> Results:
        """Return the steps of subtasks, numbered consecutively.

        Steps that failed on the way come after them, then reused earlier ones.
        """
        numbers = counted_through([self._turns[number].carried() for number in sorted(self._turns)])
        steps: list[tuple[ToolDoc, StepResult]] = []
        for results in ([turn.done for turn in turns], [turn.failed for turn in turns]):
            for turn, made in zip(turns, results, strict=True):
                steps += [(turn.evidence.doc(r.tool), renumbered(r, numbers[turn.subtask.number])) for r in made]
        return (*steps, *(step for turn in turns for step in turn.reread))


def _unused(reviews: Sequence[Review]) -> list[str]:
    """Return the first few values that the subtasks name and no call used, in quotes."""
    return [f"“{clean(text, 60)}”" for text in dict.fromkeys(text for review in reviews for text in review.unused)][
        :_MOST_UNUSED
    ]
