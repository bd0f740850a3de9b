"""Admission and withdrawal of tools while the server runs.

The graph, the vectors, the words and the links follow, in this order. A tool whose document is there and whose vector
is missing is found by nobody, and one whose document is gone is offered to nobody: an interruption leaves at most a
tool that is not offered yet. :func:`reconcile` then brings the store to the state of the database.
"""

import logging
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.errors import UsageError
from domain.source import source_id_of
from domain.tool import ToolDoc, ToolId
from graph.take_overs import makes_another, sensitive_changes, with_known
from retriever.documents import dense_text, digest, lexical_text
from retriever.indexing import index_tools
from wiring.container import Container
from wiring.indexing import tell_of_words
from wiring.links import link_changed, link_pending

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Admitted:
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
class Reconciled:
    """Changes that brought the store to the state of the database."""

    admitted: tuple[ToolId, ...] = ()
    withdrawn: tuple[ToolId, ...] = ()
    kept: tuple[ToolId, ...] = ()
    """Tools that an import has taken over, and that were left to it."""


async def admit(container: Container, docs: Sequence[ToolDoc]) -> Admitted:
    """Make documents of tool sources findable by requests; admitting the same again changes nothing.

    What runs have learnt of a tool that was here before is kept, unless it has become another tool.

    Raises:
        UsageError: a document is of no source, or its id is that of an imported tool.
        UnavailableError: the store, or its encoder, cannot be used; admitting again goes on.
    """
    async with container.changing:
        return await _admit(container, docs)


async def withdraw(container: Container, ids: Iterable[ToolId]) -> tuple[ToolId, ...]:
    """Remove tools of sources from all that is offered; return those that were there.

    What runs have learnt of them is kept.

    Raises:
        UsageError: one is an imported tool.
        UnavailableError: the store cannot be used; withdrawing again goes on.
    """
    async with container.changing:
        return await _withdraw(container, list(dict.fromkeys(ids)))


async def reconcile(
    container: Container, offered: Mapping[ToolId, ToolDoc], known: Collection[ToolId] = (), *, whole: bool = True
) -> Reconciled:
    """Bring the store to the state of the database: it has all of ``offered``, and nothing else of ``known``.

    ``known``: ids of tools of sources. ``whole``: check vectors and words too, rather than documents and links alone.
    Imported tools are never touched. Raises ``UnavailableError``.
    """
    async with container.changing:
        there = await container.graph.get_tools({*offered, *known})
        late = await _late(container, offered, there, whole=whole)
        imported = {tool for tool, document in there.items() if source_id_of(document.source) is None}
        missing = [document for document in late if document.id not in imported]
        if missing:
            await _admit(container, missing)
        out = [tool for tool in known if tool not in offered and tool not in imported]
        gone = await _withdraw(container, out if whole else [tool for tool in out if tool in there])
        await link_pending(container)
        kept = tuple(sorted(imported & offered.keys()))
        if missing or gone or kept:
            _log.info(
                "sources of tools: %d admitted, %d withdrawn, %d left to imports", len(missing), len(gone), len(kept)
            )
        return Reconciled(tuple(document.id for document in missing), gone, kept)


async def _admit(container: Container, docs: Sequence[ToolDoc]) -> Admitted:
    chosen = {document.id: document for document in docs}
    if not chosen:
        return Admitted()
    there = await container.graph.get_tools(chosen)
    _check(chosen.values(), there)
    former = await container.graph.removed_tools(chosen)
    others = [tool for tool, old in {**former, **there}.items() if makes_another(sensitive_changes(old, chosen[tool]))]
    if others:
        await _forget(container, others)
    wanted = [
        with_known(document, there.get(tool) or former.get(tool), another=tool in others)
        for tool, document in chosen.items()
    ]
    news = [document for document in wanted if there.get(document.id) != document]
    await container.graph.put_tools(news)
    await _index(container, wanted)
    changed = tuple(document.id for document in news)
    linked = await link_changed(container, [*changed, *await _unlinked(container, chosen)])
    return Admitted(tuple(chosen), changed, linked.computed, linked.waiting)


async def _index(container: Container, docs: Sequence[ToolDoc]) -> None:
    """Index documents with the encoder in use, and with another one where a process switched to it meanwhile."""
    encoders = container.encoders
    await encoders.follow()
    while True:
        used = await encoders.current()
        embedder, index, lexical = await container.retrieval()
        await index_tools(_each(docs), embedder, index, lexical)
        await tell_of_words(index, lexical)
        await encoders.follow()
        if (await encoders.current()).identity == used.identity:
            return


async def _unlinked(container: Container, tools: Iterable[ToolId]) -> list[ToolId]:
    """Return the tools whose links were not computed yet, after an interruption."""
    states = await container.graph.link_states()
    return [tool for tool in tools if tool not in states or states[tool].pending]


async def _withdraw(container: Container, ids: Sequence[ToolId]) -> tuple[ToolId, ...]:
    if not ids:
        return ()
    there = await container.graph.get_tools(ids)
    for document in there.values():
        if source_id_of(document.source) is None:
            raise UsageError(f"{document.id} is no tool of a source: it was imported, and only a build can replace it")
    await container.encoders.follow()
    _, index, lexical = await container.retrieval()
    indexed = await index.vectors(ids)
    await container.graph.remove_tools(ids)
    await index.remove(indexed)
    if await lexical.remove(ids):
        await tell_of_words(index, lexical)
    await link_changed(container, list(there))
    return tuple(tool for tool in ids if tool in there or tool in indexed)


async def _late(
    container: Container, offered: Mapping[ToolId, ToolDoc], there: Mapping[ToolId, ToolDoc], *, whole: bool
) -> list[ToolDoc]:
    """Return the documents of offered tools that requests would not find as they are."""
    if not offered:
        return []
    unfound = await _unfound(container, offered) if whole else set[ToolId]()
    unfound |= set(await _unlinked(container, offered))
    return [
        document
        for tool, document in offered.items()
        if tool not in there or tool in unfound or with_known(document, there[tool]) != there[tool]
    ]


async def _unfound(container: Container, offered: Mapping[ToolId, ToolDoc]) -> set[ToolId]:
    """Return the tools without the vectors and words of their documents."""
    _, index, lexical = await container.retrieval()
    indexed, texts = await index.digests(), await lexical.texts()
    return {
        tool
        for tool, document in offered.items()
        if indexed.get(tool) != digest(dense_text(document)) or texts.get(tool) != lexical_text(document)
    }


def _check(docs: Iterable[ToolDoc], there: Mapping[ToolId, ToolDoc]) -> None:
    for document in docs:
        if source_id_of(document.source) is None:
            raise UsageError(f"{document.id} is of no source of tools: its document names none as its source")
        old = there.get(document.id)
        if old is not None and source_id_of(old.source) is None:
            raise UsageError(
                f"{document.id} is a tool already, from {old.source or 'an earlier import'}: "
                "give the source another category, or another tool set"
            )


async def _forget(container: Container, tools: Collection[ToolId]) -> None:
    """Forget what was learnt of tools that have become other tools, in the graph and outside it."""
    from wiring.build import forget_beside

    await forget_beside(container)(tools)
    await container.graph.begin_anew(tools)


async def _each(documents: Sequence[ToolDoc]) -> AsyncIterator[ToolDoc]:
    for document in documents:
        yield document
