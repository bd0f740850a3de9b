"""Counting in several processes: the same function on the same blocks, so the same result."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from multiprocessing import get_context

from domain.errors import UnavailableError
from graph.blocks import Block, Counted, LineBlock, count_block
from graph.function_names import NameIndex
from graph.ingest import Count, count_here

WORTHWHILE_FILES = 2_000
"""Fewer search trees are counted sooner than other processes have started (about half a second)."""

_names = NameIndex()
"""Of this process, where it is a worker."""


@asynccontextmanager
async def counting_processes(names: NameIndex, workers: int) -> AsyncGenerator[Count]:
    """A ``Count`` that sends search trees to ``workers`` processes. Lines are cheaper to count than to send."""
    # Making a pool, and starting a process and handing it the names, take a moment, which belongs in a thread.
    pool = await asyncio.to_thread(
        ProcessPoolExecutor, workers, mp_context=get_context("spawn"), initializer=_start, initargs=(names,)
    )

    async def count(block: Block, _: NameIndex, applied: frozenset[str]) -> Counted:
        if isinstance(block, LineBlock):
            return await count_here(block, names, applied)
        try:
            future = await asyncio.to_thread(_submit, pool, block, applied)
            return await asyncio.wrap_future(future)
        except BrokenProcessPool as error:
            raise UnavailableError(
                "a counting process was killed, perhaps for want of memory; run it again with --workers 1"
            ) from error

    try:
        yield count
    finally:
        await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, block: Block, applied: frozenset[str]) -> Future[Counted]:
    """The first call starts the processes. They inherit this thread's mask, so Ctrl-C cannot meet them half-started."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_count, block, applied)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(names: NameIndex) -> None:
    """Ctrl-C reaches all processes of a terminal: the first one decides, the workers go on until they are stopped."""
    global _names
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _names = names


def _count(block: Block, applied: frozenset[str]) -> Counted:
    return count_block(block, _names, applied)
