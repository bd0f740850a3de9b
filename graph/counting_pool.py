"""Counts blocks in several worker processes, by the same function as in one process."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from multiprocessing import get_context

from domain.errors import UnavailableError
from graph.blocks import Block, CountedBlock, LineBlock, count_block
from graph.function_names import NameIndex
from graph.ingest import CountBlock, count_in_thread

WORTHWHILE_FILES = 2_000
"""Fewer search trees than this are counted faster than worker processes start (about half a second)."""

_worker_names = NameIndex()
"""The name index of this process, if it is a worker."""


@asynccontextmanager
async def open_counting_pool(names: NameIndex, workers: int) -> AsyncGenerator[CountBlock]:
    """Provide a ``CountBlock`` that sends search trees to ``workers`` processes.

    Lines are counted here, since that is cheaper than sending them.
    """
    # Creating a pool, starting processes and sending them the names block for a moment, hence the threads.
    pool = await asyncio.to_thread(
        ProcessPoolExecutor, workers, mp_context=get_context("spawn"), initializer=_initialise_worker, initargs=(names,)
    )

    async def count(block: Block, _: NameIndex, applied: frozenset[str]) -> CountedBlock:
        if isinstance(block, LineBlock):
            return await count_in_thread(block, names, applied)
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


def _submit(pool: ProcessPoolExecutor, block: Block, applied: frozenset[str]) -> Future[CountedBlock]:
    """Submit a block with SIGINT blocked.

    The first call starts the processes, which inherit this thread's signal mask; Ctrl-C therefore cannot reach them
    half-started.
    """
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_count_in_worker, block, applied)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def _initialise_worker(names: NameIndex) -> None:
    """Prepare a worker: ignore SIGINT and store the name index.

    Ctrl-C reaches all processes of a terminal; the main process decides, and the workers go on until it stops them.
    """
    global _worker_names
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker_names = names


def _count_in_worker(block: Block, applied: frozenset[str]) -> CountedBlock:
    return count_block(block, _worker_names, applied)
