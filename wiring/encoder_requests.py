"""Requests of a store with the tools that they need: the data on which encoders are compared."""

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
"""Number of requests that both encoders get: a minute or two."""
_ENOUGH = 30
"""With fewer requests of the store's own, questions made from tools' documents are used too."""

Origin = Literal["given", "memory", "solution", "made"]
Found = tuple[Origin, Request, bool]
"""A request with its origin, and True where its text may be shown."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Requests for a comparison."""

    requests: tuple[Request, ...]
    shown: frozenset[str]
    """Ids of requests whose text may be shown: those that all users share, or that nobody asked."""
    origins: Mapping[str, int]
    """Number of requests of each origin."""


async def judged_requests(container: Container, given: Sequence[Labelled] | None = None) -> Judged:
    """Return the requests to compare encoders on, the same ones each time.

    These are the given ones, else requests that memories and solutions served; where they are few, also questions made
    from documents.
    """
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
    """Choose requests: each wording once, shared ones first; of more than ``most``, always the same."""
    apart = {one[1].query: one for one in sorted(found, key=lambda one: one[2])}
    return nsmallest(most, apart.values(), key=lambda one: _number(one[1].query))


def _number(text: str) -> bytes:
    return blake2b(text.encode()).digest()
