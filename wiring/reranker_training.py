"""Training data of the re-ranker: candidates of labelled requests, found by encoders that did not see them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from domain.errors import UsageError
from domain.trajectory import Trajectory
from evaluation.api_keys import Key, key_of
from evaluation.leave_one_out import LeaveOneOutWalks
from evaluation.queries import Query, whole_queries
from graph.function_names import NameIndex
from retriever.candidates import Gathering
from retriever.features import features
from retriever.index import Embedder, VectorIndex
from retriever.indexing import index_tools
from retriever.search import SearchParameters
from retriever.training.ranking import Judged
from wiring.container import Container
from wiring.embedders import encoder_in


@dataclass(frozen=True, slots=True)
class Asked:
    """A labelled request with its candidates and their names, in the order without a re-ranker."""

    query: Query
    keys: tuple[Key, ...]
    judged: Judged


Progress = Callable[[str, int, int], None]
"""Callback with the present stage, how much of it is done, and its total."""


async def asked_of(
    container: Container, folds: Sequence[Path], trajectories: Iterable[Trajectory], progress: Progress
) -> list[Asked]:
    """Return the candidates of each request, found by an encoder that did not learn from it.

    ``folds``: output folders of ``train_retriever.py``, each with ``held_out.jsonl`` and ``encoder``; the vectors of
    the tools are kept in ``vectors`` there, so that another call takes no time. ``UsageError`` where something is
    missing.
    """
    if len({fold.resolve() for fold in folds}) < len(folds):
        raise UsageError("a fold is named twice: its requests would be learnt from and judged by at once")
    embedder, _, lexical = await container.retrieval()
    encoders = [await asyncio.to_thread(encoder_in, fold / "encoder") for fold in folds]
    if embedder.identity not in {one.identity for one in encoders}:
        raise UsageError(
            f"the store's vectors are of {embedder.identity}, which is no fold's encoder, and a re-ranker serves the encoder of the "
            f"store: name the one with FOOTPATH_ENCODER_FOLDER and run {container.reindexing}"
        )
    documents = [document async for document in container.graph.documents()]
    walked = LeaveOneOutWalks(trajectories, NameIndex(documents))
    chosen = SearchParameters()
    found: list[Asked] = []
    for fold, encoder in zip(folds, encoders, strict=True):
        queries = await asyncio.to_thread(whole_queries, fold / "held_out.jsonl")
        async with _vectors(container, fold, encoder, lambda done: progress("tools", done, len(documents))) as (
            embedder,
            index,
        ):
            await walked.embed(embedder)
            gathering = Gathering(embedder, index, lexical, chosen.dense_weight, walked)
            for number, query in enumerate(queries):
                walked.ask(query.query)
                (pool,) = await gathering.gather([query.query], chosen.candidates, None)
                keys = tuple(key_of(tool) for tool in pool.candidates.ids)
                serves = np.array([key in query.relevant for key in keys], np.bool_)
                values = features(pool.candidates, pool.walked, pool.precedents)
                found.append(Asked(query, keys, Judged(values, serves)))
                progress("requests", number + 1, len(queries))
    return found


@asynccontextmanager
async def _vectors(
    container: Container, fold: Path, embedder: Embedder, progress: Callable[[int], None]
) -> AsyncGenerator[tuple[Embedder, VectorIndex]]:
    """Yield a fold's encoder with the tools' vectors: the store's own, where it is the store's encoder."""
    from retriever.backends.edge import EdgeIndex
    from retriever.backends.edge_folder import EdgeFolder

    own, own_index, lexical = await container.retrieval()
    if embedder.identity == own.identity:
        yield own, own_index
        return
    # Vectors of an encoder that was exported again since are useless.
    await asyncio.to_thread(EdgeFolder(fold / "vectors").empty_of_others, embedder.identity, embedder.dimension)
    index = EdgeIndex(fold / "vectors")
    try:
        await index.setup(embedder.identity, embedder.dimension)
        await index_tools(container.graph.documents(), embedder, index, lexical, progress)
        yield embedder, index
    finally:
        await index.close()
