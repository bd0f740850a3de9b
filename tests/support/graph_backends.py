"""The back ends of the graph store that the contract is tested on. A further one adds its line, and nothing else."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from graph.backends.in_memory import InMemoryGraph
from graph.backends.sqlite_graph import SqliteGraph
from graph.links import LinkedGraph

Opener = Callable[[Path], AbstractAsyncContextManager[LinkedGraph]]
"""Opens an empty store, set up; the folder is the test's own."""


@asynccontextmanager
async def _memory(folder: Path) -> AsyncGenerator[LinkedGraph]:
    graph = InMemoryGraph()
    await graph.setup()
    yield graph
    await graph.close()


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncGenerator[LinkedGraph]:
    graph = SqliteGraph(folder / "graph.db")
    try:
        await graph.setup()
        yield graph
    finally:
        await graph.close()


BACKENDS: dict[str, Opener] = {"memory": _memory, "sqlite": _sqlite}
