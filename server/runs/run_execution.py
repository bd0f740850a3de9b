"""Execution of one run by a worker: from its stored events to its end, or until it is released."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from agent.scheduler import closing
from domain.call_counter import CallCounter
from domain.errors import FootpathError, StoreBusyError, TransientError, UnavailableError
from domain.event import (
    CallStarted,
    Event,
    EventRecord,
    InputNeeded,
    RunDelayed,
    RunFinished,
    RunOutcome,
    WeightsLearned,
)
from domain.usage import Usage
from server.runs.event_journal import EventAppender, EventJournal, add_end_reason, parse_events, to_stored_event
from server.runs.event_stream import EventBroker
from server.runs.questions import parse_subtask
from server.runs.run_control import RunControl, RunStarter
from server.runs.store_outage import RetryWait
from server.storage.run_records import StoredEvent
from server.storage.runs import Run
from server.storage.storage import Storage
from server.watching import secrecy
from server.watching.logs import RUN_ID

_log = logging.getLogger(__name__)
OnStored = Callable[[Run, EventRecord], None]
"""Callback for an event of a run that has been stored; called once for each event."""


def ignore_event(_run: Run, _record: EventRecord) -> None:
    """Ignore a stored event."""


ReleaseReason = Literal["", "put down", "put back", "waiting", "lost"]
"""Why a worker lets go of a run that has not ended.

``put down``: any worker may claim it; ``put back``: it is due again after a pause, when a store may be within reach;
``waiting``: its user has to answer first; ``lost``: another worker holds it, or its events cannot be stored.
"""


class RunExecution:
    """Execution of one run, which starts when it is created.

    ``stored`` is called with each stored event. ``delayed_by``: the run is not executed; its user is told this reason,
    and the run is postponed.
    """

    def __init__(
        self,
        run: Run,
        worker: str,
        storage: Storage,
        start_run: RunStarter,
        broker: EventBroker,
        events: EventAppender,
        on_stored: OnStored,
        retry_wait: RetryWait,
        delayed_by: UnavailableError | None = None,
    ) -> None:
        self._run = run
        self._worker = worker
        self._storage = storage
        self._start_run = start_run
        self._release_reason: ReleaseReason = ""
        self.is_barred = False
        """The run was released because this process cannot execute runs at present, though another may."""
        self.out_of_reach: TransientError | None = None
        """The run was released because no process can execute it at present."""
        self._retry_wait = retry_wait
        self._delayed_by = delayed_by
        self._cancelled = run.cancel_at is not None
        self._cancel_reason = run.cancel_why or ""
        self._broker = broker
        self._journal = EventJournal(events, self._publish_stored, self.mark_lost)
        self._notify_stored = on_stored
        self._unconfirmed: deque[EventRecord] = deque()
        self._last_seq = 0
        self._end_event: RunFinished | None = None
        self._last_record: EventRecord | None = None
        self._end_record: EventRecord | None = None
        self._has_waiting_lesson = False
        self._asked_inputs: set[str] = set()
        self._question: InputNeeded | None = None
        self._calls: list[tuple[EventRecord, CallStarted]] = []
        self._calls_made = CallCounter()
        self._stream: asyncio.Task[None] | None = None
        self.task = asyncio.create_task(self._execute())
        """Ends when the run has ended or was released; never raises."""

    def cancel(self, why: str = "") -> None:
        """End the run, because its user asked for it or may not go on; ``why`` is the reason that is stored."""
        if not self._cancelled:
            self._cancelled, self._cancel_reason = True, why
            self._cancel_stream()

    def release_to_queue(self) -> None:
        """Release the run, for any worker to claim."""
        self._release("put down")

    def _wait_for_user(self, question: InputNeeded) -> None:
        """Release the run until its user has answered.

        The task is cancelled; the worker that claims the run after the answer replays it from its events. The question
        is emitted once, however often the run is resumed. :mod:`server.runs.questions` describes how a run waits.
        """
        if not self._release_reason:
            self._question = question if question.input not in self._asked_inputs else None
            self._release("waiting")

    def mark_lost(self) -> None:
        """Release the run: another worker holds it, or its events cannot be stored."""
        self._release("lost")

    def _release(self, reason: ReleaseReason) -> None:
        """Stop executing the run for the first reason that is given."""
        if not self._release_reason:
            self._release_reason = reason
            self._cancel_stream()

    def _cancel_stream(self) -> None:
        if self._stream is not None:
            self._stream.cancel()

    async def _execute(self) -> None:
        """Execute the run to its end or release. No error of the run ends the worker."""
        RUN_ID.set(self._run.id)
        secrecy.begin()
        _log.info("taken up: planner %s, policy %s", self._run.planner, self._run.policy)
        try:
            past = [] if self._run.is_new else await self._load_past_events()
            self._track_events(past)
            self._broker.begin(self._run.id, self._last_seq)
            is_open = self._end_event is None and not self._cancelled and not self._release_reason
            if is_open and self._delayed_by is not None:
                await self._delay(self._delayed_by, self._retry_wait.first)
            elif is_open:
                self._stream = asyncio.create_task(self._store_events(past))
                await asyncio.gather(self._stream, return_exceptions=True)
            if self.out_of_reach is not None and not self._release_reason and not self._cancelled:
                await self._postpone_or_fail(self.out_of_reach)
            if not self._release_reason:
                await self._finish()
            if self._release_reason in ("put down", "waiting"):
                self._emit_question()
                await self._journal.flush()
                status = "waiting" if self._release_reason == "waiting" else "queued"
                await self._storage.run_leases.release(self._run.id, self._worker, status)
        except FootpathError as error:
            _log.warning("let go of: %s", error)
        except Exception:  # noqa: BLE001  # the worker goes on; the run is taken up again when its lease has ended
            _log.exception("let go of")
        finally:
            self._broker.end(self._run.id)
            _log.info("over: %s", self._release_reason or (self._end_event.outcome if self._end_event else "not ended"))

    async def _load_past_events(self) -> list[EventRecord]:
        """Load the events that were stored before."""
        pages = self._storage.events.iterate_pages(self._run.id)
        return [record async for page in pages for record in await parse_events(page)]

    async def _store_events(self, past: list[EventRecord]) -> None:
        """Store the run's events as they come, continuing after the stored ones."""
        try:
            if (events := await self._start_stream(past)) is None:
                return
            async with closing(events) as records:
                async for record in records:
                    if self._release_reason:
                        return  # cancelled only to be released: the run continues elsewhere, so no end is stored
                    self._add_record(record)
        except TransientError as error:
            self.out_of_reach = error
        except FootpathError as error:
            _log.warning("failed: %s", error)  # only for the log: it names the store's address
            self._emit_end("failed", f"{error.code}: {error.public_message}")
        except Exception as error:  # noqa: BLE001  # a defect of ours must end the run in order
            _log.exception("failed")
            self._emit_end("failed", f"internal: {type(error).__name__}; the log has the details")

    async def _start_stream(self, past: list[EventRecord]) -> AsyncGenerator[EventRecord] | None:
        """Return the run's events; None where a store belongs to another process, to which the run is left."""
        control = RunControl(self._journal.flush, lambda: not self._release_reason, self._wait_for_user, self.cancel)
        try:
            return await self._start_run(self._run, past, control)
        except StoreBusyError as error:
            _log.warning("runs are left to other processes for a while: %s", error)
            self.is_barred = True
            self.release_to_queue()
            return None

    async def _postpone_or_fail(self, error: TransientError) -> None:
        """Postpone the run, or end it as failed where it was retried for long enough without progress."""
        _log.warning("put back: %s", error)  # only for the log: it names the store's address
        waited = datetime.now(UTC) - self._last_record.at if self._is_delayed and self._last_record else timedelta()
        if waited < self._retry_wait.total:
            await self._delay(error, self._retry_wait.compute_pause(waited), self._retry_wait.total - waited)
            return
        tried = f"it was tried again for {waited.total_seconds():.0f} seconds"
        self._emit_end("failed", f"{error.code}: {error.public_message}; {tried}")

    async def _delay(self, why: UnavailableError, pause: timedelta, keep_trying: timedelta | None = None) -> None:
        """Release the run until a pause is over. Its user is told why, once for any number of pauses in a row."""
        if not self._is_delayed:
            reason = f"The run waits, and goes on by itself when this has passed: {why.public_message}"
            self._emit(RunDelayed(reason=reason))
        await self._journal.flush()
        self._release_reason = "put back"
        await self._storage.run_leases.postpone(self._run.id, self._worker, pause, keep_trying)

    @property
    def _is_delayed(self) -> bool:
        """Return whether the run made no progress since its user was told that it waits."""
        return self._last_record is not None and isinstance(self._last_record.event, RunDelayed)

    def _track_events(self, records: list[EventRecord]) -> None:
        """Update what is known of the run from its events, stored or new."""
        for record in records:
            self._last_seq, self._last_record = record.seq, record
            self._calls_made.count_event(record.event, record.subtask)
            match record.event:
                case RunFinished():
                    self._end_event = record.event
                case CallStarted():
                    self._calls.append((record, record.event))
                case WeightsLearned():
                    self._has_waiting_lesson = record.event.deferred == "waiting"
                case InputNeeded():
                    self._asked_inputs.add(record.event.input)
                case _:
                    continue

    def _add_record(self, record: EventRecord) -> None:
        """Store an event soon; the last event of the run is stored together with the run's end."""
        record = add_end_reason(record, self._cancel_reason)
        self._unconfirmed.append(record)
        if isinstance(record.event, RunFinished):
            self._end_record = record  # stored by _finish in one transaction with the run's status
        else:
            self._journal.add(record)
        self._track_events([record])

    def _publish_stored(self, stored: Sequence[StoredEvent]) -> None:
        """Publish events that are in the database now."""
        self._broker.publish(self._run.id, stored)
        for _ in stored:
            self._notify_stored(self._run, self._unconfirmed.popleft())

    def _emit_question(self) -> None:
        """Emit the question that the run waits with, in the subtask whose call it is about."""
        if (question := self._question) is not None:
            call = (question.tool, question.arguments)
            subtasks = [record.subtask for record, event in self._calls if (event.tool, event.arguments) == call]
            self._emit(question, subtask=parse_subtask(question.input) or (subtasks[-1] if subtasks else 0))

    def _emit_end(self, outcome: RunOutcome, error: str = "") -> None:
        """Emit the end of a run that did not emit one itself."""
        if self._end_event is None and not self._release_reason:
            self._emit(RunFinished(outcome=outcome, answer="", usage=Usage(), error=error))

    def _emit(self, event: Event, subtask: int = 0) -> None:
        """Emit an event that does not come from the run itself."""
        record = EventRecord(
            run=self._run.id, seq=self._last_seq + 1, at=datetime.now(UTC), subtask=subtask, event=event
        )
        self._add_record(record)

    async def _finish(self) -> None:
        """Store the end of the run, with its last event in the same transaction."""
        self._emit_end(
            "cancelled" if self._cancelled else "failed", "" if self._cancelled else "internal: it broke off"
        )
        await self._journal.flush()
        end = self._end_event
        if end is None:
            return
        usage = end.usage.model_dump(mode="json")
        last = to_stored_event(self._end_record) if self._end_record else None
        ended = await self._storage.run_leases.finish(
            self._run.id,
            self._worker,
            end.outcome,
            usage,
            answer=end.answer,
            last_event=last,
            calls_by_tool=self._calls_made.by_tool,
            has_lesson=self._has_waiting_lesson,
        )
        if ended and self._has_waiting_lesson:
            _log.warning("a store was out of reach: what this run teaches is kept, and learnt when it is back")
        if ended and last:
            self._publish_stored([last])
