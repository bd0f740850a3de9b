"""Takes queued jobs by lease, makes them, tells how far they are, and sees that each ends: here, or with the server that takes it up next."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from domain.errors import FootpathError, NotFoundError
from domain.model import JsonObject
from server.jobs.kinds import JobInHand, JobKind, by_name
from server.storage.accounts import User
from server.storage.jobs import Job, JobEndState, NewJob
from server.storage.storage import Storage

_log = logging.getLogger(__name__)
_CANCELLED = "it was cancelled; what it had done until then stays"
_FAULT = "it stopped by a fault of this server; its log says which"


@dataclass(slots=True)
class _Making:
    """``asked``: ``cancel`` or ``stop``, why it is ended early; ``over``: it has ended, and only its row does not say so yet."""

    hand: JobInHand
    task: asyncio.Task[None] | None = None
    asked: str = ""
    over: bool = False

    def end(self, why: str) -> None:
        if not self.asked and not self.over and self.task is not None:
            self.asked = why
            self.task.cancel()


class JobRunner:
    """One process's, which is called ``worker``, in the home called ``home``. Made by :func:`making_jobs` only."""

    def __init__(
        self, storage: Storage, kinds: Sequence[JobKind], worker: str, home: str, lease: float, poll: float
    ) -> None:
        self._storage = storage
        self._kinds = by_name(kinds)
        self._worker = worker
        self.home = home
        self._lease = timedelta(seconds=lease)
        self._poll = poll
        self._made: dict[str, _Making] = {}
        self._news = asyncio.Event()
        self._stopping = False

    async def add(self, kind: str, by: User, wanted: JsonObject | None = None, *, here: bool = False) -> Job:
        """Queue one. ``here``: it needs files of this home. Raises ``ConflictError`` where another has the same slot."""
        known = self._kinds.get(kind)
        if known is None:
            raise NotFoundError(f"this server makes no jobs called {kind}")
        home = self.home if here else ""
        job = await self._storage.jobs.add(NewJob(kind=kind, slot=known.slot, home=home, wanted=wanted or {}), by)
        self._news.set()
        return job

    async def check_free(self, kind: str) -> None:
        """Raises ``ConflictError`` where another job has its slot, so that what it needs is not made in vain."""
        await self._storage.jobs.check_free(self._kinds[kind].slot)

    async def cancel(self, job_id: str) -> Job:
        """End it. Raises ``NotFoundError``."""
        job = await self._storage.jobs.cancel(job_id)
        self._news.set()
        known = self._kinds.get(job.kind)
        if job.state == "cancelled" and known is not None and known.ended is not None:
            await known.ended(job)
        return job

    async def work(self) -> None:
        """Until told to stop. A database that is out of reach for a while ends nothing."""
        while not self._stopping:
            self._news.clear()
            try:
                await self._tell()
                await self._renew()
                for job in await self._storage.job_leases.claim(self._worker, self.home, [*self._kinds], self._lease):
                    if job.id not in self._made:  # it may be one of its own, not renewed in time
                        self._begin(job)
            except FootpathError as error:
                _log.warning("jobs could not be looked for: %s", error)
            except Exception:  # noqa: BLE001  # a defect of ours must not leave all jobs lying
                _log.exception("jobs could not be looked for")
            try:
                async with asyncio.timeout(self._poll):
                    await self._news.wait()
            except TimeoutError:
                continue

    def stop(self) -> None:
        """Take no more."""
        self._stopping = True
        self._news.set()

    async def put_down(self) -> None:
        """Let go of all: they are queued as they stand, and begun again by who comes next."""
        made = list(self._made.values())
        for making in made:
            making.end("stop")
        await asyncio.gather(*(making.task for making in made if making.task is not None), return_exceptions=True)

    def _begin(self, job: Job) -> None:
        making = self._made[job.id] = _Making(JobInHand(job))
        making.task = asyncio.create_task(self._make(making))
        making.task.add_done_callback(lambda _: self._made.pop(job.id, None))

    async def _make(self, making: _Making) -> None:
        hand, job = making.hand, making.hand.job
        kind = self._kinds[job.kind]
        state: JobEndState = "failed"
        result, trouble = None, _FAULT
        try:
            if job.cancel_at is not None:
                state, trouble = "cancelled", _CANCELLED
            elif job.tries > kind.tries:
                trouble = f"the server was stopped {kind.tries} times while it was made; its log may say why"
            else:
                if job.tries > 1:
                    hand.say("The server was stopped meanwhile: it was taken up again.")
                result = await kind.make(hand)
                state, trouble = "done", ""
        except asyncio.CancelledError:
            if making.asked != "cancel":
                await self._let_go(job)
                return
            state, trouble = "cancelled", _CANCELLED
        except FootpathError as error:
            trouble = str(error)
        except Exception:  # noqa: BLE001  # told in the row; a defect of ours must not leave it as being made
            _log.exception("the job %s (%s) failed", job.id, job.kind)
        making.over = True
        if await self._finished(hand, state, result, trouble) and kind.ended is not None:
            await kind.ended(job.model_copy(update={"state": state, "result": result}))

    async def _let_go(self, job: Job) -> None:
        try:
            await self._storage.job_leases.release(job.id, self._worker)
        except FootpathError as error:
            _log.warning("job %s is taken up when its lease has ended: %s", job.id, error)

    async def _finished(self, hand: JobInHand, state: JobEndState, result: JsonObject | None, trouble: str) -> bool:
        """Its end is told again and again where the rows are out of reach. Whether it was ours to end."""
        job_id, held = hand.job.id, self._storage.job_leases
        while True:
            try:
                await self._tell_one(hand)
                return await held.finish(job_id, self._worker, state, result=result, trouble=trouble[:2000])
            except FootpathError as error:
                _log.warning("the end of job %s could not be stored: %s", job_id, error)
            if self._stopping:
                return False
            await asyncio.sleep(self._poll)

    async def _tell(self) -> None:
        for making in list(self._made.values()):
            await self._tell_one(making.hand)

    async def _tell_one(self, hand: JobInHand) -> None:
        if hand.news:
            hand.news = False
            await self._storage.job_leases.update_progress(
                hand.job.id, self._worker, hand.what, hand.done, hand.total, list(hand.lines)
            )

    async def _renew(self) -> None:
        """Go on holding what is made; let go of what another has, and end what is to be ended."""
        if not self._made:
            return
        held = await self._storage.job_leases.renew(self._worker, self._lease)
        for job_id, making in list(self._made.items()):
            if job_id not in held:
                making.end("stop")
            elif held[job_id]:
                making.end("cancel")


@asynccontextmanager
async def making_jobs(
    storage: Storage, kinds: Sequence[JobKind], worker: str, home: str, lease: float = 15.0, poll: float = 1.0
) -> AsyncGenerator[JobRunner]:
    """At work until the end; what is under way then is put down."""
    runner = JobRunner(storage, kinds, worker, home, lease, poll)
    task = asyncio.create_task(runner.work())
    try:
        yield runner
    finally:
        runner.stop()
        await asyncio.gather(task, return_exceptions=True)
        await runner.put_down()
