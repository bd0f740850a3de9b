"""Setup of the gate over a store that is open."""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from admission.address_check import Reach
from admission.findability import Served, WhatIf, WithTools
from admission.gate import GateDeps
from admission.known_names import KnownNames
from admission.model_judge import ModelJudge
from admission.quality import Judge
from agent.execution.secrets import Secrets
from domain.source import KeysOf
from domain.tool import STDIO, ToolDoc, ToolId
from retriever.search import ToolSearch
from retriever.what_if import with_tools
from wiring.container import Container
from wiring.executors import live_executor
from wiring.experience import StoreExperience
from wiring.reranker import reranker_for
from wiring.settings import Settings

_SERVED = 5
"""Number of served requests that are compared, of those most like one that is made for a new tool."""


@asynccontextmanager
async def gate_deps(
    container: Container,
    secrets: Secrets,
    *,
    own: Collection[ToolId] = (),
    declared: str = "",
    keys_of: KeysOf = "caller",
    allow_changes: bool = False,
    account_note: str = "",
    hidden: Collection[ToolId] = (),
) -> AsyncGenerator[GateDeps]:
    """Yield what the gate works with, for one source.

    ``secrets``: those that its calls may send. ``own``: ids of its tools that are admitted already. ``declared``: the
    address at which it was said to be. ``hidden``: tools that readers of the findings may not know of.
    """
    known = await _known(container, own, frozenset(hidden))
    executor = live_executor(container, secrets, "gate", container.host_memory.without_history())
    try:
        yield GateDeps(
            executor=executor,
            secrets=secrets,
            reach=reach_of(container.settings),
            known=known,
            declared=declared,
            keys_of=keys_of,
            allow_changes=allow_changes,
            account_note=account_note,
            judge=judge_of(container),
            search=search_of(container, known.hidden),
        )
    finally:
        await executor.close()


async def _known(container: Container, own: Collection[ToolId], hidden: frozenset[ToolId]) -> KnownNames:
    """Collect the names of all tools; of two tools with the same name, one that may be shown is kept."""
    known, unseen = KnownNames(hidden=hidden), list[ToolDoc]()
    async for tool in container.graph.documents():
        if tool.id in hidden:
            unseen.append(tool)
        elif tool.id not in own:
            known.add(tool.id, tool.function)
    for tool in unseen:
        if tool.id not in own:
            known.add(tool.id, tool.function)
    return known


def reach_of(settings: Settings) -> Reach:
    """Return a check whether an address may be called, with all that its name resolves to."""
    from agent.execution.http.guard import Guard

    guard = Guard(settings.allow_hosts)

    async def reach(url: str) -> None:
        if url.startswith(STDIO):
            return  # an administrator's command: FOOTPATH_MCP_COMMANDS decides what may be started
        guard.check_url(url)
        parts = urlsplit(url)
        await guard.addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    return reach


def judge_of(container: Container) -> Judge | None:
    """Return the judge that asks the language model for it; None where there is none."""
    found = container.judging_model()
    return None if found is None else ModelJudge(*found)


def search_of(container: Container, hidden: frozenset[ToolId] = frozenset()) -> WithTools:
    """Return the store's search as it would be with further tools, over walks and shared memories."""

    async def searched(tools: Sequence[ToolDoc]) -> WhatIf:
        before = await container.search()
        embedder, index, lexical = await container.retrieval()
        vectors, words = await with_tools(embedder, index, lexical, tools)
        memories = await container.memories_in_reach()
        reranker = await reranker_for(container.settings, embedder)
        experience = None if reranker is None else StoreExperience(container.graph, memories, embedder)
        after = ToolSearch(embedder, vectors, words, reranker=reranker, experience=experience)

        async def served(request: str) -> Sequence[Served]:
            (vector,) = await embedder.embed([request], "query")
            near = await memories.near(vector.tolist(), embedder.identity, "", _SERVED)
            memories_of = (one.memory for one in near)
            return [Served(one.request, one.path, told=hidden.isdisjoint(one.path)) for one in memories_of]

        return WhatIf(before, after, served, hidden)

    return searched
