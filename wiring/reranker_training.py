"""Training data of the re-ranker: candidates of labelled requests, found by encoders that did not see them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from domain.errors import UsageError
from domain.trajectory import Trajectory
from evaluation.api_names import ApiName, get_api_name
from evaluation.leave_one_out import LeaveOneOutWalks
from evaluation.queries import RetrievalQuery, read_queries_strictly
from graph.function_names import NameIndex
from retriever.candidates import CandidateGatherer
from retriever.features import compute_features
from retriever.index import Embedder, VectorIndex
from retriever.indexing import index_tools
from retriever.search import SearchParameters
from retriever.training.reranker import LabelledCandidates
from wiring.container import Container
from wiring.encoders import load_encoder


@dataclass(frozen=True, slots=True)
class RankedRequest:
    """A labelled request with its candidates and their names, in the order without a re-ranker."""

    query: RetrievalQuery
    keys: tuple[ApiName, ...]
    judged: LabelledCandidates


RankingProgress = Callable[[str, int, int], None]
"""Callback with the present stage, how much of it is done, and its total."""


async def collect_ranked_requests(
    container: Container, folds: Sequence[Path], trajectories: Iterable[Trajectory], progress: RankingProgress
) -> list[RankedRequest]:
    """Return the candidates of each request, found by an encoder that did not learn from it.

    ``folds``: output folders of ``train_retriever.py``, each with ``held_out.jsonl`` and ``encoder``; the vectors of
    the tools are kept in ``vectors`` there, so that another call takes no time. ``UsageError`` where something is
    missing.
    """
    if len({fold.resolve() for fold in folds}) < len(folds):
        raise UsageError("a fold is named twice: its requests would be learnt from and judged by at once")
    embedder, _, lexical = await container.get_retrieval()
    encoders = [await asyncio.to_thread(load_encoder, fold / "encoder") for fold in folds]
    if embedder.identity not in {fold_encoder.identity for fold_encoder in encoders}:
        raise UsageError(
            f"the store's vectors are of {embedder.identity}, which is no fold's encoder, and a re-ranker serves the encoder of the "
            f"store: name the one with FOOTPATH_ENCODER_FOLDER and run {container.reindex_command}"
        )
    documents = [document async for document in container.graph.stream_documents()]
    walk_evidence = LeaveOneOutWalks(trajectories, NameIndex(documents))
    parameters = SearchParameters()
    ranked: list[RankedRequest] = []
    for fold, encoder in zip(folds, encoders, strict=True):
        queries = await asyncio.to_thread(read_queries_strictly, fold / "held_out.jsonl")
        async with _open_fold_vectors(
            container, fold, encoder, lambda done: progress("tools", done, len(documents))
        ) as (
            embedder,
            index,
        ):
            await walk_evidence.embed(embedder)
            gatherer = CandidateGatherer(embedder, index, lexical, parameters.dense_weight, walk_evidence)
            for number, query in enumerate(queries):
                walk_evidence.exclude_request(query.query)
                (gathered,) = await gatherer.gather([query.query], parameters.candidates, None)
                keys = tuple(get_api_name(tool) for tool in gathered.candidates.ids)
                serves = np.array([key in query.relevant for key in keys], np.bool_)
                values = compute_features(gathered.candidates, gathered.transitions, gathered.precedents)
                ranked.append(RankedRequest(query, keys, LabelledCandidates(values, serves)))
                progress("requests", number + 1, len(queries))
    return ranked


@asynccontextmanager
async def _open_fold_vectors(
    container: Container, fold: Path, embedder: Embedder, progress: Callable[[int], None]
) -> AsyncGenerator[tuple[Embedder, VectorIndex]]:
    """Yield a fold's encoder with the tools' vectors: the store's own, where it is the store's encoder."""
    from retriever.backends.edge import EdgeIndex
    from retriever.backends.edge_folder import EdgeFolder

    store_embedder, store_index, lexical = await container.get_retrieval()
    if embedder.identity == store_embedder.identity:
        yield store_embedder, store_index
        return
    # Vectors of an encoder that was exported again since are useless.
    await asyncio.to_thread(
        EdgeFolder(fold / "vectors").remove_vectors_of_other_encoder, embedder.identity, embedder.dimension
    )
    index = EdgeIndex(fold / "vectors")
    try:
        await index.setup(embedder.identity, embedder.dimension)
        await index_tools(container.graph.stream_documents(), embedder, index, lexical, progress)
        yield embedder, index
    finally:
        await index.close()
