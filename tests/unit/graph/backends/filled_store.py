"""A small SQLite store for the tests."""

from pathlib import Path

from graph.backends.sqlite_graph import SqliteGraph
from tests.support.graph_samples import A, B, batch, document


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def filled(path: Path) -> None:
    """A store with one batch, closed."""
    graph = SqliteGraph(path)
    await graph.setup()
    await graph.put_tools([document(A)])
    await graph.apply(batch("k", {(A, B): 1}))
    await graph.close()
