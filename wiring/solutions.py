"""Back ends of solutions: with the graph, and the vectors of their patterns with those of tools."""

import logging

from agent.solutions.from_memory import solution_of
from agent.solutions.library import SolutionLibrary
from domain.memory import MemoryStore
from domain.solution import PatternIndex, SolutionStore
from wiring.layout import StoreFolder
from wiring.settings import Settings
from wiring.store_servers import graph_connection, vector_address

_AT_ONCE = 200
_log = logging.getLogger(__name__)


def solutions_of(settings: Settings, folder: StoreFolder, *, on_server: bool) -> SolutionStore:
    """Create a store of solutions, not open yet."""
    if on_server:
        from graph.backends.neo4j_solutions import Neo4jSolutions

        return Neo4jSolutions(graph_connection(settings))
    from graph.backends.sqlite_solutions import SqliteSolutions

    return SqliteSolutions(folder.solutions)


def patterns_of(settings: Settings, folder: StoreFolder, *, on_server: bool) -> PatternIndex:
    """Create an index of patterns, not open yet."""
    if on_server:
        from retriever.backends.qdrant_patterns import QdrantPatterns

        return QdrantPatterns(vector_address(settings), name=settings.vector_collection)
    from graph.backends.sqlite_solutions import SqlitePatterns

    return SqlitePatterns(folder.patterns)


async def adopt_programs(memories: MemoryStore, library: SolutionLibrary) -> None:
    """Turn the programs that earlier versions kept with memories into solutions of their owners.

    Interrupted, it goes on.
    """
    adopted = 0
    while earlier := await memories.earlier(_AT_ONCE):
        await library.add([solution_of(one) for one in earlier])
        await memories.drop_programs([one.memory.id for one in earlier])
        adopted += len(earlier)
    if adopted:
        _log.info("%d programs that were kept with memories are solutions now", adopted)
