"""Comparison of the graph with the index of its tools, and repair of the index."""

import asyncio
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic.types import JsonValue

from domain.errors import StoreVersionError
from domain.model import JsonObject
from graph.facts import GraphStatistics
from graph.transfer.store_export import TransferProgress
from wiring.container import Container, open_container
from wiring.settings import Settings

if TYPE_CHECKING:
    from retriever.indexing import IndexComparison, IndexDifferences


@dataclass(frozen=True, slots=True)
class StoreVerification:
    """Result of a comparison; after a repair, the state that it left."""

    graph: GraphStatistics
    comparison: "IndexComparison | None"
    """None where the vectors are those of another encoder."""
    encoder: str
    """The encoder, or why its vectors cannot be compared."""
    embedded: int | None
    """Number of documents that a repair embedded; None without a repair."""
    solutions: int = 0
    """Number of solutions."""
    unseen: tuple[str, ...] = ()
    """Ids of solutions that cannot be found, since their patterns have no vectors of the encoder."""

    @property
    def equal(self) -> bool:
        """Return whether every document is indexed as it is, nothing else is, and every solution can be found."""
        return self.comparison is not None and self.comparison.is_equal and not self.unseen


async def verify(
    store: Path | None, progress: TransferProgress, settings: Settings | None = None, *, repair: bool = False
) -> StoreVerification:
    """Compare the store's graph with its indexes; ``repair``: repair them from the documents.

    Raises:
        UnavailableError: the store is not there, in use, or cannot be read.
    """
    async with open_container(settings, store) as container:
        return await verify_container(container, progress, repair=repair)


async def verify_container(
    container: Container, progress: TransferProgress, *, repair: bool = False
) -> StoreVerification:
    """Verify a store that is open; during a repair, nobody admits or withdraws tools. Raises as :func:`verify`."""
    if not repair:
        return await _verify(container, progress, repair=False)
    async with container.change_lock:
        return await _verify(container, progress, repair=True)


async def _verify(container: Container, progress: TransferProgress, *, repair: bool) -> StoreVerification:
    try:
        embedded = await _compare_and_repair(container, progress) if repair else None
        comparison = await _compare(container)
    except StoreVersionError as error:
        if not repair:
            return StoreVerification(await container.graph.compute_statistics(), None, str(error), None)
        if container.vectors_on_server:
            raise  # nothing to set aside: on a server every encoder has a collection of its own
        await asyncio.to_thread(_set_aside, await container.get_vectors_folder())
        embedded = await _compare_and_repair(container, progress)
        comparison = await _compare(container)
    if repair and container.vectors_on_server:
        from wiring.indexing import publish_words

        await publish_words(container.graph, *(await container.get_retrieval())[1:])
    if repair:
        await asyncio.to_thread(
            shutil.rmtree, _get_aside_path(await container.get_vectors_folder()), ignore_errors=True
        )
    embedder, _, _ = await container.get_retrieval()
    solutions, unseen = await _verify_solutions(container, repair=repair)
    graph = await container.graph.compute_statistics()
    return StoreVerification(graph, comparison, embedder.identity, embedded, solutions, tuple(unseen))


def to_json(verification: StoreVerification, max_ids: int = 20) -> JsonObject:
    """Return the result as a JSON object, with the first ``max_ids`` ids of each difference."""
    comparison = verification.comparison
    indexes = {} if comparison is None else {"vectors": comparison.vectors, "words": comparison.words}
    unseen: list[JsonValue] = [*verification.unseen[:max_ids]]
    return {
        "equal": verification.equal,
        "graph": asdict(verification.graph),
        "encoder": verification.encoder,
        "points": None if comparison is None else comparison.points,
        **{name: _count_differences(differences, max_ids) for name, differences in indexes.items()},
        "solutions": {"count": verification.solutions, "unseen": {"count": len(verification.unseen), "first": unseen}},
        "embedded": verification.embedded,
    }


def _count_differences(differences: "IndexDifferences", max_ids: int) -> JsonObject:
    kinds = {"missing": differences.missing, "changed": differences.changed, "orphans": differences.orphans}
    counts: JsonObject = {name: {"count": len(ids), "first": [*ids[:max_ids]]} for name, ids in kinds.items()}
    return {"indexed": differences.indexed, **counts}


async def _verify_solutions(container: Container, *, repair: bool) -> tuple[int, list[str]]:
    if not container.graph_on_server and not await asyncio.to_thread(container.folder.solutions.exists):
        return 0, []
    library = await container.solutions()
    if repair:
        await library.embed()
    return await library.find_unembedded()


async def _compare(container: Container) -> "IndexComparison":
    from retriever.indexing import compare_indexes

    _, index, lexical = await container.get_retrieval()
    return await compare_indexes(container.graph.stream_documents, index, lexical)


async def _compare_and_repair(container: Container, progress: TransferProgress) -> int:
    from retriever.indexing import repair_indexes

    comparison = await _compare(container)
    if comparison.is_equal:
        return 0
    embedder, index, lexical = await container.get_retrieval()
    total = comparison.documents
    return await repair_indexes(
        container.graph.stream_documents,
        embedder,
        index,
        lexical,
        comparison,
        lambda done: progress("embed", done, total),
    )


def _get_aside_path(vectors: Path) -> Path:
    """Return the name under which vectors are set aside.

    It differs from that of a switch's former vectors, which an index without vectors of its own takes back.
    """
    return vectors.with_name(vectors.name + ".aside")


def _set_aside(vectors: Path) -> None:
    """Keep the vectors of another encoder until the new ones are complete."""
    shutil.rmtree(_get_aside_path(vectors), ignore_errors=True)
    vectors.rename(_get_aside_path(vectors))
