"""Requests for tuning the retriever: those of the trajectories, never the evaluated ones."""

import random
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from domain.trajectory import Trajectory
from evaluation.api_keys import Key, key_of
from evaluation.overlap import Requests
from evaluation.queries import Query
from evaluation.retrieval import Table
from graph.cleaning import clean
from graph.function_names import NameIndex

ONE, SEVERAL = "one tool set", "several tool sets"


def labelled_requests(
    trajectories: Iterable[Trajectory],
    names: NameIndex,
    measured: Sequence[Query],
    sample: int | None = None,
    seed: int = 7,
) -> list[Query]:
    """Return each request once, with the APIs on the cleaned paths of its trajectories.

    Of each split only a seeded ``sample`` is returned, if one is given.
    The split is the number of tool sets among the APIs: one, or several. Labels are calls made, not gold.
    """
    relevant: dict[str, set[Key]] = {}
    for trajectory in trajectories:
        steps = [
            (call.function, names.resolve(call.function, call.category, call.toolset), call.outcome)
            for call in trajectory.path
        ]
        resolved = {name.id for _, name, _ in steps if name.resolved}
        path = clean([(function, name.id, outcome) for function, name, outcome in steps], trajectory.finish)
        if not isinstance(path, str) and (tools := [tool for tool in path if tool in resolved]):
            relevant.setdefault(trajectory.query.strip(), set()).update(key_of(tool) for tool in tools)
    guarded = Requests(query.query for query in measured)
    queries = [
        Query(split_of(apis), text, frozenset(apis))
        for text, apis in sorted(relevant.items())
        if text and not guarded.near(text)
    ]
    random.Random(seed).shuffle(queries)
    return [query for split in (ONE, SEVERAL) for query in [q for q in queries if q.split == split][:sample]]


def split_of(apis: AbstractSet[Key]) -> str:
    """Return the split of some APIs: of one tool set, or of several."""
    return SEVERAL if len({toolset for toolset, _ in apis}) > 1 else ONE


def objective(figures: Table) -> float:
    """Return the value to maximise: NDCG@5 averaged over the splits, as the groups of the test count the same."""
    return sum(row["ndcg@5"] for row in figures.values()) / len(figures)
