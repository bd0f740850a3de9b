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
from graph.transfer.exporting import Progress
from wiring.container import Container, open_container
from wiring.settings import Settings

if TYPE_CHECKING:
    from retriever.verification import Comparison, Differences


@dataclass(frozen=True, slots=True)
class Verified:
    """Result of a comparison; after a repair, the state that it left."""

    graph: GraphStatistics
    comparison: "Comparison | None"
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
        return self.comparison is not None and self.comparison.equal and not self.unseen


async def verify(
    store: Path | None, progress: Progress, settings: Settings | None = None, *, mend: bool = False
) -> Verified:
    """Compare the store's graph with its indexes; ``mend``: repair them from the documents.

    Raises:
        UnavailableError: the store is not there, in use, or cannot be read.
    """
    async with open_container(settings, store) as container:
        return await verify_open(container, progress, mend=mend)


async def verify_open(container: Container, progress: Progress, *, mend: bool = False) -> Verified:
    """Verify a store that is open; during a repair, nobody admits or withdraws tools. Raises as :func:`verify`."""
    if not mend:
        return await _verified(container, progress, mend=False)
    async with container.changing:
        return await _verified(container, progress, mend=True)


async def _verified(container: Container, progress: Progress, *, mend: bool) -> Verified:
    try:
        embedded = await _compare_and_repair(container, progress) if mend else None
        comparison = await _compare(container)
    except StoreVersionError as error:
        if not mend:
            return Verified(await container.graph.statistics(), None, str(error), None)
        if container.vectors_on_server:
            raise  # nothing to set aside: on a server every encoder has a collection of its own
        await asyncio.to_thread(_set_aside, await container.vectors_folder())
        embedded = await _compare_and_repair(container, progress)
        comparison = await _compare(container)
    if mend and container.vectors_on_server:
        from wiring.indexing import publish_words

        await publish_words(container.graph, *(await container.retrieval())[1:])
    if mend:
        await asyncio.to_thread(shutil.rmtree, _aside(await container.vectors_folder()), ignore_errors=True)
    embedder, _, _ = await container.retrieval()
    solutions, unseen = await _solutions(container, mend=mend)
    graph = await container.graph.statistics()
    return Verified(graph, comparison, embedder.identity, embedded, solutions, tuple(unseen))


def figures(found: Verified, shown: int = 20) -> JsonObject:
    """Return the result as a JSON object, with the first ``shown`` ids of each difference."""
    comparison = found.comparison
    indexes = {} if comparison is None else {"vectors": comparison.vectors, "words": comparison.words}
    unseen: list[JsonValue] = [*found.unseen[:shown]]
    return {
        "equal": found.equal,
        "graph": asdict(found.graph),
        "encoder": found.encoder,
        "points": None if comparison is None else comparison.points,
        **{name: _counted(differences, shown) for name, differences in indexes.items()},
        "solutions": {"count": found.solutions, "unseen": {"count": len(found.unseen), "first": unseen}},
        "embedded": found.embedded,
    }


def _counted(differences: "Differences", shown: int) -> JsonObject:
    kinds = {"missing": differences.missing, "changed": differences.changed, "orphans": differences.orphans}
    counts: JsonObject = {name: {"count": len(ids), "first": [*ids[:shown]]} for name, ids in kinds.items()}
    return {"indexed": differences.indexed, **counts}


async def _solutions(container: Container, *, mend: bool) -> tuple[int, list[str]]:
    if not container.graph_on_server and not await asyncio.to_thread(container.folder.solutions.exists):
        return 0, []
    library = await container.solutions()
    if mend:
        await library.embed()
    return await library.unseen()


async def _compare(container: Container) -> "Comparison":
    from retriever.verification import compare

    _, index, lexical = await container.retrieval()
    return await compare(container.graph.documents, index, lexical)


async def _compare_and_repair(container: Container, progress: Progress) -> int:
    from retriever.verification import repair

    found = await _compare(container)
    if found.equal:
        return 0
    embedder, index, lexical = await container.retrieval()
    total = found.documents
    return await repair(
        container.graph.documents, embedder, index, lexical, found, lambda done: progress("embed", done, total)
    )


def _aside(vectors: Path) -> Path:
    """Return the name under which vectors are set aside.

    It differs from that of a switch's former vectors, which an index without vectors of its own takes back.
    """
    return vectors.with_name(vectors.name + ".aside")


def _set_aside(vectors: Path) -> None:
    """Keep the vectors of another encoder until the new ones are complete."""
    shutil.rmtree(_aside(vectors), ignore_errors=True)
    vectors.rename(_aside(vectors))
