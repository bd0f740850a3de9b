"""The tools of a graph made searchable: their vectors, and their words here and on every machine that shares the vectors."""

from graph.transfer.exporting import Progress
from retriever.indexing import index_tools
from wiring.container import Container
from wiring.words import publish


async def index_documents(container: Container, progress: Progress) -> int:
    """Index every document of the graph that is new or has changed; how many those were. Raises ``UnavailableError``."""
    embedder, index, lexical = await container.retrieval()
    total = (await container.graph.statistics()).documents
    report = await index_tools(
        container.graph.documents(), embedder, index, lexical, lambda done: progress("embed", done, total)
    )
    await publish(container.graph, index, lexical)
    return report.embedded
