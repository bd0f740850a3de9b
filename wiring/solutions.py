"""Where solutions lie: with the graph, and the vectors of their patterns beside those of tools."""

from domain.solution import PatternIndex, SolutionStore
from wiring.layout import StoreFolder
from wiring.settings import Settings
from wiring.store_servers import graph_connection, vector_address


def solutions_of(settings: Settings, folder: StoreFolder, *, on_server: bool) -> SolutionStore:
    """A store of solutions that is not open yet."""
    if on_server:
        from graph.backends.neo4j_solutions import Neo4jSolutions

        return Neo4jSolutions(graph_connection(settings))
    from graph.backends.sqlite_solutions import SqliteSolutions

    return SqliteSolutions(folder.solutions)


def patterns_of(settings: Settings, folder: StoreFolder, *, on_server: bool) -> PatternIndex:
    """An index of patterns that is not open yet."""
    if on_server:
        from retriever.backends.qdrant_patterns import QdrantPatterns

        return QdrantPatterns(vector_address(settings), name=settings.vector_collection)
    from graph.backends.sqlite_patterns import SqlitePatterns

    return SqlitePatterns(folder.patterns)
