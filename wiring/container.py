"""Settings to objects: opens what is asked for, closes everything. Adapters are imported when first needed."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from agent.executor import Executor
from agent.policy import Policy
from domain.errors import UsageError
from graph.recordings import Recordings
from graph.store import GraphStore
from graph.weights import WeightParameters
from retriever.index import Embedder, VectorIndex
from retriever.lexical import LexicalIndex
from retriever.search import ToolSearch
from wiring.layout import StoreFolder
from wiring.settings import Settings, read_settings


class Container:
    """The objects of one process. Made by :func:`open_container` only."""

    def __init__(self, settings: Settings, folder: StoreFolder, graph: GraphStore, stack: AsyncExitStack) -> None:
        self.settings = settings
        self.folder = folder
        self.graph = graph
        self._stack = stack
        self._retrieval: tuple[Embedder, VectorIndex, LexicalIndex] | None = None
        self._recordings: Recordings | None = None

    @property
    def weights(self) -> WeightParameters:
        """The parameters of the weight formulas."""
        chosen = self.settings
        return WeightParameters(alpha=chosen.alpha, n0=chosen.prior, fixed_beta=chosen.fixed_beta)

    async def retrieval(self) -> tuple[Embedder, VectorIndex, LexicalIndex]:
        """Encoder, vector index and lexical index, opened once. The embedded index has one owning process."""
        if self._retrieval is None:
            from retriever.backends.edge import EdgeIndex
            from retriever.embedders.bundled import BundledEmbedder

            embedder = BundledEmbedder(threads=self.settings.encoder_threads)
            index = EdgeIndex(self.folder.vectors)
            self._stack.push_async_callback(index.close)
            await index.setup(embedder.identity, embedder.dimension)
            self._retrieval = (embedder, index, LexicalIndex(self.folder.lexical))
        return self._retrieval

    async def search(self) -> ToolSearch:
        """Search over the indexed tools. Encoder and lexical index are read now, side by side, not by the first question."""
        embedder, index, lexical = await self.retrieval()
        await asyncio.gather(embedder.embed(["ready"], "query"), lexical.match("ready"))
        return ToolSearch(embedder, index, lexical)

    async def recordings(self) -> Recordings:
        """The recorded calls of this store, opened once."""
        if self._recordings is None:
            from graph.backends.recordings import SqliteRecordings

            recordings = SqliteRecordings(self.folder.recordings)
            self._stack.push_async_callback(recordings.close)
            await recordings.setup()
            self._recordings = recordings
        return self._recordings

    def policy(self, name: str) -> Policy:
        """A fresh policy object for one run."""
        if name == "offline":
            from agent.policies.offline import OfflinePolicy

            return OfflinePolicy()
        raise UsageError(f"no policy is called {name!r}; there is: offline")

    async def executor(self, name: str) -> Executor:
        """An executor, closed with the container."""
        executor: Executor
        if name == "http":
            from agent.executors.http import HttpExecutor, HttpParameters

            chosen = self.settings
            executor = HttpExecutor(
                HttpParameters(
                    timeout=chosen.call_timeout,
                    response_limit=chosen.response_limit,
                    attempts=chosen.call_attempts,
                    allow_hosts=chosen.allow_hosts,
                )
            )
        elif name == "replay":
            from agent.executors.replay import ReplayExecutor

            executor = ReplayExecutor(await self.recordings())
        else:
            raise UsageError(f"no executor is called {name!r}; there are: http, replay")
        self._stack.push_async_callback(executor.close)
        return executor


@asynccontextmanager
async def open_container(
    settings: Settings | None = None, store: Path | None = None, *, create: bool = False
) -> AsyncGenerator[Container]:
    """Open the store that ``store`` or the settings name. ``create``: make it where there is none.

    ``store`` is the embedded form: all of it lies in that folder. Without it, the graph is where the settings' URL says.

    Raises:
        UnavailableError: no store is there, or it cannot be used; the message says what to do.
    """
    settings = settings or read_settings()
    folder = StoreFolder(store or settings.store)
    await asyncio.to_thread(folder.open, create=create)
    async with AsyncExitStack() as stack:
        graph = _graph(settings, folder, embedded=store is not None)
        stack.push_async_callback(graph.close)
        await graph.setup()
        yield Container(settings, folder, graph, stack)


def _graph(settings: Settings, folder: StoreFolder, *, embedded: bool) -> GraphStore:
    if settings.graph_url and not embedded:
        from graph.backends.neo4j import Neo4jGraph

        password = settings.graph_password.get_secret_value()
        return Neo4jGraph(settings.graph_url, settings.graph_user, password, settings.graph_database)
    from graph.backends.sqlite import SqliteGraph

    return SqliteGraph(folder.graph)
