"""Session over several cells that holds a worker only while there is something to do."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic.types import JsonValue
from pydantic_monty import MontyError

from agent.programs.breaks import broken
from agent.programs.limits import SandboxLimits
from agent.programs.prelude import TEXT
from agent.programs.protocol import Broken, Failure, Named, Stop, Waiting, Watch
from agent.programs.stops import Cell
from agent.programs.workers import Worker, WorkerPool

PATIENCE = 1.0
"""Seconds that a waiting program may keep its worker; then its state is saved, to be restored in another."""


_TOOL_ERROR = "ToolError = RuntimeError\n"
"""Error that a failed call raises; the sandbox has no inheritance, so it is an alias of an error that it has."""


class ProgramSession:
    """Implements ``protocol.Session``. However it ends, it leaves no worker and no thread behind."""

    def __init__(
        self,
        pool: WorkerPool,
        limits: SandboxLimits,
        patience: float = PATIENCE,
        watch: Watch | None = None,
        named: Named | None = None,
    ) -> None:
        self._pool, self._limits, self._patience = pool, limits, patience
        self._watch, self._named = watch, named
        self._worker: Worker | None = None
        self._cell: Cell | None = None
        self._fed = self._made = 0
        self._put_down: bytes | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._putting_down: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self, text: str, inputs: Mapping[str, JsonValue]) -> Stop:
        """Run a cell to its first stop.

        ``inputs``: names that hold values.
        """
        if self._cell is not None:
            await self._forget()  # a cell that still waits is not gone on with, nor are its names
        return await self._turn(lambda worker: self._begin(worker, text, inputs))

    async def resume(self, answers: Mapping[int, JsonValue | Failure]) -> Stop:
        """Continue with the answers to some of the pending calls."""
        cell = self._cell
        if cell is None:
            raise RuntimeError("no program waits for an answer")
        return await self._turn(lambda _: cell.resume(answers))

    async def close(self) -> None:
        """End the session, whatever it is doing."""
        self._closed = True
        await self._forget()

    def _begin(self, worker: Worker, text: str, inputs: Mapping[str, JsonValue]) -> Stop:
        """Start a cell in a worker, after the helpers if it is the first."""
        if not self._fed:
            worker.session.feed_run(_TOOL_ERROR + TEXT)
            self._fed = 1
        cell = self._cell = Cell(self._limits, self._fed, self._made, {}, watch=self._watch, named=self._named)
        self._fed += 1
        return cell.start(worker.session, text, inputs)

    async def _turn(self, work: Callable[[Worker], Stop]) -> Stop:
        """Work to the next stop; an error of the worker costs the session its names, and nothing else."""
        try:
            worker = await self._at_work()
            stop = await worker.do(lambda: work(worker))
        except MontyError as error:
            stop = replace(broken(error, self._limits, ""), lost=True)
        except BaseException:
            await self._forget()
            raise
        if self._cell:
            self._made = self._cell.made
        if not isinstance(stop, Waiting):
            self._cell = None
        if isinstance(stop, Broken) and stop.lost:
            await self._forget()
        else:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._begin_to_put_down)
        return stop

    async def _at_work(self) -> Worker:
        """Return the worker with the session's names: the one that it has, or another with its state restored."""
        if self._closed:
            raise RuntimeError("this session is closed")
        if self._timer:
            self._timer.cancel()
        if self._putting_down:
            # Cancelling the caller must not stop the saving half-way: the state would be lost.
            await asyncio.shield(self._putting_down)
        if self._worker is None:
            worker = self._worker = await self._pool.worker()
            if self._put_down is not None:
                await self._take_up(worker, self._put_down)
        return self._worker

    async def _take_up(self, worker: Worker, state: bytes) -> None:
        """Load the saved state into a worker."""
        cell = self._cell
        if cell is None:
            await worker.do(lambda: worker.session.load_session(state))
        else:
            await worker.do(lambda: cell.load(worker.session, state))
        self._put_down = None

    def _begin_to_put_down(self) -> None:
        """Start to save the state and release the worker, when the patience is over."""
        self._putting_down = asyncio.get_running_loop().create_task(self._leave_worker())

    async def _leave_worker(self) -> None:
        """Save the state and give the worker back."""
        worker, cell = self._worker, self._cell
        if worker is None:
            return
        self._put_down = await worker.do(cell.dump if cell else worker.session.dump)
        self._worker = None
        await worker.give_back()

    async def _forget(self) -> None:
        """Give the worker back, and drop all names."""
        if self._timer:
            self._timer.cancel()
        if self._putting_down and not self._putting_down.done():
            self._putting_down.cancel()
            await asyncio.wait([self._putting_down])
        self._putting_down = self._put_down = self._cell = None
        self._fed = self._made = 0
        worker, self._worker = self._worker, None
        if worker:
            await worker.give_back()
