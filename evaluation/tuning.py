"""Requests to tune the retriever on: labelled by trajectories, held out from what the graph learns, never evaluated."""

import random
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from domain.trajectory import Trajectory
from evaluation.api_names import ApiName, get_api_name
from evaluation.overlap import ReferenceRequests
from evaluation.queries import RetrievalQuery
from evaluation.retrieval import Table
from graph.cleaning import clean
from graph.function_names import NameIndex

ONE, SEVERAL = "one tool set", "several tool sets"
"""Split of the requests whose APIs are of several tool sets."""


def collect_labelled_queries(
    trajectories: Iterable[Trajectory],
    names: NameIndex,
    measured: Sequence[RetrievalQuery],
    sample: int | None = None,
    seed: int = 7,
) -> list[RetrievalQuery]:
    """Collect each request of the trajectories once, labelled with the APIs on its cleaned paths.

    The labels are calls that were made, and no gold labels. Requests near an evaluated one are left out.

    Args:
        trajectories: the recorded runs.
        names: resolves the names of their calls.
        measured: the evaluated requests.
        sample: requests to draw from each split; None for all.
        seed: seed of the draw.
    """
    relevant: dict[str, set[ApiName]] = {}
    for trajectory in trajectories:
        steps = [
            (call.function, names.resolve(call.function, call.category, call.toolset), call.outcome)
            for call in trajectory.path
        ]
        resolved = {name.id for _, name, _ in steps if name.resolved}
        path = clean([(function, name.id, outcome) for function, name, outcome in steps], trajectory.finish)
        if not isinstance(path, str) and (tools := [tool for tool in path if tool in resolved]):
            relevant.setdefault(trajectory.query.strip(), set()).update(get_api_name(tool) for tool in tools)
    protected = ReferenceRequests(query.query for query in measured)
    queries = [
        RetrievalQuery(classify_split(apis), text, frozenset(apis))
        for text, apis in sorted(relevant.items())
        if text and not protected.has_near_duplicate(text)
    ]
    random.Random(seed).shuffle(queries)
    return [query for split in (ONE, SEVERAL) for query in [q for q in queries if q.split == split][:sample]]


def classify_split(apis: AbstractSet[ApiName]) -> str:
    """Return the split of some APIs: of one tool set, or of several."""
    return SEVERAL if len({toolset for toolset, _ in apis}) > 1 else ONE


def compute_objective(figures: Table) -> float:
    """Return the value to maximise: NDCG@5 averaged over the splits, as the groups of the test count the same."""
    return sum(row["ndcg@5"] for row in figures.values()) / len(figures)
