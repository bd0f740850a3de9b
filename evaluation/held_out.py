"""Trajectories in two parts: most to learn a graph from, and the requests of the others to choose parameters on."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluation.overlap import ReferenceRequests
from evaluation.queries import RetrievalQuery


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Requests split into those held out and those learnt from.

    Requests near one that is held out or evaluated are in neither part.
    """

    queries: tuple[RetrievalQuery, ...]
    """The requests held out, with their relevant APIs."""
    learnt: frozenset[str]
    """The requests whose trajectories are learnt from."""


def hold_out(
    labelled: Sequence[RetrievalQuery],
    requests: Iterable[str],
    sample: int,
    least: int = 2,
    measured: Sequence[RetrievalQuery] = (),
) -> HeldOut:
    """Hold out at most ``sample`` requests of each split that have at least ``least`` APIs.

    They are drawn by a hash of their words, so that the order of the input moves none.

    Args:
        labelled: requests with the APIs of their paths.
        requests: the requests of all trajectories.
        sample: requests to hold out of each split.
        least: APIs that a request must have to be held out.
        measured: other requests that what is learnt must be apart from.
    """
    drawn = sorted(
        (query for query in labelled if len(query.relevant) >= least), key=lambda query: _hash_request(query.query)
    )
    queries = [
        query for split in sorted({q.split for q in drawn}) for query in [q for q in drawn if q.split == split][:sample]
    ]
    protected = ReferenceRequests(query.query for query in [*queries, *measured])
    return HeldOut(
        tuple(queries), frozenset(request for request in set(requests) if not protected.has_near_duplicate(request))
    )


def _hash_request(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
