"""Walked transitions without those of one request: a ranking must not see the path that it learns from."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from agent.memory.similarity import pattern
from domain.tool import FINISH, ToolId
from domain.trajectory import Trajectory
from evaluation.overlap import Requests
from graph.counting import Tally, count_trajectory
from graph.facts import GraphBatch
from graph.function_names import NameIndex
from retriever.calibration import LinearMap
from retriever.experience import Precedent, Walked
from retriever.index import Embedder, Vectors

Transitions = Counter[tuple[ToolId, ToolId]]


class LeaveOneOutWalks:
    """Transitions and requests of all accepted paths, except those of requests near the current one (:meth:`ask`).

    An ``Experience``. Training data is separated here in the same way as test data in a measurement, so that a ranking learns to trust
    similarity only as far as it may.
    """

    def __init__(self, trajectories: Iterable[Trajectory], names: NameIndex) -> None:
        self._of: dict[str, Transitions] = {}
        self._beside: dict[ToolId, Transitions] = {}
        self._own: set[str] = set()
        served: dict[tuple[str, tuple[ToolId, ...]], None] = {}
        for trajectory in trajectories:
            batch = GraphBatch("")
            if path := count_trajectory(batch, Tally(), trajectory, names):
                counted = batch.transitions
                request = trajectory.query.strip()
                served[request, path] = None
                self._of.setdefault(request, Counter()).update(counted)
                for (source, target), count in counted.items():
                    for end in {source, target}:
                        self._beside.setdefault(end, Counter())[source, target] += count
        self._served = list(served)
        self._vectors: Vectors = np.zeros((0, 0), np.float32)
        self._scale = LinearMap()

    async def embed(self, embedder: Embedder) -> None:
        """Embed the requests so that they can be compared; without it there are no precedents.

        Raises:
            UnavailableError: the encoder is unavailable.
        """
        self._vectors = await embedder.embed([pattern(request) for request, _ in self._served], "query")
        self._scale = (await embedder.scale()).requests

    def ask(self, request: str) -> None:
        """Exclude this request, and those that nearly equal it, from now on."""
        asked = Requests([request])
        self._own = {other for other in self._of if asked.near(other)}

    async def beside(self, tools: Iterable[ToolId]) -> Sequence[Walked]:
        """Return every transition out of or into one of these tools."""
        own: Transitions = Counter()
        for request in self._own:
            own.update(self._of[request])
        found: Transitions = Counter()
        for tool in tools:
            if tool != FINISH:
                found |= self._beside.get(tool, Counter())
        return [Walked(*ends, left) for ends, count in sorted(found.items()) if (left := count - own[ends]) > 0]

    async def precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """Return the requests most similar to the one with this vector, best first."""
        if not len(self._vectors):
            return ()
        similar = self._scale.map(self._vectors @ request)
        order: list[int] = np.argsort(-similar, kind="stable").tolist()
        others = (place for place in order if self._served[place][0] not in self._own)
        return [Precedent(self._served[place][1], float(similar[place])) for place in islice(others, limit)]
