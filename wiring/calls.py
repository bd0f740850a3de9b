"""Recorded calls from files, for one command: the store's own recordings stay as they are."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.execution.executor import Executor
from wiring.container import Container


@asynccontextmanager
async def replay_of(container: Container, paths: Sequence[Path]) -> AsyncGenerator[Executor]:
    """A replay executor over these files. They are joined with the store's documents and change nothing in it.

    Raises:
        UsageError: a file is not there. BrokenInputError: it holds a line that cannot be read.
    """
    from agent.execution.replay import ReplayExecutor
    from graph.backends.memory import MemoryGraph
    from graph.backends.recordings import SqliteRecordings
    from graph.ingest import Ingest
    from graph.names import NameIndex
    from graph.sources import read_records

    sources = [read_records(path, "calls") for path in paths]
    with TemporaryDirectory(prefix="footpath-calls-") as folder:
        recordings = SqliteRecordings(Path(folder) / "recordings.db")
        try:
            await recordings.setup()
            names = NameIndex()
            async for document in container.graph.documents():
                names.add(document)
            ingest = Ingest(MemoryGraph(), recordings, _silent, strict=True)
            for source in sources:
                await ingest.records(source, names)
            yield ReplayExecutor(recordings, floor=container.settings.replay_floor)
        finally:
            await recordings.close()


def _silent(stage: str, done: int, total: int | None) -> None:
    """Reading a file of calls is over before a bar could be read."""
