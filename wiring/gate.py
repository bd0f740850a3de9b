"""The gate over a store that is open."""

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from admission.gate import GateDeps
from admission.known_names import KnownNames
from agent.execution.secrets import Secrets
from domain.tool import STDIO, ToolId
from wiring.container import Container
from wiring.executors import live_executor
from wiring.settings import Settings


@asynccontextmanager
async def gate_deps(
    container: Container,
    secrets: Secrets,
    *,
    own: Collection[ToolId] = (),
    declared: str = "",
    allow_changes: bool = False,
    account_note: str = "",
) -> AsyncGenerator[GateDeps]:
    """What the gate works with, for one source. ``secrets``: those that its calls may send. ``own``: the ids of its tools that are
    admitted already. ``declared``: the address at which it was said to be.
    """
    known = KnownNames()
    async for tool in container.graph.documents():
        if tool.id not in own:
            known.add(tool.id, tool.function)
    executor = live_executor(container, secrets, "gate")
    try:
        yield GateDeps(
            executor, secrets, reach_of(container.settings), known, declared, allow_changes, account_note
        )  # fmt: skip
    finally:
        await executor.close()


def reach_of(settings: Settings):
    """Whether an address may be called, with all that its name resolves to."""
    from agent.execution.http.guard import Guard

    guard = Guard(settings.allow_hosts)

    async def reach(url: str) -> None:
        if url.startswith(STDIO):
            return  # an administrator's command: what may be started says FOOTPATH_MCP_COMMANDS
        guard.check_url(url)
        parts = urlsplit(url)
        await guard.addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    return reach
