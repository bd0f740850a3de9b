"""Back ends of a store's parts by the settings: files of its folder, or Neo4j and Qdrant servers, and their checks."""

import asyncio
import logging
from pathlib import Path

from agent.solutions.from_memory import build_solution_from_memory
from agent.solutions.library import SolutionLibrary
from domain.memory import MemoryStore
from domain.solution import PatternIndex, SolutionStore
from graph.dataflow import FlowStore
from graph.field_choices import FieldChoiceStore
from wiring.settings import Settings
from wiring.store_folder import StoreFolder
from wiring.store_servers import create_graph_connection, get_vector_address

_log = logging.getLogger(__name__)


def create_memory_store(settings: Settings, file: Path, *, on_server: bool) -> MemoryStore:
    """Create a store of memories, not open yet."""
    if on_server:
        from retriever.backends.qdrant_memories import QdrantMemories

        return QdrantMemories(get_vector_address(settings), name=settings.vector_collection)
    from graph.backends.sqlite_memories import SqliteMemories

    return SqliteMemories(file)


_PAGE = 500


def create_flow_store(settings: Settings, folder: StoreFolder, *, on_server: bool) -> FlowStore:
    """Create a store of flows, not open yet."""
    if on_server:
        from graph.backends.neo4j_planning import Neo4jFlows

        return Neo4jFlows(create_graph_connection(settings))
    from graph.backends.sqlite_dataflow import SqliteFlows

    return SqliteFlows(folder.flows)


def create_kept_fields(settings: Settings, folder: StoreFolder, *, on_server: bool) -> FieldChoiceStore:
    """Create a store of kept fields, which is opened when first used."""
    if on_server:
        from graph.backends.neo4j_planning import Neo4jKeptFields

        return Neo4jKeptFields(create_graph_connection(settings))
    from graph.backends.sqlite_kept_fields import SqliteKeptFields

    return SqliteKeptFields(folder.kept_fields)


async def copy_flows_to_server(flows: FlowStore, folder: StoreFolder) -> None:
    """Copy the flows that this machine counted in its folder to the server, where it has none yet."""
    if not await asyncio.to_thread(folder.flows.exists) or await flows.list_keys("", 1):
        return
    from graph.backends.sqlite_dataflow import SqliteFlows

    mine = SqliteFlows(folder.flows)
    await mine.setup()
    try:
        place = ("", "", "")
        while page := await mine.list_counts(place, _PAGE):
            await flows.restore([], page)
            place = page[-1].sort_key
        after = ""
        while keys := await mine.list_keys(
            after, _PAGE
        ):  # last: a server with keys has all counts, so that an interrupted copy is repeated
            await flows.restore(keys, [])
            after = keys[-1]
    finally:
        await mine.close()


_AT_ONCE = 200


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
    while earlier := await memories.list_legacy(_AT_ONCE):
        await library.add([build_solution_from_memory(one) for one in earlier])
        await memories.drop_programs([one.memory.id for one in earlier])
        adopted += len(earlier)
    if adopted:
        _log.info("%d programs that were kept with memories are solutions now", adopted)
