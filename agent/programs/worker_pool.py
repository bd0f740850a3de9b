"""Pool of processes in which programs run: started on demand, limited in number, each used by one session at a time.

The client of a worker blocks, so it is used in a thread. When a caller is cancelled, it kills the worker first, so that
neither the thread nor the process outlives it.
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

from agent.programs.program_types import SandboxLimits
from domain.errors import UnavailableError

T = TypeVar("T")

_GRACE_SECONDS = 5.0
"""Seconds beyond its own time limit after which an unresponsive worker is killed."""
_MAX_RECURSION = 200
"""Maximum depth of recursion in a program."""
_STOPS_PER_CALL = 8
"""Stops per allowed call: a program stops to make a call, to wait for it, and to look up a missing name."""

_POLICY: OSPolicy = {
    "datetime": dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    "timezone": "utc",
    "sleep": "zero",
    "process_time": "zero",
    "random_start": {"seed": 0},
}
"""Deterministic system calls: a fixed clock, no sleeping, the same random numbers in every run."""


class SandboxWorker:
    """A process of the pool while one session uses it."""

    def __init__(self, pool: "WorkerPool", session: MontySession) -> None:
        self._pool, self._pid = pool, session.worker_pid
        self.session = session
        self._lock = Lock()
        self._busy = self._ended = False
        self._is_given_back = False

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread and return its result.

        If the caller is cancelled, the process is killed, and the thread has ended before this method returns.
        """
        return await self._pool.run_in_thread(lambda: self._run_busy(work), self.kill)

    def kill(self) -> None:
        """Kill the process if it is working; a caller that waits for it gets a crash error."""
        with self._lock:
            self._ended = True
            # An idle process is kept: nobody waits for it, and another session can use it.
            if self._busy and self._pid:
                os.kill(self._pid, signal.SIGKILL)

    async def give_back(self) -> None:
        """Return the process to the pool and drop its session; repeated calls have no effect."""
        if self._is_given_back:
            return
        self._is_given_back = True
        self.kill()
        try:
            await self._pool.run_in_thread(self._close_session, lambda: None)
        finally:
            self._pool.release()

    def _run_busy(self, work: Callable[[], T]) -> T:
        """Run ``work`` while the worker is marked as busy, so that :meth:`kill` kills the process."""
        with self._lock:
            if self._ended:
                raise UnavailableError("the program was ended")
            self._busy = True
        try:
            return work()
        finally:
            with self._lock:
                self._busy = False

    def _close_session(self) -> None:
        """Close the session, which frees the process."""
        self.session.__exit__(None, None, None)


@dataclass(frozen=True, slots=True)
class _StartedPool:
    """Processes and threads of a pool."""

    processes: Monty
    threads: ThreadPoolExecutor
    stop_processes: Callable[[], object]
    """Ends the processes; called at the latest when the interpreter exits."""


class WorkerPool:
    """All workers of this process; bound to the event loop in which it is first awaited."""

    def __init__(self, limits: SandboxLimits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.workers)
        self._started: _StartedPool | None = None
        self._start_lock = Lock()

    async def acquire_worker(self, stubs: str | None = None) -> SandboxWorker:
        """Return a fresh worker as soon as one is free.

        ``stubs``: declarations with which it type-checks a text before it runs it; None for no check.
        """
        await self._free.acquire()
        opened: list[MontySession] = []
        try:
            await self.run_in_thread(lambda: opened.append(self._open_session(stubs)), lambda: None)
            return SandboxWorker(self, opened[0])
        except BaseException:
            for session in opened:
                session.__exit__(None, None, None)
            self._free.release()
            raise

    def release(self) -> None:
        """Count one worker as free again."""
        self._free.release()

    async def run_in_thread(self, work: Callable[[], T], on_cancel: Callable[[], None]) -> T:
        """Run ``work`` in a thread.

        On cancellation, call ``on_cancel``, which must make it end soon, and wait for that.
        """
        future: Future[T] = self._get_started().threads.submit(work)
        result = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(result)
        except asyncio.CancelledError:
            on_cancel()
            while not result.done():
                try:
                    await asyncio.wait([result])
                except asyncio.CancelledError:
                    continue
            # Retrieve the exception; asyncio would log it otherwise.
            result.exception()
            raise

    def close(self) -> None:
        """End all processes and threads; a later program starts them again."""
        with self._start_lock:
            started, self._started = self._started, None
        if started:
            started.threads.shutdown(wait=True, cancel_futures=True)
            started.stop_processes()

    def _get_started(self) -> "_StartedPool":
        """Return the processes and threads, started on first use."""
        with self._start_lock:
            if self._started is None:
                self._started = self._start()
            return self._started

    def _start(self) -> "_StartedPool":
        """Start the processes and threads."""
        pool = Monty(
            min_processes=1,
            max_processes=self._limits.workers,
            checkout_timeout=self._limits.seconds + 2 * _GRACE_SECONDS,
            request_timeout=self._limits.seconds + _GRACE_SECONDS,
        )
        try:
            pool.__enter__()
        except (MontyError, OSError, RuntimeError) as error:
            raise UnavailableError(
                f"programs cannot run here: {error}. Install the package anew, or choose another planner"
            ) from error
        stop_processes = weakref.finalize(
            self, pool.__exit__, None, None, None
        )  # at the latest when the interpreter ends
        return _StartedPool(
            pool, ThreadPoolExecutor(self._limits.workers, thread_name_prefix="programs"), stop_processes
        )

    def _open_session(self, stubs: str | None) -> MontySession:
        """Open a session in a free process."""
        session = self._get_started().processes.checkout(
            limits=self._build_limits(),
            os_policy=_POLICY,
            type_check=stubs is not None,
            type_check_stubs=stubs,
            type_check_format="concise",
        )
        session.__enter__()
        return session

    def _build_limits(self) -> ResourceLimits:
        """Return the limits in the form that the sandbox accepts."""
        return {
            "max_feed_duration_secs": self._limits.seconds,
            "max_memory": self._limits.memory,
            "max_recursion_depth": _MAX_RECURSION,
            "max_suspensions": _STOPS_PER_CALL * self._limits.calls,
            "max_total_sleep_secs": 0.0,
        }
