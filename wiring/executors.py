"""The executors of the settings: the one that makes calls, and one for one command that answers from files of recorded calls."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from agent.execution.executor import Executor
from agent.execution.secrets import Secrets
from wiring.container import Container
from wiring.settings import Settings

if TYPE_CHECKING:
    from agent.execution.http import HttpExecutor


def http_executor(settings: Settings, secrets: Secrets) -> "HttpExecutor":
    """A new one, with whose secrets it is given; who makes it closes it."""
    from agent.execution.http import HttpExecutor, HttpParameters

    parameters = HttpParameters(
        timeout=settings.call_timeout,
        response_limit=settings.response_limit,
        attempts=settings.call_attempts,
        allow_hosts=settings.allow_hosts,
        host_concurrency=settings.host_concurrency,
        host_rate=settings.host_rate,
        host_pause=settings.host_pause,
    )
    return HttpExecutor(parameters, secrets=secrets)


@asynccontextmanager
async def replay_of(container: Container, paths: Sequence[Path]) -> AsyncGenerator[Executor]:
    """A replay executor over these files. They are joined with the store's documents and change nothing in it.

    Raises:
        UsageError: a file is not there. BrokenInputError: it holds a line that cannot be read.
    """
    from agent.execution.replay import ReplayExecutor
    from graph.backends.memory import MemoryGraph
    from graph.backends.sqlite_recordings import SqliteRecordings
    from graph.function_names import NameIndex
    from graph.ingest import Ingest
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
