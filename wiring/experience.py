"""The graph, as the search sees it."""

from collections.abc import Iterable, Sequence

from domain.tool import FINISH, ToolId
from graph.store import GraphStore
from retriever.experience import Walked


class GraphExperience:
    """What imported trajectories and live runs walked. A banned or muted transition counts for nothing."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph

    async def beside(self, tools: Iterable[ToolId]) -> Sequence[Walked]:
        """Every transition out of one of these tools or into one."""
        edges = await self._graph.edges_beside(tool for tool in tools if tool != FINISH)
        return [
            Walked(edge.source, edge.target, count)
            for edge in edges
            if edge.mark not in ("ban", "mute") and (count := edge.imported + edge.live)
        ]
