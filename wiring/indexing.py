"""Indexing of a graph's tools: their vectors, and their words here and on every machine that shares the vectors.

BM25 is a machine's own copy, made from the graph's documents wherever it is missing or was made from others. Beside a
Qdrant server the vectors are shared and the words are not, so a machine could rank by words that another one has
replaced. Whoever indexes stores the fingerprint of the texts with the collection; whoever searches compares it with its
own, one small request.
"""

import asyncio
import logging

from domain.errors import FootpathError
from domain.tool import ToolId
from graph.store import GraphStore
from graph.transfer.store_export import TransferProgress
from retriever.document_texts import build_lexical_text
from retriever.index import VectorIndex
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex
from wiring.container import Container

_FINGERPRINT_NOTE = "words"
_log = logging.getLogger(__name__)


async def publish_words(graph: GraphStore, index: VectorIndex, lexical: LexicalIndex) -> None:
    """Make the words match the graph's documents after indexing, and inform other machines."""
    from retriever.backends.qdrant import QdrantIndex

    if isinstance(index, QdrantIndex):
        await lexical.replace(await _collect_texts(graph))
        await publish_fingerprint(index, lexical)


async def publish_fingerprint(index: VectorIndex, lexical: LexicalIndex) -> None:
    """Publish the fingerprint of the words here. The words of an index in a folder are shared with nobody."""
    from retriever.backends.qdrant import QdrantIndex

    if isinstance(index, QdrantIndex):
        await index.write_note(_FINGERPRINT_NOTE, await lexical.read_fingerprint())


async def follow_others(container: Container) -> None:
    """Follow the encoder in use and the latest words before a search.

    Both are read at the same time, the words' fingerprint with the vectors that were in use: each is a round trip to a
    server.
    """
    previous_index = await _get_known_index(container)
    published, followed = await asyncio.gather(
        _read_fingerprint(previous_index), container.encoders.follow(), return_exceptions=True
    )
    if isinstance(followed, BaseException):
        raise followed
    _, index, lexical = await container.get_retrieval()
    if index is not previous_index:
        published = await _read_fingerprint(index)
    if isinstance(published, BaseException):
        raise published
    if published and published == await lexical.read_fingerprint():
        return
    async with container.words_lock:
        await follow_words(container.graph, index, lexical)


async def _get_known_index(container: Container) -> VectorIndex | None:
    """Return the vectors in use as this process knows them; None where it knows none, or cannot open them any more."""
    try:
        return (await container.get_retrieval())[1] if container.encoders.has_state else None
    except FootpathError:
        return None  # the vectors in use are opened next, which raises the error that matters


async def follow_words(graph: GraphStore, index: VectorIndex, lexical: LexicalIndex) -> None:
    """Make the words anew before a search, where others were indexed, or tools were and no words are here.

    Takes seconds.

    A store without any tool gets an index without any word, so that a search over it finds nothing rather than fails.
    """
    published, local_fingerprint = await _read_fingerprint(index), await lexical.read_fingerprint()
    if not local_fingerprint and (published or await index.count()):
        _log.warning("there is no readable word index here: it is made anew from the graph's documents")
    elif published and published != local_fingerprint:
        _log.info("another machine has indexed other documents: the word index is made anew from the graph's")
    elif local_fingerprint or (await graph.compute_statistics()).documents:
        return  # equal fingerprints; or documents that were never indexed, which the search reports
    await lexical.replace(await _collect_texts(graph))
    if published and await lexical.read_fingerprint() != published:
        # Two machines changed different tools at once: each published its own fingerprint, and the graph has both.
        await publish_fingerprint(index, lexical)


async def _read_fingerprint(index: VectorIndex | None) -> str:
    from retriever.backends.qdrant import QdrantIndex

    return (await index.read_notes()).get(_FINGERPRINT_NOTE, "") if isinstance(index, QdrantIndex) else ""


async def _collect_texts(graph: GraphStore) -> dict[ToolId, str]:
    return {tool.id: build_lexical_text(tool) async for tool in graph.stream_documents()}


async def index_documents(container: Container, progress: TransferProgress) -> int:
    """Index every new or changed document of the graph; return their number. Raises ``UnavailableError``."""
    embedder, index, lexical = await container.get_retrieval()
    await embedder.get_cosine_scale()  # measured and stored before anything is searched by these vectors
    total = (await container.graph.compute_statistics()).documents
    report = await index_tools(
        container.graph.stream_documents(), embedder, index, lexical, lambda done: progress("embed", done, total)
    )
    await publish_words(container.graph, index, lexical)
    return report.embedded
