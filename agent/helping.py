"""Producers outside the K that a candidate needs before it can be called."""

from collections.abc import Collection, Sequence

from agent.arguments import fillable
from agent.evidence import Evidence
from agent.frontier import Frontier, Path
from agent.offers import Offer
from agent.pool import Pool
from agent.walk_settings import WalkSettings
from domain.tool import ToolId

_MOST = 2


class Producers:
    """Finds them for one request. ``given``: the tools of steps that are done already."""

    def __init__(self, request: str, evidence: Evidence, pool: Pool, given: Path, settings: WalkSettings) -> None:
        self._request = request
        self._evidence = evidence
        self._pool = pool
        self._given = given
        self._settings = settings

    def beside(self, offers: Sequence[Offer], state: Frontier, closed: Collection[ToolId]) -> list[Offer]:
        """A producer or two, where a candidate lacks what none of the others, untried here, would give. ``closed``: not to be offered."""
        evidence, path = self._evidence, (*self._given, *state.path)
        offered = [tool for tool, _, _ in offers]
        untried = [tool for tool in offered if not state.is_dead((*state.path, tool)) and not self._lacking(tool, path)]
        spare = [
            tool
            for tool in sorted({**self._pool.found, **self._pool.producers})
            if tool not in offered and tool not in closed and not state.is_dead((*state.path, tool))
        ]
        found: dict[ToolId, None] = {}
        sought = [tool for tool in offered if max(evidence.relevance(tool)) >= self._settings.floor]
        sought = sought[: self._settings.k]
        for tool in sought:  # what helps may itself need help
            lacking = self._lacking(tool, path)
            if not lacking or any(self._lacking(tool, (*path, other)) < lacking for other in untried):
                continue
            gives = (other for other in spare if self._lacking(tool, (*path, other)) < lacking)
            helper = max(gives, key=self._worth, default=None)
            if helper is not None:
                found[helper] = None
                sought += [helper] * (helper not in sought and len(found) < _MOST)
        return [(tool, 0.0, "retriever") for tool in list(found)[:_MOST]]

    def _lacking(self, tool: ToolId, path: Path) -> int:
        """How many inputs of a tool nothing gives behind a path."""
        return len(fillable(self._evidence.doc(tool), self._request, self._evidence.docs(path)).missing)

    def _worth(self, tool: ToolId) -> tuple[bool, float, float]:
        """Of producers: whether the request fills them, how well they lead on, and how well they fit it themselves."""
        worth = self._pool.producers.get(tool, 0.0) * self._evidence.rank_availability(tool)
        return not self._lacking(tool, ()), worth, max(self._evidence.relevance(tool), default=0.0)
