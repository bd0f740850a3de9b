"""Executors: one that makes calls, and one that answers a single command from files of recorded calls."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from agent.execution.executor import Executor, RoutedExecutor
from agent.execution.host_memory import HostMemory
from agent.execution.json_client import JsonHttpClient
from agent.execution.secret_store import SecretStore
from domain.errors import UsageError
from domain.side_effect import MCP
from wiring.container import Container
from wiring.settings import Settings

if TYPE_CHECKING:
    from agent.execution.http import HttpParameters
    from agent.execution.mcp import McpParameters


def build_http_parameters(settings: Settings) -> "HttpParameters":
    """Return the limits of calls."""
    from agent.execution.http import HttpParameters

    return HttpParameters(
        timeout=settings.call_timeout,
        response_limit=settings.response_limit,
        attempts=settings.call_attempts,
        allow_hosts=settings.allow_hosts,
        host_concurrency=settings.host_concurrency,
        host_rate=settings.host_rate,
        host_pause=settings.host_pause,
    )


def create_live_executor(
    container: Container, secrets: SecretStore, owner: str = "", memory: HostMemory | None = None
) -> Executor:
    """Create an executor that makes calls, over HTTP and to MCP servers, with these secrets; the caller closes it.

    ``owner``: separates its sessions with MCP servers and its refused keys from those of others. ``memory``: of hosts,
    in place of the container's.
    """
    from agent.execution.http import HttpExecutor

    def create_mcp_executor() -> Executor:
        from agent.execution.mcp import McpExecutor

        return McpExecutor(container.mcp_sessions(), secrets=secrets, owner=owner)

    http = HttpExecutor(
        build_http_parameters(container.settings), secrets=secrets, memory=memory or container.host_memory, owner=owner
    )
    return RoutedExecutor(http, {MCP: create_mcp_executor})


def build_mcp_parameters(settings: Settings) -> "McpParameters":
    """Return the limits of sessions with MCP servers, and the commands that may be started.

    ``UsageError`` where a variable that a command names is not set.
    """
    from agent.execution.mcp import McpParameters, ServerCommand
    from agent.execution.mcp.parameters import MIB

    commands = {
        name: ServerCommand(
            mcp_command.command,
            _read_environment(name, mcp_command.environment),
            frozenset(mcp_command.keys),
            mcp_command.folder,
            mcp_command.memory * MIB,
            mcp_command.cpu,
            mcp_command.file * MIB,
        )
        for name, mcp_command in settings.mcp_commands.items()
    }
    return McpParameters(http=build_http_parameters(settings), commands=commands, sessions=settings.mcp_sessions)


def _read_environment(command: str, names: Sequence[str]) -> dict[str, str]:
    if missing := [name for name in names if name not in os.environ]:
        raise UsageError(
            f"FOOTPATH_MCP_COMMANDS gives {command} the variable {missing[0]}, which is not set; set it, or take it out"
        )
    return {name: os.environ[name] for name in names}


@asynccontextmanager
async def open_replay(container: Container, paths: Sequence[Path]) -> AsyncGenerator[Executor]:
    """Yield a replay executor over these files.

    They are joined with the store's documents, and the store is not changed.

    Raises:
        UsageError: a file is not there.
        BrokenInputError: it holds a line that cannot be read.
    """
    from agent.execution.replay import ReplayExecutor
    from graph.backends.in_memory import InMemoryGraph
    from graph.backends.sqlite_recordings import SqliteRecordings
    from graph.function_names import NameIndex
    from graph.ingest import GraphImporter
    from graph.input_files import read_records

    sources = [read_records(path, "calls") for path in paths]
    with TemporaryDirectory(prefix="footpath-calls-") as folder:
        recordings = SqliteRecordings(Path(folder) / "recordings.db")
        try:
            await recordings.setup()
            names = NameIndex()
            async for document in container.graph.stream_documents():
                names.add(document)
            ingest = GraphImporter(InMemoryGraph(), recordings, _ignore_progress, strict=True)
            for source in sources:
                await ingest.import_records(source, names)
            yield ReplayExecutor(recordings, floor=container.settings.replay_floor)
        finally:
            await recordings.close()


def _ignore_progress(stage: str, done: int, total: int | None) -> None:
    """Ignore the progress: reading a file of calls is over before a bar could be read."""


@asynccontextmanager
async def open_json_client(settings: Settings) -> AsyncGenerator[JsonHttpClient]:
    """Yield a client that connects when first used; it is closed at the end."""
    from agent.execution.http.guard import AddressGuard
    from agent.execution.http.guarded_json_client import GuardedJsonClient

    client = GuardedJsonClient(AddressGuard(settings.allow_hosts))
    try:
        yield client
    finally:
        await client.close()
