"""An embedded store of a few tools, indexed."""

from collections.abc import Sequence
from pathlib import Path

from domain.tool import ToolDoc
from retriever.indexing import index_tools
from wiring.container import open_container
from wiring.settings import Settings


async def indexed_store(folder: Path, tools: Sequence[ToolDoc], settings: Settings | None = None) -> Path:
    """The folder, with a store that was made with the settings."""
    async with open_container(settings or Settings(), folder, create=True) as container:
        await container.graph.put_tools(tools)
        await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
    return folder
