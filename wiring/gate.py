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
from retriever.search import ToolSearch
from retriever.what_if import augment_indexes
from wiring.container import Container
from wiring.executors import create_live_executor
from wiring.experience import StoreExperience
from wiring.reranker import get_reranker
from wiring.settings import Settings

_SERVED = 5
"""Number of similar served requests that a sample request of a new tool is compared with."""


@asynccontextmanager
async def open_gate_deps(
    container: Container,
    secrets: SecretStore,
    *,
    own: Collection[ToolId] = (),
    declared: str = "",
    keys_of: KeyOwner = "caller",
    allow_changes: bool = False,
    account_note: str = "",
    hidden: Collection[ToolId] = (),
) -> AsyncGenerator[GateDeps]:
    """Yield what the gate works with, for one source.

    ``secrets``: those that its calls may send. ``own``: ids of its tools that are admitted already. ``declared``: the
    address at which it was said to be. ``hidden``: tools that readers of the findings may not know of.
    """
    known_names = await _collect_names(container, own, frozenset(hidden))
    executor = create_live_executor(container, secrets, "gate", container.host_memory.copy_without_history())
    try:
        yield GateDeps(
            executor=executor,
            secrets=secrets,
            reach=build_reach_check(container.settings),
            known=known_names,
            declared=declared,
            keys_of=keys_of,
            allow_changes=allow_changes,
            account_note=account_note,
            judge=create_judge(container),
            search=create_what_if_search(container, known_names.hidden),
        )
    finally:
        await executor.close()


async def _collect_names(container: Container, own: Collection[ToolId], hidden: frozenset[ToolId]) -> KnownNames:
    """Collect the names of all tools; of two tools with the same name, one that may be shown is kept."""
    known_names, unseen = KnownNames(hidden=hidden), list[ToolDoc]()
    async for tool in container.graph.documents():
        if tool.id in hidden:
            unseen.append(tool)
        elif tool.id not in own:
            known_names.add(tool.id, tool.function)
    for tool in unseen:
        if tool.id not in own:
            known_names.add(tool.id, tool.function)
    return known_names


def build_reach_check(settings: Settings) -> ReachabilityCheck:
    """Return a check whether an address may be called, with all that its name resolves to."""
    from agent.execution.http.guard import AddressGuard

    guard = AddressGuard(settings.allow_hosts)

    async def reach(url: str) -> None:
        if url.startswith(STDIO):
            return  # an administrator's command: FOOTPATH_MCP_COMMANDS decides what may be started
        guard.check_url(url)
        parts = urlsplit(url)
        await guard.resolve_addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    return reach


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

        async def served(request: str) -> Sequence[ServedRequest]:
            (vector,) = await embedder.embed([request], "query")
            near = await memories.find_similar(vector.tolist(), embedder.identity, "", _SERVED)
            memories_of = (one.memory for one in near)
            return [
                ServedRequest(one.request, one.path, may_be_shown=hidden.isdisjoint(one.path)) for one in memories_of
            ]

        return SearchComparison(before, after, served, hidden)

    return search_with
