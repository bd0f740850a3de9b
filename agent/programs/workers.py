"""The processes that programs run in: started when the first is wanted, at most so many at a time, each lent to one session.

A worker is spoken to in a thread, since its client blocks. Whoever stops waiting for an answer ends the worker first, so that neither the
thread nor the process outlives its caller.
"""

import asyncio
import datetime as dt
import os
import signal
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from pydantic_monty import Monty, MontyError, MontySession, OSPolicy, ResourceLimits

from agent.programs.limits import SandboxLimits
from domain.errors import UnavailableError

T = TypeVar("T")

_GRACE = 5.0
"""Seconds past its own limit after which a worker that says nothing is ended."""
_DEEPEST_CALL = 200
_STOPS_PER_CALL = 8
"""How often a program may stop for each call that it may make: to make it, to wait for it, to ask for a name that is not there."""

_POLICY: OSPolicy = {
    "datetime": dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    "timezone": "utc",
    "sleep": "zero",
    "process_time": "zero",
    "random_start": {"seed": 0},
}
"""A program sees no clock but the date that it is given, waits for nothing but its calls, and draws the same numbers each time."""


class Worker:
    """A process that is lent to a session until it is given back."""

    def __init__(self, pool: "WorkerPool", session: MontySession) -> None:
        self._pool, self._pid = pool, session.worker_pid
        self.session = session
        self._lock = Lock()
        self._busy = self._ended = False
        self._given_back = False

    async def do(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, done in a thread. Cancelled: the process is ended, and the thread with it, before this returns."""
        return await self._pool.in_thread(lambda: self._occupied(work), self.end)

    def end(self) -> None:
        """Kill the process where it is at work; whoever waits for it is told that it crashed."""
        with self._lock:
            self._ended = True
            if self._busy and self._pid:
                os.kill(self._pid, signal.SIGKILL)

    async def give_back(self) -> None:
        """Leave the process to others, without what was in it. Twice is once."""
        if self._given_back:
            return
        self._given_back = True
        self.end()
        try:
            await self._pool.in_thread(self._leave, lambda: None)
        finally:
            self._pool.freed()

    def _occupied(self, work: Callable[[], T]) -> T:
        with self._lock:
            if self._ended:
                raise UnavailableError("the program was ended")
            self._busy = True
        try:
            return work()
        finally:
            with self._lock:
                self._busy = False

    def _leave(self) -> None:
        self.session.__exit__(None, None, None)


@dataclass(frozen=True, slots=True)
class _Started:
    processes: Monty
    threads: ThreadPoolExecutor
    end: Callable[[], object]


class WorkerPool:
    """All workers of a process. It belongs to the event loop that it is first waited for in."""

    def __init__(self, limits: SandboxLimits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.workers)
        self._started: _Started | None = None
        self._starting = Lock()

    async def worker(self, stubs: str | None = None) -> Worker:
        """A fresh worker, as soon as one is free. ``stubs``: it checks types over these declarations before it runs anything."""
        await self._free.acquire()
        opened: list[MontySession] = []
        try:
            await self.in_thread(lambda: opened.append(self._open(stubs)), lambda: None)
            return Worker(self, opened[0])
        except BaseException:
            for session in opened:
                session.__exit__(None, None, None)
            self._free.release()
            raise

    def freed(self) -> None:
        """One more worker may be lent."""
        self._free.release()

    async def in_thread(self, work: Callable[[], T], end: Callable[[], None]) -> T:
        """``work``, done in a thread. Cancelled: ``end`` makes it end soon, and that is waited for."""
        future: Future[T] = self._pool().threads.submit(work)
        waited = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(waited)
        except asyncio.CancelledError:
            end()
            while not waited.done():
                try:
                    await asyncio.wait([waited])
                except asyncio.CancelledError:
                    continue
            waited.exception()
            raise

    def close(self) -> None:
        """End all processes and threads; a later program starts them anew."""
        with self._starting:
            started, self._started = self._started, None
        if started:
            started.threads.shutdown(wait=True, cancel_futures=True)
            started.end()

    def _pool(self) -> "_Started":
        with self._starting:
            if self._started is None:
                self._started = self._start()
            return self._started

    def _start(self) -> "_Started":
        pool = Monty(
            min_processes=1,
            max_processes=self._limits.workers,
            checkout_timeout=self._limits.seconds + 2 * _GRACE,
            request_timeout=self._limits.seconds + _GRACE,
        )
        try:
            pool.__enter__()
        except (MontyError, OSError, RuntimeError) as error:
            raise UnavailableError(
                f"programs cannot run here: {error}. Install the package anew, or choose another planner"
            ) from error
        end = weakref.finalize(self, pool.__exit__, None, None, None)  # at the latest when the interpreter ends
        return _Started(pool, ThreadPoolExecutor(self._limits.workers, thread_name_prefix="programs"), end)

    def _open(self, stubs: str | None) -> MontySession:
        session = self._pool().processes.checkout(
            limits=self._sandbox_limits(),
            os_policy=_POLICY,
            type_check=stubs is not None,
            type_check_stubs=stubs,
            type_check_format="concise",
        )
        session.__enter__()
        return session

    def _sandbox_limits(self) -> ResourceLimits:
        return {
            "max_feed_duration_secs": self._limits.seconds,
            "max_memory": self._limits.memory,
            "max_recursion_depth": _DEEPEST_CALL,
            "max_suspensions": _STOPS_PER_CALL * self._limits.calls,
            "max_total_sleep_secs": 0.0,
        }
