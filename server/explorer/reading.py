"""The graph as one request explores it: each tool is read once, and its weights are computed once."""

from collections.abc import Iterable, Mapping, Sequence

from domain.tool import ToolDoc, ToolId
from graph.evidence import to_timestamp
from graph.links import LinkedGraph, ToolNeighbourhood
from graph.weights import WeightedEdge, WeightParameters, compute_transition_weights


class Reading:
    """``known``: what was read so far."""

    def __init__(self, graph: LinkedGraph, weights: WeightParameters) -> None:
        self.graph = graph
        self.weights = weights
        self.now = to_timestamp()
        self.known: dict[ToolId, ToolNeighbourhood] = {}
        self._asked: set[ToolId] = set()
        self._ways: dict[ToolId, Mapping[ToolId, WeightedEdge]] = {}

    async def read(self, tools: Iterable[ToolId]) -> None:
        """Those that were not read before, in one question."""
        wanted = [tool for tool in dict.fromkeys(tools) if tool not in self._asked]
        if wanted:
            self._asked.update(wanted)
            self.known |= await self.graph.load_neighbourhoods(wanted)

    def document(self, tool: ToolId) -> ToolDoc | None:
        """None: it was not read, or has none."""
        return self.known[tool].document if tool in self.known else None

    def ways(self, tool: ToolId) -> Mapping[ToolId, WeightedEdge]:
        """The ways out of a tool, by where they lead; those to what has no document are left out, but for the end of a request."""
        if tool not in self._ways:
            out: Sequence[WeightedEdge] = (
                compute_transition_weights(self.known[tool].out, self.weights, self.now) if tool in self.known else ()
            )
            self._ways[tool] = {one.target: one for one in out}
        return self._ways[tool]
