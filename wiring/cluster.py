# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Builds on a Ray cluster: files are counted and documents embedded there. No other module knows Ray."""

import asyncio
import logging
import os
import pickle
import socket
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Generic, TypeVar

from domain.errors import FootpathError, UnavailableError, UsageError

WINDOW = 4_096
"""Items of one Ray data set: what the first process holds of a source that is larger than its memory.

Blocks of files are lists of names, 25 KB each. Processes are started anew for each data set, which takes seconds.
"""

CONNECT_SECONDS = 5
_NOT_THERE = (
    "no Ray cluster answers at {address} ({why}); start one: ray start --head --disable-usage-stats, "
    "and on other nodes ray start --address HOST:6379"
)

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T], R]


class _RayWorker(Generic[T, R]):
    """Process of the cluster: prepared once, then given item after item.

    Rows carry pickles, which Arrow need not read.
    """

    def __init__(self, prepare: Callable[[], Work[T, R]]) -> None:
        self._work = prepare()

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        # Our own pickles, sent within the cluster that this build was told to trust.
        return {"result": pickle.dumps(self._work(pickle.loads(row["item"])))}  # noqa: S301


class RayCluster:
    """Connection of this process to a cluster. Created by :func:`open_cluster` only."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def map(self, prepare: Callable[[], Work[T, R]], items: Iterable[T]) -> AsyncGenerator[tuple[T, R]]:
        """Yield each item with ``prepare()(item)``, in order. ``prepare`` is pickled, and called once in each process.

        Raises:
            UnavailableError: the cluster, or a process of it, is gone.
        """
        waiting = iter(items)
        while window := await asyncio.to_thread(lambda: list(islice(waiting, WINDOW))):
            results = await self._run_step(lambda window=window: _run_window(prepare, window))
            for item in window:
                yield item, await self._run_step(lambda results=results: next(results))

    async def _run_step(self, step: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(step)
        except FootpathError:
            raise
        except Exception as error:
            if (cause := _find_cause(error)) is not None:
                raise cause from error
            raise UnavailableError(
                f"the Ray cluster at {self.address} failed ({(str(error).strip() or type(error).__name__).splitlines()[-1][:300]}). Are its nodes up, "
                "has each the same Footpath, and does it see the sources under the same paths? What was applied is kept"
            ) from error


@asynccontextmanager
async def open_cluster(address: str) -> AsyncGenerator[RayCluster]:
    """Join the cluster at ``host:port`` (or ``auto``: the one of this machine), and leave it at the end.

    Raises:
        UsageError: Ray is not installed.
        UnavailableError: no cluster answers.
    """
    await asyncio.to_thread(_join, address)
    try:
        yield RayCluster(address)
    finally:
        await asyncio.to_thread(_shut_down)


def _join(address: str) -> None:
    # Ray reads this at its start: it sends no usage statistics to its makers.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise UsageError("--ray needs Ray, which is an extra: pip install -e '.[ray]', on every node") from error
    _reach(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise UnavailableError(_NOT_THERE.format(address=address, why=why)) from error
    context: Any = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.preserve_order = True
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _reach(address: str) -> None:
    """Check that something listens at the address: Ray itself would wait for minutes."""
    host, separator, port = address.rpartition(":")
    if not separator:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise UnavailableError(_NOT_THERE.format(address=address, why=error)) from error


def _shut_down() -> None:
    import ray

    ray.shutdown()


def _run_window(prepare: Callable[[], Work[T, R]], window: list[T]) -> Iterator[R]:
    import ray
    import ray.data

    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    rows = [{"item": pickle.dumps(item)} for item in window]
    data: Any = ray.data.from_items(rows, override_num_blocks=len(rows))
    mapped = data.map(_RayWorker, fn_constructor_args=(prepare,), concurrency=(1, min(cores, len(rows))), num_cpus=1)
    return (pickle.loads(row["result"]) for row in mapped.iter_rows())  # noqa: S301  from our own workers


def _find_cause(error: BaseException) -> FootpathError | None:
    """Return the error of our own function below Ray's wrappers, if there is one."""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, FootpathError):
            return current
        current = getattr(current, "cause", None) or current.__cause__
    return None
