"""Build on a cluster: files are counted and documents embedded there, with the same functions and portions."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from functools import partial
from pathlib import Path

from domain.errors import UsageError
from graph.blocks import Block, Counted, count_block
from graph.function_names import NameIndex
from graph.ingest import Progress, Spread
from retriever.index import Vectors
from retriever.indexing import Portion, put_portion, unindexed
from wiring.cluster import Cluster, Work
from wiring.container import Container
from wiring.embedders import encoder_in

PORTIONS = 256
"""Portions of texts that are under way at once: 131,072 documents, some 100 MB."""


def counting(cluster: Cluster, names: NameIndex) -> Spread:
    """Return a ``Spread`` for search trees, which every node must see under the same paths. Only counts come back."""

    def spread(blocks: Iterator[Block]) -> AsyncGenerator[tuple[Block, Counted]]:
        return cluster.map(partial(_counter, names), blocks)

    return spread


async def embed(cluster: Cluster, container: Container, progress: Progress) -> None:
    """Put the vectors of new and changed documents into the index.

    Every node must see an encoder of one's own under the same path.

    Raises:
        UnavailableError: the cluster, the encoder or the index cannot be used.
        UsageError: the encoder is not there.
    """
    folder = container.settings.encoder_folder
    own, index, _ = await container.retrieval()
    encoder = partial(_encoder, folder and await asyncio.to_thread(folder.resolve), own.identity)
    total = (await container.graph.statistics()).documents
    done = 0
    async for group in _groups(unindexed(container.graph.documents(), await index.digests())):
        waiting = iter(group)
        async for _, vectors in cluster.map(encoder, [[text for _, text, _ in portion] for portion in group]):
            portion = next(waiting)
            await put_portion(portion, vectors, index)
            done += len(portion)
            progress("embed", done, total)


async def _groups(portions: AsyncIterator[Portion]) -> AsyncIterator[list[Portion]]:
    """Group as many portions as are under way at once: the encoder is loaded once for each group."""
    group: list[Portion] = []
    async for portion in portions:
        group.append(portion)
        if len(group) == PORTIONS:
            yield group
            group = []
    if group:
        yield group


def _counter(names: NameIndex) -> Work[Block, Counted]:
    return lambda block: count_block(block, names)


def _encoder(folder: Path | None, identity: str) -> Work[list[str], Vectors]:
    embedder = encoder_in(folder, threads=1)
    if embedder.identity != identity:
        raise UsageError(
            f"a node has another encoder in {folder}: {embedder.identity} for {identity}; copy the whole folder to every node"
        )
    return lambda texts: asyncio.run(embedder.embed(texts, "document"))
