"""A page of tools: browsed in the order of their ids, or found by the search that runs use, with its own scores.

Nothing is read but the documents of what is shown. Where only a look into a document tells whether a tool is wanted, so many are looked at for
one page and no more: the page is then shorter, and says where to go on.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from domain.errors import UsageError
from domain.tool import ToolDoc, ToolId
from domain.tool_source import parse_source_id
from graph.evidence import to_timestamp
from graph.facts import ToolFacts
from graph.weights import compute_availability
from retriever.search import ToolHit
from server.library.catalogue import after as behind
from server.library.catalogue import selected
from wiring.container import Container

MOST_FOUND = 200
"""Tools of one search, whatever page of them is asked for: asked for more at once, it might order them otherwise."""
_LOOKED_AT = 2_000
_AT_ONCE = 200

Effect = Literal["reads", "changes", "unknown"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tools; what is empty selects nothing out. ``source``: the id of a source of tools."""

    query: str = ""
    category: str = ""
    toolset: str = ""
    effect: Effect | None = None
    source: str | None = None

    def fits(self, doc: ToolDoc) -> bool:
        """Whether its document is of what is wanted."""
        named = self.category in ("", doc.category) and self.toolset in ("", doc.toolset)
        of_source = self.source is None or parse_source_id(doc.source) == self.source
        return named and of_source and self.effect in (None, doc.effect.kind)


@dataclass(frozen=True, slots=True)
class Listed:
    """``availability`` None: untested; ``facts``: what it stands on. ``hit``: how it was found, where it was searched for."""

    doc: ToolDoc
    availability: float | None
    facts: ToolFacts | None = None
    hit: ToolHit | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """``next``: what to go on after; None: there is no more. ``total``: how many there are in all, as far as ids tell."""

    tools: list[Listed]
    next: str | None
    total: int


async def listed(container: Container, wanted: Wanted, after: str, limit: int) -> Page:
    """The page behind ``after``. ``UsageError``: there is no such page."""
    return await (_found if wanted.query.strip() else _browsed)(container, wanted, after, limit)


async def _browsed(container: Container, wanted: Wanted, after: str, limit: int) -> Page:
    ids = await container.list_searched_tools()
    chosen = await asyncio.to_thread(selected, ids, wanted.category, wanted.toolset)
    rest, shown = behind(chosen, after), list[Listed]()
    at_once = _AT_ONCE if wanted.effect or wanted.source else limit + 1
    for start in range(0, min(len(rest), _LOOKED_AT), at_once):
        for one in await read(container, rest[start : start + at_once]):
            if wanted.fits(one.doc) and len(shown) == limit:
                return Page(shown, shown[-1].doc.id, len(chosen))
            if wanted.fits(one.doc):
                shown.append(one)
    return Page(shown, rest[_LOOKED_AT - 1] if len(rest) > _LOOKED_AT else None, len(chosen))


async def _found(container: Container, wanted: Wanted, after: str, limit: int) -> Page:
    if after and not (after.isdecimal() and int(after) < MOST_FOUND):
        raise UsageError(f"a search goes on after what its page gave as next: a number below {MOST_FOUND}")
    if not await container.list_searched_tools():
        return Page([], None, 0)
    where = {"category": wanted.category} if wanted.category else None
    hits = await (await container.open_search()).find_tools(wanted.query, MOST_FOUND, where)
    found = await read(container, (hit.id for hit in hits), {hit.id: hit for hit in hits})
    fitting, start = [one for one in found if wanted.fits(one.doc)], int(after or 0)
    end = start + limit
    return Page(fitting[start:end], str(end) if end < len(fitting) else None, len(fitting))


async def read(
    container: Container, ids: Iterable[ToolId], hits: Mapping[ToolId, ToolHit] | None = None
) -> list[Listed]:
    """What is shown of tools, in order; those that have no document any more are left out."""
    wanted = list(ids)
    docs, facts = await asyncio.gather(container.graph.get_tools(wanted), container.graph.get_facts(wanted))
    now, hits = to_timestamp(), hits or {}
    return [
        Listed(
            docs[tool],
            compute_availability(facts[tool], container.weights, now) if tool in facts else None,
            facts.get(tool),
            hits.get(tool),
        )
        for tool in wanted
        if tool in docs
    ]
