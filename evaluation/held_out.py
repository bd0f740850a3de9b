"""Trajectories in two parts: most to learn a graph from, and the requests of the others to choose parameters on."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.overlap import Requests
from evaluation.queries import Query


@dataclass(frozen=True, slots=True)
class HeldOut:
    """``asked``: the requests held out, with their relevant APIs. ``learnt``: those whose trajectories are learnt from.
    What is in neither is held out, or near a request that is, or near one that is measured on.
    """

    asked: tuple[Query, ...]
    learnt: frozenset[str]


def hold_out(
    labelled: Sequence[Query], requests: Iterable[str], sample: int, least: int = 2, measured: Sequence[Query] = ()
) -> HeldOut:
    """``labelled``: requests with the APIs of their paths. ``requests``: those of all trajectories. ``measured``: other requests to be apart from.

    Held out are at most ``sample`` requests of each split with at least ``least`` APIs, drawn by a hash of their words: the
    order does not move one.
    """
    drawn = sorted((query for query in labelled if len(query.relevant) >= least), key=lambda query: _draw(query.query))
    asked = [
        query for split in sorted({q.split for q in drawn}) for query in [q for q in drawn if q.split == split][:sample]
    ]
    kept_apart = Requests(query.query for query in [*asked, *measured])
    return HeldOut(tuple(asked), frozenset(request for request in set(requests) if not kept_apart.near(request)))


def _draw(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
