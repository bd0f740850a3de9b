"""Back ends of a store's parts by the settings: files of its folder, or Neo4j and Qdrant servers, and their checks."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from agent.solutions.conversion import build_solution_from_memory
from agent.solutions.library import SolutionLibrary
from domain.errors import StoreRefusedError
from domain.memory import MemoryStore
from domain.solution import PatternIndex, SolutionStore
from graph.dataflow import FlowStore
from graph.field_choices import FieldChoiceStore
from wiring.lazy import Lazy
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from graph.backends.neo4j_connection import Neo4jConnection
    from retriever.backends.qdrant_connection import QdrantAddress, QdrantConnection


def create_graph_connection(settings: Settings, retry_seconds: float = 30.0) -> "Neo4jConnection":
    """Create a connection to the graph's server, not open yet."""
    from graph.backends.neo4j_connection import GraphServer, Neo4jConnection

    server = GraphServer(settings.graph_url, settings.graph_user, settings.graph_database)
    return Neo4jConnection(server, settings.graph_password.get_secret_value(), retry_seconds=retry_seconds)


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
            await (await self._graph.get()).check_reachable()

    async def check_vectors(self) -> None:
        """Raise ``UnavailableError`` where the vectors' server does not answer."""
        if self._settings.vector_url:
            connection = await self._vectors.get()
            await connection.call("reach the vectors", lambda client: client.get_aliases())

    async def _open_graph(self) -> "Neo4jConnection":
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


def create_memory_store(settings: Settings, file: Path, *, on_server: bool) -> MemoryStore:
    """Create a store of memories, not open yet."""
    if on_server:
        from retriever.backends.qdrant_memories import QdrantMemories

        return QdrantMemories(get_vector_address(settings), name=settings.vector_collection)
    from graph.backends.sqlite_memories import SqliteMemories

    return SqliteMemories(file)


_PAGE_SIZE = 500


def create_flow_store(settings: Settings, folder: StoreFolder, *, on_server: bool) -> FlowStore:
    """Create a store of flows, not open yet."""
    if on_server:
        from graph.backends.neo4j_flows import Neo4jFlows

        return Neo4jFlows(create_graph_connection(settings))
    from graph.backends.sqlite_flows import SqliteFlows

    return SqliteFlows(folder.flows)


def create_field_choice_store(settings: Settings, folder: StoreFolder, *, on_server: bool) -> FieldChoiceStore:
    """Create a store of kept fields, which is opened when first used."""
    if on_server:
        from graph.backends.neo4j_flows import Neo4jFieldChoices

        return Neo4jFieldChoices(create_graph_connection(settings))
    from graph.backends.sqlite_flows import SqliteFieldChoices

    return SqliteFieldChoices(folder.kept_fields)


async def copy_flows_to_server(flows: FlowStore, folder: StoreFolder) -> None:
    """Copy the flows that this machine counted in its folder to the server, where it has none yet."""
    if not await asyncio.to_thread(folder.flows.exists) or await flows.list_keys("", 1):
        return
    from graph.backends.sqlite_flows import SqliteFlows

    local_flows = SqliteFlows(folder.flows)
    await local_flows.setup()
    try:
        last_key = ("", "", "")
        while page := await local_flows.list_counts(last_key, _PAGE_SIZE):
            await flows.restore([], page)
            last_key = page[-1].sort_key
        after = ""
        while keys := await local_flows.list_keys(
            after, _PAGE_SIZE
        ):  # last: a server with keys has all counts, so that an interrupted copy is repeated
            await flows.restore(keys, [])
            after = keys[-1]
    finally:
        await local_flows.close()


_ADOPTED_AT_ONCE = 200


def create_solution_store(settings: Settings, folder: StoreFolder, *, on_server: bool) -> SolutionStore:
    """Create a store of solutions, not open yet."""
    if on_server:
        from graph.backends.neo4j_solutions import Neo4jSolutions

        return Neo4jSolutions(create_graph_connection(settings))
    from graph.backends.sqlite_solutions import SqliteSolutions

    return SqliteSolutions(folder.solutions)


def create_pattern_index(settings: Settings, folder: StoreFolder, *, on_server: bool) -> PatternIndex:
    """Create an index of patterns, not open yet."""
    if on_server:
        from retriever.backends.qdrant_patterns import QdrantPatterns

        return QdrantPatterns(get_vector_address(settings), name=settings.vector_collection)
    from graph.backends.sqlite_solutions import SqlitePatterns

    return SqlitePatterns(folder.patterns)


async def adopt_programs(memories: MemoryStore, library: SolutionLibrary) -> None:
    """Turn the programs that earlier versions kept with memories into solutions of their owners.

    Interrupted, it goes on.
    """
    adopted = 0
    while legacy_memories := await memories.list_legacy(_ADOPTED_AT_ONCE):
        await library.add([build_solution_from_memory(memory) for memory in legacy_memories])
        await memories.drop_programs([memory.memory.id for memory in legacy_memories])
        adopted += len(legacy_memories)
    if adopted:
        _log.info("%d programs that were kept with memories are solutions now", adopted)
