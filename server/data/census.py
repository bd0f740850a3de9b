"""A store counted: its tools, what leads from one to another, and how they answer."""

from collections import Counter
from collections.abc import Mapping

from pydantic import Field

from domain.model import Model
from domain.tool import FINISH
from domain.tool_source import parse_source_id
from graph.evidence import to_timestamp
from graph.weights import compute_availability
from wiring.container import Container

MOST = 200
"""Names that are counted one by one; what is left is told together."""
_STEPS = 10


class Count(Model):
    """So many under one name."""

    name: str
    count: int


class ToolCounts(Model):
    """``sources``: where tools are from: sources of tools, files of imports. ``effects``: reads, changes, or unknown, which counts as one that changes.

    ``callable``: those that have an address.
    """

    total: int
    categories: list[Count]
    sources: list[Count]
    effects: dict[str, int]
    callable: int


class EdgeCounts(Model):
    """Ways from one tool to the next, by what they rest on: ``imported`` trajectories, ``live`` runs, or ``both``; ``finish``: of all, those that end. ``marks``: what
    administrators said. ``feeds`` and ``substitutes`` are links; ``pending``: tools whose links are not computed yet.
    """

    total: int
    imported: int
    live: int
    both: int
    finish: int
    marks: dict[str, int]
    feeds: int
    substitutes: int
    pending: int


class Availabilities(Model):
    """Tools by the chance that a call succeeds, in tenths: ``tenths[9]`` is 0.9 to 1. ``untested``: nobody has called them."""

    tenths: list[int] = Field(min_length=_STEPS, max_length=_STEPS)
    untested: int


async def tool_counts(container: Container, names: Mapping[str, str]) -> ToolCounts:
    """All documents are read once. ``names``: of sources of tools, by id."""
    categories, sources, effects = Counter[str](), Counter[str](), Counter[str]()
    total = callable_ones = 0
    async for doc in container.graph.stream_documents():
        total += 1
        callable_ones += bool(doc.url)
        categories[doc.category] += 1
        of_source = parse_source_id(doc.source)
        sources[doc.source if of_source is None else names.get(of_source, doc.source)] += 1
        effects[doc.effect.kind] += 1
    return ToolCounts(
        total=total, categories=_most(categories), sources=_most(sources), effects=effects, callable=callable_ones
    )


async def edge_counts(container: Container) -> EdgeCounts:
    """All edges are read once."""
    by, marks = Counter[str](), Counter[str]()
    finish = 0
    async for edge in container.graph.stream_edges():
        finish += edge.target == FINISH
        by["both" if edge.imported and edge.live else "imported" if edge.imported else "live"] += 1
        if edge.mark:
            marks[edge.mark] += 1
    links = await container.graph.count_links()
    return EdgeCounts(
        total=by.total(), imported=by["imported"], live=by["live"], both=by["both"], finish=finish, marks=marks,
        feeds=links.feeds, substitutes=links.substitutes, pending=links.pending,
    )  # fmt: skip


async def availabilities(container: Container) -> Availabilities:
    """All nodes are read once; those without a document are no tools that could be called."""
    tenths, untested, now = [0] * _STEPS, 0, to_timestamp()
    async for tool, facts in container.graph.stream_nodes():
        chance = None if tool == FINISH else compute_availability(facts, container.weights, now)
        if chance is not None:
            tenths[min(int(chance * _STEPS), _STEPS - 1)] += 1
        elif tool != FINISH:
            untested += 1
    return Availabilities(tenths=tenths, untested=untested)


def _most(counted: Counter[str]) -> list[Count]:
    found = [Count(name=name, count=count) for name, count in counted.most_common(MOST)]
    rest = counted.total() - sum(one.count for one in found)
    return [*found, Count(name="", count=rest)] if rest else found
