# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Builds on a Ray cluster: files are counted and documents embedded there. No other module knows Ray."""

import asyncio
import logging
import os
import pickle
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from domain.errors import FootpathError, UnavailableError, UsageError
from graph.blocks import Block, CountedBlock, count_block
from graph.function_names import NameIndex
from graph.ingest import ImportProgress, SpreadBlocks
from retriever.index import Vectors
from retriever.indexing import DocumentBatch, select_unindexed, store_batch
from wiring.container import Container
from wiring.encoders import load_encoder

WINDOW = 4_096
"""Items of one Ray data set: what the first process holds of a source that is larger than its memory.

Blocks of files are lists of names, 25 KB each. Processes are started anew for each data set, which takes seconds.
"""

CONNECT_SECONDS = 5
_NO_CLUSTER = (
    "no Ray cluster answers at {address} ({why}); start one: ray start --head --disable-usage-stats, "
    "and on other nodes ray start --address HOST:6379"
)

T = TypeVar("T")
R = TypeVar("R")
WorkFunction = Callable[[T], R]


class _RayWorker(Generic[T, R]):
    """Process of the cluster: prepared once, then given item after item.

    Rows carry pickles, which Arrow need not read.
    """

    def __init__(self, prepare: Callable[[], WorkFunction[T, R]]) -> None:
        self._work = prepare()

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        # Our own pickles, sent within the cluster that this build was told to trust.
        return {"result": pickle.dumps(self._work(pickle.loads(row["item"])))}  # noqa: S301


class RayCluster:
    """Connection of this process to a cluster. Created by :func:`open_cluster` only."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def map(self, prepare: Callable[[], WorkFunction[T, R]], items: Iterable[T]) -> AsyncGenerator[tuple[T, R]]:
        """Yield each item with ``prepare()(item)``, in order. ``prepare`` is pickled, and called once in each process.

        Raises:
            UnavailableError: the cluster, or a process of it, is gone.
        """
        remaining_items = iter(items)
        while window := await asyncio.to_thread(lambda: list(islice(remaining_items, WINDOW))):
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
    await asyncio.to_thread(_connect_ray, address)
    try:
        yield RayCluster(address)
    finally:
        await asyncio.to_thread(_shut_down)


def _connect_ray(address: str) -> None:
    # Ray reads this at its start: it sends no usage statistics to its makers.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise UsageError("--ray needs Ray, which is an extra: pip install -e '.[ray]', on every node") from error
    _check_reachable(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise UnavailableError(_NO_CLUSTER.format(address=address, why=why)) from error
    context: Any = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.preserve_order = True
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _check_reachable(address: str) -> None:
    """Check that something listens at the address: Ray itself would wait for minutes."""
    host, separator, port = address.rpartition(":")
    if not separator:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise UnavailableError(_NO_CLUSTER.format(address=address, why=error)) from error


def _shut_down() -> None:
    import ray

    ray.shutdown()


def _run_window(prepare: Callable[[], WorkFunction[T, R]], window: list[T]) -> Iterator[R]:
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


MAX_PORTIONS = 256
"""Portions of texts that are under way at once: 131,072 documents, some 100 MB."""


def create_block_spreader(cluster: RayCluster, names: NameIndex) -> SpreadBlocks:
    """Return a ``SpreadBlocks`` for search trees, which every node must see under the same paths. Only counts come back."""

    def spread_blocks(blocks: Iterator[Block]) -> AsyncGenerator[tuple[Block, CountedBlock]]:
        return cluster.map(partial(_create_counter, names), blocks)

    return spread_blocks


async def embed_on_cluster(cluster: RayCluster, container: Container, progress: ImportProgress) -> None:
    """Put the vectors of new and changed documents into the index.

    Every node must see an encoder of one's own under the same path.

    Raises:
        UnavailableError: the cluster, the encoder or the index cannot be used.
        UsageError: the encoder is not there.
    """
    folder = container.settings.encoder_folder
    current_embedder, index, _ = await container.get_retrieval()
    encoder = partial(_create_encoder, folder and await asyncio.to_thread(folder.resolve), current_embedder.identity)
    total = (await container.graph.compute_statistics()).documents
    done = 0
    async for group in _group_portions(
        select_unindexed(container.graph.stream_documents(), await index.fetch_digests())
    ):
        remaining_portions = iter(group)
        async for _, vectors in cluster.map(encoder, [[text for _, text, _ in portion] for portion in group]):
            portion = next(remaining_portions)
            await store_batch(portion, vectors, index)
            done += len(portion)
            progress("embed", done, total)


async def _group_portions(portions: AsyncIterator[DocumentBatch]) -> AsyncIterator[list[DocumentBatch]]:
    """Group as many portions as are under way at once: the encoder is loaded once for each group."""
    group: list[DocumentBatch] = []
    async for portion in portions:
        group.append(portion)
        if len(group) == MAX_PORTIONS:
            yield group
            group = []
    if group:
        yield group


def _create_counter(names: NameIndex) -> WorkFunction[Block, CountedBlock]:
    return lambda block: count_block(block, names)


def _create_encoder(folder: Path | None, identity: str) -> WorkFunction[list[str], Vectors]:
    embedder = load_encoder(folder, threads=1)
    if embedder.identity != identity:
        raise UsageError(
            f"a node has another encoder in {folder}: {embedder.identity} for {identity}; copy the whole folder to every node"
        )
    return lambda texts: asyncio.run(embedder.embed(texts, "document"))
