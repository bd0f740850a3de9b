"""Worker of a server process: claims queued runs by lease, executes them, and releases them when it stops."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

from domain.errors import FootpathError, UnavailableError
from server.runs.event_journal import EventBatcher
from server.runs.event_stream import EventBroker
from server.runs.run_control import RunStarter
from server.runs.run_execution import OnStored, RunExecution, ignore_event
from server.runs.store_outage import RetryWait, StoreOutage, check_nothing
from server.storage.runs import Run
from server.storage.storage import Storage

_log = logging.getLogger(__name__)


def count_zero() -> int:
    """Return 0: no run is counted as being planned, because planning takes no turns in this process."""
    return 0


@dataclass(frozen=True, slots=True)
class WorkerParameters:
    """Limits and intervals of one worker, in seconds where not said otherwise."""

    max_running: int = 4
    """Runs executed at a time, not counting those that are being planned."""
    lease: float = 15.0
    """After this time without a renewal, another worker may claim the run."""
    poll: float = 1.0
    """Longest pause between two queries of the queue."""
    retry_wait: RetryWait = field(default_factory=RetryWait)
    """How runs are retried while a store is out of reach."""
    patience: float = 5.0
    """How long a run stays queued before its user is told that this process cannot execute it.

    Another process may be able to claim it meanwhile.
    """

    @property
    def per_user(self) -> int:
        """Return how many places the runs of one user may take.

        A quarter of the places, at least one, stays free for other users; a single place is shared by all.
        """
        return max(1, self.max_running - max(1, self.max_running // 4))

    @property
    def max_in_hand(self) -> int:
        """Return the largest number of runs to hold, including those being planned, since each takes memory."""
        return _RUNS_PER_PLACE * self.max_running

    def compute_room(self, in_hand: int, planned: int) -> tuple[int, int]:
        """Return how many runs may be claimed, and how many runs of one user the worker may hold then.

        Runs are planned one at a time, so a run that is being planned takes no place. Only users without a run here may
        have one claimed in its stead, so that one user's long plans do not take everybody else's places.
        """
        planned = min(planned, in_hand)
        free = min(self.max_running - (in_hand - planned), self.max_in_hand - in_hand)
        places = self.max_running - in_hand
        return (min(free, places), self.per_user) if places > 0 else (free, 1)


_RUNS_PER_PLACE = 8
"""Runs that a worker may hold for each of its places."""
_MAX_EXAMINED = 1000
"""Largest number of queued runs that are examined to report delays to their users."""


class RunWorker:
    """Worker of one process. Created by :func:`run_worker` only."""

    def __init__(
        self,
        storage: Storage,
        start_run: RunStarter,
        broker: EventBroker,
        parameters: WorkerParameters,
        on_stored: OnStored = ignore_event,
        check_stores: Callable[[], Awaitable[None]] = check_nothing,
        count_planned: Callable[[], int] = count_zero,
    ) -> None:
        self.name = uuid4().hex
        self._storage = storage
        self._start_run = start_run
        self._broker = broker
        self._parameters = parameters
        self._on_stored = on_stored
        self._count_planned = count_planned
        self._events = EventBatcher(storage.events)
        self._executions: dict[str, RunExecution] = {}
        self._wake_event = asyncio.Event()
        self._may_be_due = False
        self._stopping = False
        self._barred_until = 0.0
        self._outage = StoreOutage(check_stores, parameters.retry_wait, self.wake)
        self._waiting_since: dict[str, float] = {}
        self._reported = set[str]()

    @property
    def in_hand(self) -> int:
        """Return the number of runs that this worker holds."""
        return len(self._executions)

    def wake(self) -> None:
        """Wake the worker: a run was queued, or is to be ended."""
        self._may_be_due = True
        self._wake_event.set()

    async def run(self) -> None:
        """Claim and execute runs until :meth:`stop`. A database that is out of reach for a while ends nothing."""
        clock = asyncio.get_running_loop().time
        renewed = clock()
        while not self._stopping:
            self._wake_event.clear()  # before the queries: news that arrive during them must not be lost
            try:
                if clock() - renewed >= self._parameters.lease / 3:
                    await self._renew_leases()
                    renewed = clock()
                await self._end_cancelled()
                await self._claim_runs()
            except FootpathError as error:
                _log.warning("the worker could not look for runs: %s", error)
            except Exception:  # noqa: BLE001  # a defect of ours must not leave all runs lying
                _log.exception("the worker could not look for runs")
            try:
                async with asyncio.timeout(self._parameters.poll):
                    await self._wake_event.wait()
            except TimeoutError:
                continue

    async def _claim_runs(self) -> None:
        """Claim runs that are due, as far as there is room, and start to execute them."""
        free, per_user = self._parameters.compute_room(len(self._executions), self._count_planned())
        if free <= 0 or asyncio.get_running_loop().time() < self._barred_until:
            return
        due, self._may_be_due = self._may_be_due, False  # before the queries, for the same reason as in run()
        if not self._outage.is_ongoing:
            if not due and not await self._storage.run_leases.has_due():
                return  # no need to check the stores, or to take the database's write lock
            await self._outage.check()
        await self._report_delays(self._outage.reason, free)
        ending = self._outage.is_ongoing
        for run in await self._storage.run_leases.claim(
            self.name, self._lease, free, per_user=per_user, ending_only=ending
        ):
            if run.id not in self._executions:  # it may be this worker's own run, not renewed in time
                self._start_execution(run)

    async def _report_delays(self, reason: UnavailableError | None, limit: int) -> None:
        """Report ``reason`` to the users of at most ``limit`` runs that nobody has claimed for ``patience`` seconds.

        None: runs can be executed, so the waiting times start anew.
        """
        if reason is None:
            self._waiting_since.clear()
            self._reported.clear()
            return
        now = asyncio.get_running_loop().time()
        unclaimed = await self._storage.run_leases.list_due(_MAX_EXAMINED)
        self._waiting_since = {run: self._waiting_since.get(run, now) for run in unclaimed if run not in self._reported}
        late = [run for run, since in self._waiting_since.items() if now - since >= self._parameters.patience]
        if not late:
            return
        for run in await self._storage.run_leases.claim(self.name, self._lease, limit, run_ids=late):
            self._reported.add(run.id)
            if run.id not in self._executions:
                self._start_execution(run, reason)

    def _start_execution(self, run: Run, delayed_by: UnavailableError | None = None) -> None:
        execution = RunExecution(
            run,
            self.name,
            self._storage,
            self._start_run,
            self._broker,
            self._events,
            self._on_stored,
            self._parameters.retry_wait,
            delayed_by,
        )
        self._executions[run.id] = execution
        execution.task.add_done_callback(lambda _: self._remove_execution(run.id, execution))

    def _remove_execution(self, run_id: str, execution: RunExecution) -> None:
        """Remove an execution that has ended, and begin an outage or a pause if that is why it ended early.

        A barred process claims no runs for the time of one lease, so that another process gets them at once.
        """
        self._executions.pop(run_id, None)
        if execution.out_of_reach is not None and not self._stopping:
            self._outage.begin(execution.out_of_reach)
        if execution.is_barred:
            self._barred_until = asyncio.get_running_loop().time() + self._parameters.lease
        self._wake_event.set()

    async def _renew_leases(self) -> None:
        """Renew the leases of this worker, and reconcile them with the runs in hand.

        Runs that another worker has claimed are dropped. Runs that are leased but no longer executed, because their
        events could not be stored, are queued again.
        """
        held = await self._storage.run_leases.renew(self.name, self._lease)
        for run_id in set(self._executions) - held:
            self._executions[run_id].mark_lost()
        for run_id in held - set(self._executions):
            await self._storage.run_leases.release(run_id, self.name, "queued")

    async def _end_cancelled(self) -> None:
        """End the runs in hand whose end was requested."""
        if self._executions:
            for run_id, why in (await self._storage.run_leases.list_cancelled(self.name)).items():
                if run_id in self._executions:
                    self._executions[run_id].cancel(why)

    def stop(self) -> None:
        """Claim no more runs.

        Queries that are under way run to their end: cancelling one costs a database connection.
        """
        self._stopping = True
        self.wake()

    async def release_runs(self) -> None:
        """Release all runs to the queue, and wait until that is stored."""
        await self._outage.close()
        executions = list(self._executions.values())
        for execution in executions:
            execution.release_to_queue()
        await asyncio.gather(*(execution.task for execution in executions), return_exceptions=True)

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self._parameters.lease)


@asynccontextmanager
async def run_worker(
    storage: Storage,
    start_run: RunStarter,
    broker: EventBroker,
    parameters: WorkerParameters,
    on_stored: OnStored = ignore_event,
    check_stores: Callable[[], Awaitable[None]] = check_nothing,
    count_planned: Callable[[], int] = count_zero,
) -> AsyncGenerator[RunWorker]:
    """Run a worker for the time of the block; at the end it releases its runs.

    ``on_stored`` is called with each stored event and must not raise. ``check_stores`` raises ``UnavailableError`` while this
    process cannot execute runs; it is called before any run is claimed. ``count_planned`` returns how many runs of this
    process are being planned or wait for their turn.
    """
    worker = RunWorker(storage, start_run, broker, parameters, on_stored, check_stores, count_planned)
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.gather(task, return_exceptions=True)
        await worker.release_runs()
