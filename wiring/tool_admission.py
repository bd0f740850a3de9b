"""Admission and withdrawal of tools while the server runs.

The graph, the vectors, the words and the links follow, in this order. A tool whose document is there and whose vector
is missing is found by nobody, and one whose document is gone is offered to nobody: an interruption leaves at most a
tool that is not offered yet. :func:`reconcile` then brings the store to the state of the database.
"""

import logging
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId
from domain.tool_source import parse_source_id
from graph.take_overs import find_sensitive_changes, makes_different_tool, merge_known
from retriever.document_texts import build_dense_text, build_lexical_text, hash_text
from retriever.indexing import index_tools
from wiring.container import Container
from wiring.indexing import publish_fingerprint
from wiring.links import link_changed, link_pending

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AdmissionResult:
    """Result of an admission."""

    ids: tuple[ToolId, ...] = ()
    """Tools that are offered from now on, as requested."""
    changed: tuple[ToolId, ...] = ()
    """Tools among them whose documents changed."""
    linked: int = 0
    """Number of tools whose links were computed."""
    waiting: int = 0
    """Number of tools whose links are partial, and computed fully by the next build."""


@dataclass(frozen=True, slots=True)
class ReconcileResult:
    """Changes that brought the store to the state of the database."""

    admitted: tuple[ToolId, ...] = ()
    withdrawn: tuple[ToolId, ...] = ()
    kept: tuple[ToolId, ...] = ()
    """Tools that an import has taken over, and that were left to it."""


async def admit(container: Container, docs: Sequence[ToolDoc]) -> AdmissionResult:
    """Make documents of tool sources findable by requests; admitting the same again changes nothing.

    What runs have learnt of a tool that was here before is kept, unless it has become another tool.

    Raises:
        UsageError: a document is of no source, or its id is that of an imported tool.
        UnavailableError: the store, or its encoder, cannot be used; admitting again goes on.
    """
    async with container.change_lock:
        return await _admit(container, docs)


async def withdraw(container: Container, ids: Iterable[ToolId]) -> tuple[ToolId, ...]:
    """Remove tools of sources from all that is offered; return those that were there.

    What runs have learnt of them is kept.

    Raises:
        UsageError: one is an imported tool.
        UnavailableError: the store cannot be used; withdrawing again goes on.
    """
    async with container.change_lock:
        return await _withdraw(container, list(dict.fromkeys(ids)))


async def reconcile(
    container: Container,
    offered: Mapping[ToolId, ToolDoc],
    known_tools: Collection[ToolId] = (),
    *,
    check_indexes: bool = True,
) -> ReconcileResult:
    """Bring the store to the state of the database: it has all of ``offered``, and nothing else of ``known_tools``.

    ``known_tools``: ids of tools of sources. ``check_indexes``: check vectors and words too, rather than documents and links alone.
    Imported tools are never touched. Raises ``UnavailableError``.
    """
    async with container.change_lock:
        present = await container.graph.get_tools({*offered, *known_tools})
        outdated = await _find_outdated(container, offered, present, check_indexes=check_indexes)
        imported = {tool for tool, document in present.items() if parse_source_id(document.source) is None}
        missing = [document for document in outdated if document.id not in imported]
        if missing:
            await _admit(container, missing)
        tools_to_withdraw = [tool for tool in known_tools if tool not in offered and tool not in imported]
        withdrawn = await _withdraw(
            container, tools_to_withdraw if check_indexes else [tool for tool in tools_to_withdraw if tool in present]
        )
        await link_pending(container)
        left_to_imports = tuple(sorted(imported & offered.keys()))
        if missing or withdrawn or left_to_imports:
            _log.info(
                "sources of tools: %d admitted, %d withdrawn, %d left to imports",
                len(missing),
                len(withdrawn),
                len(left_to_imports),
            )
        return ReconcileResult(tuple(document.id for document in missing), withdrawn, left_to_imports)


async def _admit(container: Container, docs: Sequence[ToolDoc]) -> AdmissionResult:
    docs_by_id = {document.id: document for document in docs}
    if not docs_by_id:
        return AdmissionResult()
    present = await container.graph.get_tools(docs_by_id)
    _check_admissible(docs_by_id.values(), present)
    former = await container.graph.get_removed_tools(docs_by_id)
    other_tools = [
        tool
        for tool, old in {**former, **present}.items()
        if makes_different_tool(find_sensitive_changes(old, docs_by_id[tool]))
    ]
    if other_tools:
        await _forget_learnt(container, other_tools)
    merged = [
        merge_known(document, present.get(tool) or former.get(tool), is_different=tool in other_tools)
        for tool, document in docs_by_id.items()
    ]
    changed_docs = [document for document in merged if present.get(document.id) != document]
    await container.graph.put_tools(changed_docs)
    await _index_current(container, merged)
    changed = tuple(document.id for document in changed_docs)
    linked = await link_changed(container, [*changed, *await _find_unlinked(container, docs_by_id)])
    return AdmissionResult(tuple(docs_by_id), changed, linked.computed, linked.waiting)


async def _index_current(container: Container, docs: Sequence[ToolDoc]) -> None:
    """Index documents with the encoder in use, and with another one where a process switched to it meanwhile."""
    encoders = container.encoders
    await encoders.follow()
    while True:
        used = await encoders.get_current_vectors()
        embedder, index, lexical = await container.get_retrieval()
        await index_tools(_iterate_documents(docs), embedder, index, lexical)
        await publish_fingerprint(index, lexical)
        await encoders.follow()
        if (await encoders.get_current_vectors()).identity == used.identity:
            return


async def _find_unlinked(container: Container, tools: Iterable[ToolId]) -> list[ToolId]:
    """Return the tools whose links were not computed yet, after an interruption."""
    states = await container.graph.get_link_states()
    return [tool for tool in tools if tool not in states or states[tool].pending]


async def _withdraw(container: Container, ids: Sequence[ToolId]) -> tuple[ToolId, ...]:
    if not ids:
        return ()
    present = await container.graph.get_tools(ids)
    for document in present.values():
        if parse_source_id(document.source) is None:
            raise UsageError(f"{document.id} is no tool of a source: it was imported, and only a build can replace it")
    await container.encoders.follow()
    _, index, lexical = await container.get_retrieval()
    indexed = await index.fetch_vectors(ids)
    await container.graph.remove_tools(ids)
    await index.remove(indexed)
    if await lexical.remove(ids):
        await publish_fingerprint(index, lexical)
    await link_changed(container, list(present))
    return tuple(tool for tool in ids if tool in present or tool in indexed)


async def _find_outdated(
    container: Container, offered: Mapping[ToolId, ToolDoc], present: Mapping[ToolId, ToolDoc], *, check_indexes: bool
) -> list[ToolDoc]:
    """Return the documents of offered tools that requests would not find as they are."""
    if not offered:
        return []
    unindexed = await _find_unindexed(container, offered) if check_indexes else set[ToolId]()
    unindexed |= set(await _find_unlinked(container, offered))
    return [
        document
        for tool, document in offered.items()
        if tool not in present or tool in unindexed or merge_known(document, present[tool]) != present[tool]
    ]


async def _find_unindexed(container: Container, offered: Mapping[ToolId, ToolDoc]) -> set[ToolId]:
    """Return the tools without the vectors and words of their documents."""
    _, index, lexical = await container.get_retrieval()
    indexed, texts = await index.fetch_digests(), await lexical.read_texts()
    return {
        tool
        for tool, document in offered.items()
        if indexed.get(tool) != hash_text(build_dense_text(document)) or texts.get(tool) != build_lexical_text(document)
    }


def _check_admissible(docs: Iterable[ToolDoc], present: Mapping[ToolId, ToolDoc]) -> None:
    for document in docs:
        if parse_source_id(document.source) is None:
            raise UsageError(f"{document.id} is of no source of tools: its document names none as its source")
        old = present.get(document.id)
        if old is not None and parse_source_id(old.source) is None:
            raise UsageError(
                f"{document.id} is a tool already, from {old.source or 'an earlier import'}: "
                "give the source another category, or another tool set"
            )


async def _forget_learnt(container: Container, tools: Collection[ToolId]) -> None:
    """Forget what was learnt of tools that have become other tools, in the graph and outside it."""
    from wiring.store_build import create_forgetter

    await create_forgetter(container)(tools)
    await container.graph.reset_tools(tools)


async def _iterate_documents(documents: Sequence[ToolDoc]) -> AsyncIterator[ToolDoc]:
    for document in documents:
        yield document
