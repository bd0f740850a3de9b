"""What trajectories walked, without what one of them walked: a ranking that learns from a request must not be shown its own path."""

from collections import Counter
from collections.abc import Iterable, Sequence

from domain.tool import FINISH, ToolId
from domain.trajectory import Trajectory
from graph.counting import Tally, count_trajectory
from graph.facts import GraphBatch
from graph.names import NameIndex
from retriever.experience import Walked

Transitions = Counter[tuple[ToolId, ToolId]]


class OthersWalked:
    """The transitions of all accepted paths but those of ``own``, the request that is being asked. An ``Experience``."""

    def __init__(self, trajectories: Iterable[Trajectory], names: NameIndex) -> None:
        self.own = ""
        self._of: dict[str, Transitions] = {}
        self._beside: dict[ToolId, Transitions] = {}
        for trajectory in trajectories:
            batch = GraphBatch("")
            if count_trajectory(batch, Tally(), trajectory, names):
                counted = batch.transitions
                self._of.setdefault(trajectory.query.strip(), Counter()).update(counted)
                for (source, target), count in counted.items():
                    for end in {source, target}:
                        self._beside.setdefault(end, Counter())[source, target] += count

    async def beside(self, tools: Iterable[ToolId]) -> Sequence[Walked]:
        """Every transition out of one of these tools or into one."""
        own = self._of.get(self.own, Counter())
        found: Transitions = Counter()
        for tool in tools:
            if tool != FINISH:
                found |= self._beside.get(tool, Counter())
        return [Walked(*ends, left) for ends, count in sorted(found.items()) if (left := count - own[ends]) > 0]
