"""BM25 beside a Qdrant server: each machine has its own, made from the graph's documents, and the server says of which texts.

The vectors are shared and the words are not, so a machine could rank by words that another one has replaced. Whoever indexes
notes the fingerprint of the texts with the collection; whoever searches compares it with its own, one small request.
"""

from domain.tool import ToolId
from graph.store import GraphStore
from retriever.backends.qdrant import QdrantIndex
from retriever.documents import lexical_text
from retriever.index import VectorIndex
from retriever.lexical import LexicalIndex

_NOTE = "words"


async def publish(graph: GraphStore, index: VectorIndex, lexical: LexicalIndex) -> None:
    """After indexing: hold the words of the graph's documents and no others, and let other machines know of them."""
    if isinstance(index, QdrantIndex):
        await lexical.replace(await _texts(graph))
        await index.note(_NOTE, await lexical.fingerprint())


async def follow(graph: GraphStore, index: VectorIndex, lexical: LexicalIndex) -> None:
    """Before searching: make the words anew where the server was indexed with others. Takes seconds, once a change."""
    if isinstance(index, QdrantIndex):
        noted = (await index.notes()).get(_NOTE)
        if noted and noted != await lexical.fingerprint():
            await lexical.replace(await _texts(graph))


async def _texts(graph: GraphStore) -> dict[ToolId, str]:
    return {tool.id: lexical_text(tool) async for tool in graph.documents()}
