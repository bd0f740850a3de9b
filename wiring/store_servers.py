"""Servers that hold a part of the store: their addresses by the settings, and whether they answer."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from domain.errors import StoreRefusedError
from wiring.lazy import Lazy
from wiring.settings import Settings

if TYPE_CHECKING:
    from graph.backends.bolt import Connection
    from retriever.backends.qdrant_connection import QdrantAddress, QdrantConnection


def create_graph_connection(settings: Settings, retry_seconds: float = 30.0) -> "Connection":
    """Create a connection to the graph's server, not open yet."""
    from graph.backends.bolt import Connection, Server

    server = Server(settings.graph_url, settings.graph_user, settings.graph_database)
    return Connection(server, settings.graph_password.get_secret_value(), retry_seconds=retry_seconds)


def get_vector_address(settings: Settings) -> "QdrantAddress":
    """Return the address of the vectors' server."""
    from retriever.backends.qdrant_connection import QdrantAddress

    key = settings.vector_api_key.get_secret_value()
    return QdrantAddress(settings.vector_url, key, settings.vector_grpc, settings.vector_grpc_port)


T = TypeVar("T")
REFUSED_SECONDS = 15.0
"""How long a refused log-in is remembered.

Neo4j locks an account for seconds after three refusals in a row, and so locks out every other server that uses it.
"""


class CachedLogin(Generic[T]):
    """Opens a connection; where the server has just refused it, the refusal is repeated without asking again."""

    def __init__(self, connect: Callable[[], Awaitable[T]]) -> None:
        self._connect = connect
        self._refusal: StoreRefusedError | None = None
        self._until = 0.0

    async def __call__(self) -> T:
        """Open the connection. Raises ``UnavailableError`` as ``connect`` does."""
        if self._refusal is not None and monotonic() < self._until:
            raise StoreRefusedError(str(self._refusal)).set_part(self._refusal.part)
        try:
            return await self._connect()
        except StoreRefusedError as error:
            self._refusal, self._until = error, monotonic() + REFUSED_SECONDS
            raise


class StoreServers:
    """Store servers of the settings, checked over connections of their own; an embedded part is always there.

    The connections are closed with the stack.
    """

    def __init__(self, settings: Settings, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._stack = stack
        self._graph = Lazy(CachedLogin(self._open_graph))
        self._vectors = Lazy(CachedLogin(self._open_vectors))

    async def check_graph(self) -> None:
        """Raise ``UnavailableError`` where the graph's server does not answer."""
        if self._settings.graph_url:
            await (await self._graph.get()).reach()

    async def check_vectors(self) -> None:
        """Raise ``UnavailableError`` where the vectors' server does not answer."""
        if self._settings.vector_url:
            connection = await self._vectors.get()
            await connection.call("reach the vectors", lambda client: client.get_aliases())

    async def _open_graph(self) -> "Connection":
        connection = create_graph_connection(self._settings, retry_seconds=0)
        await connection.open()
        self._stack.push_async_callback(connection.close)
        return connection

    async def _open_vectors(self) -> "QdrantConnection":
        from retriever.backends.qdrant_connection import QdrantConnection

        connection = QdrantConnection(get_vector_address(self._settings))
        await connection.open()
        self._stack.push_async_callback(connection.close)
        return connection
