"""Figures of rankings: means with intervals by group, split, seen and unseen APIs, and paired differences.

``seen`` and ``unseen`` repeat the measures with one half of the relevant APIs each: those on an accepted path of the store's
trajectories or otherwise trained on, and the others; the other half then leaves the ranking, so that finding it is neither
a hit nor a miss. ``zero_shot`` takes nothing out: it holds the requests none of whose relevant APIs was seen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from evaluation.api_keys import Key, key_of
from evaluation.intervals import intervals
from evaluation.queries import Query
from evaluation.retrieval import MEASURES, Scored, by_name, measured
from graph.store import GraphStore

ALL = "all"
Part = dict[str, Any]
"""Figures of some requests: ``n``, the mean of each measure, and ``intervals`` with both ends for each."""
Row = dict[str, dict[str, Part]]
"""Parts by section (groups, splits, seen, unseen, zero_shot) and name."""


@dataclass(frozen=True, slots=True)
class Known:
    """The relevant APIs that a store knows, and in which way."""

    relevant: frozenset[Key]
    documented: frozenset[Key]
    """Relevant APIs with a document in the store."""
    seen: frozenset[Key]
    """Relevant APIs on a path that the store learnt, or that the encoder was trained on."""


async def known(queries: Iterable[Query], graph: GraphStore, trained: frozenset[Key] = frozenset()) -> Known:
    """Return what the store knows of the queries' relevant APIs.

    ``trained`` are APIs that the encoder was trained on besides.
    """
    relevant = frozenset[Key]().union(*(query.relevant for query in queries))
    documents = await documents_of(graph, relevant)
    walked = frozenset([api for api, tools in documents.items() if await _walked(graph, tools)])
    return Known(relevant, frozenset(documents), walked | (relevant & trained))


async def documents_of(graph: GraphStore, apis: frozenset[Key]) -> dict[Key, list[ToolId]]:
    """Return the documents of each API, including copies in other categories; APIs without one are left out."""
    found: dict[Key, list[ToolId]] = {}
    async for document in graph.documents():
        if (api := key_of(document.id)) in apis:
            found.setdefault(api, []).append(document.id)
    return found


def row(scored: Sequence[Scored], known: Known) -> Row:
    """Return the means of every part, 0 to 1, with their 95 % bootstrap intervals over requests."""
    return {
        section: {name: _told(measured(part)) for name, part in parts.items()}
        for section, parts in _sections(scored, known).items()
    }


def differences(scored: Sequence[Scored], others: Sequence[Scored], known: Known) -> Row:
    """Return the mean of ``scored`` less ``others``, with paired intervals, for the requests of both.

    Both must have the requests in the same order.
    """
    both = min(len(scored), len(others))
    ours, theirs = _sections(scored[:both], known), _sections(others[:both], known)
    return {
        section: {name: _told(measured(part) - measured(theirs[section][name])) for name, part in parts.items()}
        for section, parts in ours.items()
    }


def seconds_p50(scored: Sequence[Scored]) -> float:
    """Return the median wall time of one ranking, in seconds."""
    return median(one.seconds for one in scored) if scored else 0.0


def _sections(scored: Sequence[Scored], known: Known) -> dict[str, dict[str, list[Scored]]]:
    untouched = [one for one in scored if not one.query.relevant & known.seen]
    return {
        "groups": _grouped(scored),
        "splits": by_name(scored, lambda query: query.split),
        "seen": _grouped(_restricted(scored, known.seen)),
        "unseen": _grouped(_restricted(scored, known.relevant - known.seen)),
        "zero_shot": _grouped(untouched),
    }


def _grouped(scored: Sequence[Scored]) -> dict[str, list[Scored]]:
    """Return the rankings by group, and all of them."""
    return {**by_name(scored, lambda query: query.group), **({ALL: list(scored)} if scored else {})}


def _told(values: NDArray[np.float64]) -> Part:
    means, ends = values.mean(axis=0).tolist(), intervals(values).tolist()
    return {
        "n": len(values),
        **dict(zip(MEASURES, means, strict=True)),
        "intervals": dict(zip(MEASURES, ends, strict=True)),
    }


def _restricted(scored: Iterable[Scored], apis: frozenset[Key]) -> list[Scored]:
    """Count only ``apis`` as relevant and take the other relevant ones out of the ranking; drop queries without any."""
    found: list[Scored] = []
    for one in scored:
        kept = one.query.relevant & apis
        if kept:
            others = one.query.relevant - kept
            ranking = tuple(api for api in one.ranking if api not in others)
            found.append(Scored(Query(one.query.split, one.query.query, kept), ranking))
    return found


async def _walked(graph: GraphStore, tools: Sequence[ToolId]) -> bool:
    """Return whether one of the tools lies on an imported path.

    Every node of a path has an edge out of it, the last one to Finish.
    """
    for tool in tools:
        if any(neighbour.edge.imported for neighbour in await graph.out_edges(tool)):
            return True
    return False
