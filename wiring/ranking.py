"""What the re-ranker is taught by: the candidates of labelled requests, with what others than them walked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from domain.trajectory import Trajectory
from evaluation.names import Key, key_of
from evaluation.queries import Query
from evaluation.walked import OthersWalked
from graph.names import NameIndex
from retriever.candidates import Gathering
from retriever.features import features
from retriever.search import SearchParameters
from retriever.training.ranking import Judged
from wiring.container import Container


@dataclass(frozen=True, slots=True)
class Asked:
    """A labelled request with its candidates, their names, and the order that they have without a re-ranker."""

    query: Query
    keys: tuple[Key, ...]
    judged: Judged


async def asked_of(
    container: Container,
    queries: Sequence[Query],
    trajectories: Iterable[Trajectory],
    progress: Callable[[int], None],
) -> list[Asked]:
    """The candidates that the store's search finds for each request."""
    documents = [document async for document in container.graph.documents()]
    walked = OthersWalked(trajectories, NameIndex(documents))
    embedder, index, lexical = await container.retrieval()
    chosen = SearchParameters()
    gathering = Gathering(embedder, index, lexical, chosen.dense_weight, walked)
    found: list[Asked] = []
    for query in queries:
        walked.own = query.query.strip()
        pool = await gathering.gather(query.query, chosen.candidates, None)
        keys = tuple(key_of(tool) for tool in pool.candidates.ids)
        serves = np.array([key in query.relevant for key in keys], np.bool_)
        found.append(Asked(query, keys, Judged(features(pool.candidates, pool.walked), serves)))
        progress(len(found))
    return found
