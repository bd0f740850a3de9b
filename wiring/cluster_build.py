"""Build on a cluster: files are counted and documents embedded there, with the same functions and portions."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from functools import partial
from pathlib import Path

from domain.errors import UsageError
from graph.blocks import Block, CountedBlock, count_block
from graph.function_names import NameIndex
from graph.ingest import ImportProgress, SpreadBlocks
from retriever.index import Vectors
from retriever.indexing import Portion, put_portion, select_unindexed
from wiring.cluster import RayCluster, Work
from wiring.container import Container
from wiring.encoders import load_encoder

PORTIONS = 256
"""Portions of texts that are under way at once: 131,072 documents, some 100 MB."""


def create_spread(cluster: RayCluster, names: NameIndex) -> SpreadBlocks:
    """Return a ``SpreadBlocks`` for search trees, which every node must see under the same paths. Only counts come back."""

    def spread(blocks: Iterator[Block]) -> AsyncGenerator[tuple[Block, CountedBlock]]:
        return cluster.map(partial(_create_counter, names), blocks)

    return spread


async def embed(cluster: RayCluster, container: Container, progress: ImportProgress) -> None:
    """Put the vectors of new and changed documents into the index.

    Every node must see an encoder of one's own under the same path.

    Raises:
        UnavailableError: the cluster, the encoder or the index cannot be used.
        UsageError: the encoder is not there.
    """
    folder = container.settings.encoder_folder
    own, index, _ = await container.get_retrieval()
    encoder = partial(_create_encoder, folder and await asyncio.to_thread(folder.resolve), own.identity)
    total = (await container.graph.statistics()).documents
    done = 0
    async for group in _group_portions(select_unindexed(container.graph.documents(), await index.fetch_digests())):
        waiting = iter(group)
        async for _, vectors in cluster.map(encoder, [[text for _, text, _ in portion] for portion in group]):
            portion = next(waiting)
            await put_portion(portion, vectors, index)
            done += len(portion)
            progress("embed", done, total)


async def _group_portions(portions: AsyncIterator[Portion]) -> AsyncIterator[list[Portion]]:
    """Group as many portions as are under way at once: the encoder is loaded once for each group."""
    group: list[Portion] = []
    async for portion in portions:
        group.append(portion)
        if len(group) == PORTIONS:
            yield group
            group = []
    if group:
        yield group


def _create_counter(names: NameIndex) -> Work[Block, CountedBlock]:
    return lambda block: count_block(block, names)


def _create_encoder(folder: Path | None, identity: str) -> Work[list[str], Vectors]:
    embedder = load_encoder(folder, threads=1)
    if embedder.identity != identity:
        raise UsageError(
            f"a node has another encoder in {folder}: {embedder.identity} for {identity}; copy the whole folder to every node"
        )
    return lambda texts: asyncio.run(embedder.embed(texts, "document"))
