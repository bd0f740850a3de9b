"""Walked transitions without those of one request: a ranking must not see the path that it learns from."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from agent.memory.request_patterns import build_pattern
from domain.tool import FINISH, ToolId
from domain.trajectory import Trajectory
from evaluation.overlap import ReferenceRequests
from graph.counting import ImportTally, count_trajectory
from graph.facts import GraphBatch
from graph.function_names import NameIndex
from retriever.calibration import LinearMap
from retriever.experience import Precedent, TransitionCount
from retriever.index import Embedder, Vectors

Transitions = Counter[tuple[ToolId, ToolId]]


class LeaveOneOutWalks:
    """Transitions and requests of all accepted paths, except those of requests near the current one (:meth:`exclude_request`).

    An ``ToolExperience``. Training data is separated here in the same way as test data in a measurement, so that a ranking learns to trust
    similarity only as far as it may.
    """

    def __init__(self, trajectories: Iterable[Trajectory], names: NameIndex) -> None:
        self._transitions_by_request: dict[str, Transitions] = {}
        self._transitions_by_tool: dict[ToolId, Transitions] = {}
        self._excluded: set[str] = set()
        seen_requests: dict[tuple[str, tuple[ToolId, ...]], None] = {}
        for trajectory in trajectories:
            batch = GraphBatch("")
            if path := count_trajectory(batch, ImportTally(), trajectory, names):
                counted = batch.transitions
                request = trajectory.query.strip()
                seen_requests[request, path] = None
                self._transitions_by_request.setdefault(request, Counter()).update(counted)
                for (source, target), count in counted.items():
                    for end in {source, target}:
                        self._transitions_by_tool.setdefault(end, Counter())[source, target] += count
        self._requests = list(seen_requests)
        self._vectors: Vectors = np.zeros((0, 0), np.float32)
        self._scale = LinearMap()

    async def embed(self, embedder: Embedder) -> None:
        """Embed the requests so that they can be compared; without it there are no precedents.

        Raises:
            UnavailableError: the encoder is unavailable.
        """
        self._vectors = await embedder.embed([build_pattern(request) for request, _ in self._requests], "query")
        self._scale = (await embedder.get_cosine_scale()).requests

    def exclude_request(self, request: str) -> None:
        """Exclude this request, and those that nearly equal it, from now on."""
        excluded = ReferenceRequests([request])
        self._excluded = {other for other in self._transitions_by_request if excluded.has_near_duplicate(other)}

    async def find_transitions(self, tools: Iterable[ToolId]) -> Sequence[TransitionCount]:
        """Return every transition out of or into one of these tools."""
        own: Transitions = Counter()
        for request in self._excluded:
            own.update(self._transitions_by_request[request])
        counts: Transitions = Counter()
        for tool in tools:
            if tool != FINISH:
                counts |= self._transitions_by_tool.get(tool, Counter())
        return [
            TransitionCount(*ends, remaining)
            for ends, count in sorted(counts.items())
            if (remaining := count - own[ends]) > 0
        ]

    async def find_precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """Return the requests most similar to the one with this vector, best first."""
        if not len(self._vectors):
            return ()
        similar = self._scale.map(self._vectors @ request)
        order: list[int] = np.argsort(-similar, kind="stable").tolist()
        others = (place for place in order if self._requests[place][0] not in self._excluded)
        return [Precedent(self._requests[place][1], float(similar[place])) for place in islice(others, limit)]
