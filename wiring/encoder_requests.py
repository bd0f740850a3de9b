"""A store's own requests, with the tools that they need: what encoders are compared on."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest
from typing import Literal

from admission.made_requests import made_requests
from agent.solutions.patterns import as_asked
from domain.tool import ToolDoc, ToolId
from evaluation.offer_requests import Labelled
from evaluation.offers import Needed, Request, resolved
from wiring.container import Container

MOST = 120
"""Requests that are asked of both: a minute or two."""
_ENOUGH = 30
"""Fewer of the store's own, and questions made from tools' documents are asked, too."""

Origin = Literal["given", "memory", "solution", "made"]
Found = tuple[Origin, Request, bool]
"""Where a request is from, and whether its words may be told."""


@dataclass(frozen=True, slots=True)
class Judged:
    """``shown``: the ids of those whose words may be told: those that all share, or that nobody asked. ``origins``: where they are from."""

    requests: tuple[Request, ...]
    shown: frozenset[str]
    origins: Mapping[str, int]


async def judged_requests(container: Container, given: Sequence[Labelled] | None = None) -> Judged:
    """Those that were given; else what was served before and what solutions serve, and where there is little, questions made from documents. The same ones each time."""
    docs = {tool.id: tool async for tool in container.graph.documents()}
    if given is not None:
        found = resolved(given, docs).requests
        known = tuple(one for one in found if any(needed.ids for needed in one.needed))
        return _judged([("given", one, True) for one in known])
    own = _chosen([*await _of_memories(container, docs), *await _of_solutions(container, docs)], MOST)
    if len(own) < _ENOUGH:
        own += await asyncio.to_thread(_made, list(docs.values()), MOST // 2)
    return _judged(own)


def _judged(found: Sequence[Found]) -> Judged:
    shown = frozenset(one.id for _, one, told in found if told)
    return Judged(tuple(one for _, one, _ in found), shown, Counter(origin for origin, _, _ in found))


async def _of_memories(container: Container, docs: Collection[ToolId]) -> list[Found]:
    memories = await container.memories()
    return [
        ("memory", _request(one.id, one.request, one.path), not one.owner)
        async for one in memories.all()
        if one.path and all(tool in docs for tool in one.path)
    ]


async def _of_solutions(container: Container, docs: Collection[ToolId]) -> list[Found]:
    store = await container.solution_store()
    return [
        ("solution", _request(f"{one.id} {number}", as_asked(text, one.plan.inputs), one.path), not one.owner)
        async for one in store.all()
        if one.path and all(tool in docs for tool in one.path)
        for number, text in enumerate(one.patterns)
    ]


def _made(docs: Sequence[ToolDoc], most: int) -> list[Found]:
    found: list[Found] = []
    for tool in nsmallest(most, docs, key=lambda one: _number(one.id)):
        found.extend(("made", _request(tool.id, text, [tool.id]), True) for text in made_requests(tool, most=1))
    return found


def _request(name: str, text: str, path: Iterable[ToolId]) -> Request:
    return Request(name, text, "", tuple(Needed(tool, frozenset({tool})) for tool in dict.fromkeys(path)))


def _chosen(found: Sequence[Found], most: int) -> list[Found]:
    """Each wording once, the shared ones first; and of more than enough always the same."""
    apart = {one[1].query: one for one in sorted(found, key=lambda one: one[2])}
    return nsmallest(most, apart.values(), key=lambda one: _number(one[1].query))


def _number(text: str) -> bytes:
    return blake2b(text.encode()).digest()
