"""Comparison of two encoders on the same requests, before one replaces the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest

from domain.errors import UsageError
from evaluation.api_keys import Key
from evaluation.queries import Query
from evaluation.retrieval import Scored, Search, measures, rank
from evaluation.retrieval_figures import documents_of
from graph.store import GraphStore
from retriever.words import first_words

DEPTH = 10
"""Number of tools of a ranking that are compared."""

SAMPLES = 50
_MEASURES = ("ndcg@5", "recall@10")


@dataclass(frozen=True, slots=True)
class Judging:
    """Requests to compare on; without relevant APIs, nothing is judged."""

    requests: Sequence[Query]
    relevant: int = 0
    """Number of relevant APIs of the requests."""
    missing: int = 0
    """Number of relevant APIs without a document."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of a comparison. All figures lie in [0, 1]."""

    former: str
    new: str
    requests: int
    overlap: float
    """Share of the first ten tools that both find."""
    figures: dict[str, tuple[float, float]]
    """Means of each measure with the former and the new encoder, where relevant APIs are known."""
    relevant: int = 0
    missing: int = 0
    """Number of ``relevant`` APIs without a document."""

    def worse_by(self) -> float:
        """Return how much the new encoder loses in its worst measure; 0 where it loses nothing."""
        return max([0.0, *(former - new for former, new in self.figures.values())])


async def compare(former: tuple[str, Search], new: tuple[str, Search], judging: Judging) -> Comparison:
    """Rank tools for every request with both searches, each given with its name."""
    rankings = [await rank(judging.requests, search, DEPTH) for _, search in (former, new)]
    pairs = list(zip(*rankings, strict=True))
    figures = {
        name: (_mean(rankings[0], name), _mean(rankings[1], name)) for name in (_MEASURES if judging.relevant else ())
    }
    overlap = sum(_shared(*pair) for pair in pairs) / len(pairs) if pairs else 1.0
    return Comparison(former[0], new[0], len(pairs), overlap, figures, judging.relevant, judging.missing)


async def judged_by(queries: Sequence[Query], graph: GraphStore) -> Judging:
    """Return labelled requests for a comparison. ``UsageError`` where none has a relevant API in ``graph``.

    Without one, both encoders would look alike.
    """
    relevant = frozenset[Key]().union(*(query.relevant for query in queries))
    documented = await documents_of(graph, relevant)
    if not documented:
        raise UsageError(
            f"none of the {len(relevant):,} relevant APIs of the queries has a document in this store, so that they cannot tell "
            "a good encoder from a poor one: name queries of its own tools with --queries, or leave them out"
        )
    return Judging(queries, len(relevant), len(relevant) - len(documented))


async def sample_requests(graph: GraphStore) -> Judging:
    """Return beginnings of tools' descriptions as requests, the same ones each time.

    They show similarity, not quality.
    """
    texts = [first_words(tool.description[:1_000], 12) async for tool in graph.documents()]
    chosen = nsmallest(SAMPLES, {text for text in texts if text}, key=lambda text: blake2b(text.encode()).digest())
    return Judging([Query("sample", text, frozenset()) for text in chosen])


def _mean(scored: Sequence[Scored], name: str) -> float:
    return sum(measures(one.ranking, one.query.relevant)[name] for one in scored) / len(scored)


def _shared(former: Scored, new: Scored) -> float:
    first, second = set(former.ranking[:DEPTH]), set(new.ranking[:DEPTH])
    return len(first & second) / max(len(first), len(second), 1)
