"""Indexes all tools anew on a Qdrant server, beside the vectors in use, and switches to the new ones at once."""

from collections.abc import Callable
from dataclasses import dataclass

from domain.errors import UsageError
from wiring.container import open_container
from wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class Reindexed:
    """``dropped``: collections that were deleted after the switch."""

    tools: int
    embedded: int
    dropped: tuple[str, ...]
    seconds: float


async def reindex(
    progress: Callable[[int], None] | None = None, settings: Settings | None = None, *, keep_former: bool = False
) -> Reindexed:
    """Interrupted anywhere, a second run goes on. ``keep_former``: processes with another encoder go on as well.

    Raises:
        UsageError: the settings name no Qdrant server. UnavailableError: a store cannot be used.
    """
    settings = settings or Settings()
    if not settings.vector_url:
        raise UsageError(
            "only a Qdrant server has room for two indexes: set FOOTPATH_VECTOR_URL. In an embedded store, delete its "
            "folder vectors/ and run build_graph.py again"
        )
    async with open_container(settings) as container:
        from retriever.embedders.bundled import BundledEmbedder
        from retriever.indexing import index_tools
        from retriever.lexical import LexicalIndex
        from wiring.words import publish

        embedder = BundledEmbedder(threads=settings.encoder_threads)
        index, lexical = container.server_index(), LexicalIndex(container.folder.lexical)
        try:
            await index.setup_beside(embedder.identity, embedder.dimension)
            report = await index_tools(container.graph.documents(), embedder, index, lexical, progress)
            await index.switch()
            await publish(container.graph, index, lexical)
            dropped = () if keep_former else await index.drop_former()
        finally:
            await index.close()
        return Reindexed(report.tools, report.embedded, tuple(dropped), report.seconds)
