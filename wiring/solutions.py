"""Where solutions lie: with the graph, and the vectors of their patterns beside those of tools."""

from domain.solution import PatternIndex, SolutionStore
from wiring.layout import StoreFolder


def solutions_of(folder: StoreFolder) -> SolutionStore:
    """A store of solutions that is not open yet."""
    from graph.backends.sqlite_solutions import SqliteSolutions

    return SqliteSolutions(folder.solutions)


def patterns_of(folder: StoreFolder) -> PatternIndex:
    """An index of patterns that is not open yet."""
    from graph.backends.sqlite_patterns import SqlitePatterns

    return SqlitePatterns(folder.patterns)
