"""Whether the servers that hold a part of the store answer: asked over connections of their own, so that nothing else is opened for it."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from wiring.planning_stores import graph_connection
from wiring.lazy import Lazy
from wiring.settings import Settings

if TYPE_CHECKING:
    from graph.backends.bolt import Connection
    from retriever.backends.qdrant_connection import QdrantConnection


class StoreServers:
    """Those that the settings name; an embedded part is always there. Connections are closed with the stack."""

    def __init__(self, settings: Settings, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._stack = stack
        self._graph = Lazy(self._open_graph)
        self._vectors = Lazy(self._open_vectors)

    async def graph(self) -> None:
        """Raises ``UnavailableError`` where the graph's server does not answer."""
        if self._settings.graph_url:
            await (await self._graph.get()).reach()

    async def vectors(self) -> None:
        """Raises ``UnavailableError`` where the vectors' server does not answer."""
        if self._settings.vector_url:
            connection = await self._vectors.get()
            await connection.call("reach the vectors", lambda client: client.get_aliases())

    async def all(self) -> None:
        """Raises as both."""
        await self.graph()
        await self.vectors()

    async def _open_graph(self) -> "Connection":
        connection = graph_connection(self._settings, retry_seconds=0)
        await connection.open()
        self._stack.push_async_callback(connection.close)
        return connection

    async def _open_vectors(self) -> "QdrantConnection":
        from retriever.backends.qdrant_connection import QdrantAddress, QdrantConnection

        chosen = self._settings
        key = chosen.vector_api_key.get_secret_value()
        address = QdrantAddress(chosen.vector_url, key, chosen.vector_grpc, chosen.vector_grpc_port)
        connection = QdrantConnection(address)
        await connection.open()
        self._stack.push_async_callback(connection.close)
        return connection
