"""Sandbox for programs: pydantic-monty in separate processes, without files, network, clock or randomness.

A session that waits longer than ``PATIENCE`` for calls saves its state and releases its process for other programs.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from pydantic.types import JsonValue
from pydantic_monty import FunctionSnapshot, MontyError, MontySession, MontyTypingError

from agent.programs.builtin_functions import PRELUDE_SOURCE
from agent.programs.program_types import (
    CallFailure,
    CellStop,
    ItemChooser,
    LineWatcher,
    PendingCalls,
    ProgramError,
    SandboxLimits,
    SandboxSession,
)
from agent.programs.sandbox_cell import SandboxCell, to_program_error
from agent.programs.worker_pool import SandboxWorker, WorkerPool

PATIENCE = 1.0
"""Seconds that a waiting program keeps its worker; then its state is saved, to be restored in any other."""

_TOOL_ERROR = "ToolError = RuntimeError\n"
"""Definition of the error that a failed call raises: an alias, because the sandbox cannot derive classes."""


class ProgramSession:
    """Session in a worker, which is given back however it ends.

    See :class:`agent.programs.program_types.SandboxSession`.
    """

    def __init__(
        self,
        pool: WorkerPool,
        limits: SandboxLimits,
        patience: float = PATIENCE,
        watch_line: LineWatcher | None = None,
        choose_item: ItemChooser | None = None,
    ) -> None:
        self._pool, self._limits, self._patience = pool, limits, patience
        self._watch_line, self._choose_item = watch_line, choose_item
        self._worker: SandboxWorker | None = None
        self._cell: SandboxCell | None = None
        self._feed_count = self._call_count = 0
        self._suspended_state: bytes | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._suspend_task: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self, text: str, inputs: Mapping[str, JsonValue]) -> CellStop:
        """Run a cell to its first stop; ``inputs`` are values of its variables."""
        if self._cell is not None:
            await self._discard()  # the last cell still waits for a call: it is dropped with all names
        return await self._run_to_next_stop(lambda worker: self._start_cell(worker, text, inputs))

    async def resume(self, answers: Mapping[int, JsonValue | CallFailure]) -> CellStop:
        """Continue with the answers to some of the pending calls."""
        cell = self._cell
        if cell is None:
            raise RuntimeError("no program waits for an answer")
        return await self._run_to_next_stop(lambda _: cell.resume(answers))

    async def close(self) -> None:
        """End the session, even while a cell runs."""
        self._closed = True
        await self._discard()

    def _start_cell(self, worker: SandboxWorker, text: str, inputs: Mapping[str, JsonValue]) -> CellStop:
        """Start a cell in a worker; before the first cell, define the helpers."""
        if not self._feed_count:
            worker.session.feed_run(_TOOL_ERROR + PRELUDE_SOURCE)
            self._feed_count = 1
        cell = self._cell = SandboxCell(
            self._limits,
            self._feed_count,
            self._call_count,
            {},
            watch_line=self._watch_line,
            choose_item=self._choose_item,
        )
        self._feed_count += 1
        return cell.start(worker.session, text, inputs)

    async def _run_to_next_stop(self, work: Callable[[SandboxWorker], CellStop]) -> CellStop:
        """Do ``work`` in the session's worker to the next stop, then start the timer that suspends the session.

        If the worker fails, the stop is an error with ``lost`` set, and the session starts afresh.
        """
        try:
            worker = await self._acquire_worker()
            stop = await worker.run(lambda: work(worker))
        except MontyError as error:
            stop = replace(to_program_error(error, self._limits, ""), lost=True)
        except BaseException:
            await self._discard()
            raise
        if self._cell:
            self._call_count = self._cell.call_count
        if not isinstance(stop, PendingCalls):
            self._cell = None
        if isinstance(stop, ProgramError) and stop.lost:
            await self._discard()
        else:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._start_suspending)
        return stop

    async def _acquire_worker(self) -> SandboxWorker:
        """Return a worker with the session's names: its own, or another one in which its state is restored."""
        if self._closed:
            raise RuntimeError("this session is closed")
        if self._timer:
            self._timer.cancel()
        if self._suspend_task:
            # A cancelled caller must not interrupt the saving: the state would be lost.
            await asyncio.shield(self._suspend_task)
        if self._worker is None:
            worker = self._worker = await self._pool.acquire_worker()
            if self._suspended_state is not None:
                await self._restore_state(worker, self._suspended_state)
        return self._worker

    async def _restore_state(self, worker: SandboxWorker, state: bytes) -> None:
        """Load the saved state into a worker."""
        cell = self._cell
        if cell is None:
            await worker.run(lambda: worker.session.load_session(state))
        else:
            await worker.run(lambda: cell.load(worker.session, state))
        self._suspended_state = None

    def _start_suspending(self) -> None:
        """Start to save the state and give the worker back; called by the timer."""
        self._suspend_task = asyncio.get_running_loop().create_task(self._suspend())

    async def _suspend(self) -> None:
        """Save the state and give the worker back."""
        worker, cell = self._worker, self._cell
        if worker is None:
            return
        self._suspended_state = await worker.run(cell.dump if cell else worker.session.dump)
        self._worker = None
        await worker.give_back()

    async def _discard(self) -> None:
        """Give the worker back and forget all names."""
        if self._timer:
            self._timer.cancel()
        if self._suspend_task and not self._suspend_task.done():
            self._suspend_task.cancel()
            await asyncio.wait([self._suspend_task])
        self._suspend_task = self._suspended_state = self._cell = None
        self._feed_count = self._call_count = 0
        worker, self._worker = self._worker, None
        if worker:
            await worker.give_back()


_UNDEFINED_NAME = "_not_run_"
"""Undefined name that is put before a text to type-check, so that the check fails and the text is never run."""
_MAX_STUB_REQUESTS = 50
"""Bound of the requests for declarations that one type check may make."""


class MontySandbox:
    """Implements :class:`agent.programs.program_types.Sandbox`.

    Create one per process. Workers start on first use.
    """

    def __init__(self, limits: SandboxLimits | None = None, patience: float = PATIENCE) -> None:
        self._limits, self._patience = limits or SandboxLimits(), patience
        self._pool = WorkerPool(self._limits)

    @asynccontextmanager
    async def open_session(
        self, watch_line: LineWatcher | None = None, choose_item: ItemChooser | None = None
    ) -> AsyncGenerator[SandboxSession]:
        """Open a fresh session, which ends with the block."""
        session = ProgramSession(self._pool, self._limits, self._patience, watch_line, choose_item)
        try:
            yield session
        finally:
            await session.close()

    async def find_type_errors(self, text: str, stubs: str) -> tuple[str, ...]:
        """Type-check a text without running it; return findings as ``LINE:COLUMN: SEVERITY[RULE] message``."""
        worker = await self._pool.acquire_worker(stubs)
        try:
            return _select_in_text(await worker.run(lambda: _collect_diagnostics(worker.session, text)))
        finally:
            await worker.give_back()

    async def close(self) -> None:
        """End all workers."""
        await asyncio.to_thread(self._pool.close)


def _collect_diagnostics(session: MontySession, text: str) -> str:
    """Type-check a text in a worker, and return the diagnostics."""
    try:
        snapshot = session.feed_start(f"{_UNDEFINED_NAME}\n{text}", inputs={})
        # Before the check, the sandbox asks for the declarations of modules that it does not have.
        for _ in range(_MAX_STUB_REQUESTS):
            if not (isinstance(snapshot, FunctionSnapshot) and snapshot.is_os_function):
                break
            snapshot = snapshot.resume_not_handled()
    except MontyTypingError as error:
        return error.display()
    except MontyError:
        return ""  # it does not parse or the worker died: other checks, or the run, report that
    return ""


def _select_in_text(diagnostics: str) -> tuple[str, ...]:
    """Return the diagnostics of the text itself, with its own line numbers."""
    own_diagnostics: list[str] = []
    for line in diagnostics.splitlines():
        file, _, rest = line.partition(":")
        line_number, _, message = rest.partition(":")
        # Line 1 is the undefined name before the text.
        if file.endswith(".py") and line_number.isdigit() and int(line_number) > 1:
            own_diagnostics.append(f"{int(line_number) - 1}:{message}")
    return tuple(own_diagnostics)
