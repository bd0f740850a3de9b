"""Searches that ``evaluate.py retrieval`` compares, by the names of its rows."""

from collections.abc import Sequence

from domain.errors import UsageError
from evaluation.retrieval import Search
from retriever.search import SearchParameters, ToolSearch
from wiring.container import Container


async def rankings(container: Container, names: Sequence[str] = ()) -> dict[str, Search]:
    """Return the named searches in the order of the names, or all: from the plainest to the one that serves.

    ``bm25`` and ``dense`` are the fused search with the weight of one side alone: sentences count there as well.
    ``reranked`` is the search that serves, with the graph as evidence; it is missing where no re-ranker fits the
    encoder, and then ``fused`` serves.

    Raises:
        UsageError: no search has that name.
        UnavailableError: the store cannot be used.
    """
    served = await container.search()
    embedder, index, lexical = await container.retrieval()
    found: dict[str, Search] = {
        "bm25": ToolSearch(embedder, index, lexical, SearchParameters(dense_weight=0)),
        "dense": ToolSearch(embedder, index, lexical, SearchParameters(dense_weight=1)),
        "fused": ToolSearch(embedder, index, lexical),
    }
    if served.reranks:
        found["reranked"] = served
    elif "reranked" in names:
        remedy = "FOOTPATH_RERANKER_FILE names one that scripts/train_reranker.py taught with it"
        remedy = remedy if container.settings.rerank else "FOOTPATH_RERANK is false"
        raise UsageError(f"no re-ranker is in use with the encoder {embedder.identity}: {remedy}")
    if unknown := [name for name in names if name not in found]:
        raise UsageError(f"no row is called {', '.join(unknown)}; there are: {', '.join(found)}")
    return {name: found[name] for name in names or found}
