"""Setup of the admission gate over an open store: executor, known names, judge and search."""

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from admission.address_check import ReachabilityCheck
from admission.findability import SearchComparison, SearchWithTools, ServedRequest
from admission.gate import GateDeps
from admission.known_names import KnownNames
from admission.model_judge import ModelJudge
from admission.quality import QualityJudge
from agent.execution.secret_store import SecretStore
from domain.tool import STDIO, ToolDoc, ToolId
from domain.tool_source import KeyOwner
from retriever.index_views import augment_indexes
from retriever.search import ToolSearch
from wiring.container import Container
from wiring.executors import create_live_executor
from wiring.reranker import StoreExperience, get_reranker
from wiring.settings import Settings

_MAX_SERVED = 5
"""Number of similar served requests that a sample request of a new tool is compared with."""


@asynccontextmanager
async def open_gate_deps(
    container: Container,
    secrets: SecretStore,
    *,
    own_tools: Collection[ToolId] = (),
    declared: str = "",
    keys_of: KeyOwner = "caller",
    allow_changes: bool = False,
    account_note: str = "",
    hidden: Collection[ToolId] = (),
) -> AsyncGenerator[GateDeps]:
    """Yield what the gate works with, for one source.

    ``secrets``: those that its calls may send. ``own_tools``: ids of its tools that are admitted already. ``declared``: the
    address at which it was said to be. ``hidden``: tools that readers of the findings may not know of.
    """
    known_names = await _collect_names(container, own_tools, frozenset(hidden))
    executor = create_live_executor(container, secrets, "gate", container.host_memory.copy_without_history())
    try:
        yield GateDeps(
            executor=executor,
            secrets=secrets,
            check_reachable=build_reachability_check(container.settings),
            known_names=known_names,
            declared_address=declared,
            keys_of=keys_of,
            allow_changes=allow_changes,
            account_note=account_note,
            judge=create_judge(container),
            search_with_tools=create_what_if_search(container, known_names.hidden),
        )
    finally:
        await executor.close()


async def _collect_names(container: Container, own_tools: Collection[ToolId], hidden: frozenset[ToolId]) -> KnownNames:
    """Collect the names of all tools; of two tools with the same name, one that may be shown is kept."""
    known_names, hidden_docs = KnownNames(hidden=hidden), list[ToolDoc]()
    async for tool in container.graph.stream_documents():
        if tool.id in hidden:
            hidden_docs.append(tool)
        elif tool.id not in own_tools:
            known_names.add(tool.id, tool.function)
    for tool in hidden_docs:
        if tool.id not in own_tools:
            known_names.add(tool.id, tool.function)
    return known_names


def build_reachability_check(settings: Settings) -> ReachabilityCheck:
    """Return a check whether an address may be called, with all that its name resolves to."""
    from agent.execution.http.guard import AddressGuard

    guard = AddressGuard(settings.allow_hosts)

    async def check_reachable(url: str) -> None:
        if url.startswith(STDIO):
            return  # an administrator's command: FOOTPATH_MCP_COMMANDS decides what may be started
        guard.check_url(url)
        parts = urlsplit(url)
        await guard.resolve_addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    return check_reachable


def create_judge(container: Container) -> QualityJudge | None:
    """Return the judge that asks the language model for it; None where there is none."""
    model = container.judging_model()
    return None if model is None else ModelJudge(*model)


def create_what_if_search(container: Container, hidden: frozenset[ToolId] = frozenset()) -> SearchWithTools:
    """Return the store's search as it would be with further tools, over walks and shared memories."""

    async def search_with(tools: Sequence[ToolDoc]) -> SearchComparison:
        before = await container.open_search()
        embedder, index, lexical = await container.get_retrieval()
        vectors, words = await augment_indexes(embedder, index, lexical, tools)
        memories = await container.memories_or_unavailable()
        reranker = await get_reranker(container.settings, embedder)
        experience = None if reranker is None else StoreExperience(container.graph, memories, embedder)
        after = ToolSearch(embedder, vectors, words, reranker=reranker, experience=experience)

        async def find_served(request: str) -> Sequence[ServedRequest]:
            (vector,) = await embedder.embed([request], "query")
            hits = await memories.find_similar(vector.tolist(), embedder.identity, "", _MAX_SERVED)
            recalled_memories = (entry.memory for entry in hits)
            return [
                ServedRequest(entry.request, entry.path, may_be_shown=hidden.isdisjoint(entry.path))
                for entry in recalled_memories
            ]

        return SearchComparison(before, after, find_served, hidden)

    return search_with
