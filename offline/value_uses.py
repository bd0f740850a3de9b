"""How much of what a request tells its tools make use of: a day, an amount or a name that no call takes is a sign of the wrong tool."""

from collections.abc import Sequence

from domain.tool import ToolDoc, ToolId
from offline.coverage import bare
from offline.nlp.coordination import atoms
from offline.nlp.entities import Span
from offline.slots.binding import uses

_WEIGHTS = {
    "date": 2.0,
    "time": 2.0,
    "coordinates": 2.0,
    "email": 2.0,
    "url": 2.0,
    "quoted": 1.5,
    "unit": 1.5,
    "currency": 1.5,
    "name": 1.5,
}


class Uses:
    """The values of one request that tools use, each worked out once."""

    def __init__(self, request: str) -> None:
        self._request = request
        self._known: dict[tuple[ToolId, str], tuple[Span, ...]] = {}

    def share(self, tools: Sequence[ToolDoc], clause: str) -> float:
        """The share of a clause's values (of the request's, where the clause tells none) that calls of the tools take, in [0, 1]; 1 where there are none."""
        text = self._request if bare(clause) == clause else clause
        told = atoms(text)
        if not told:
            return 1.0
        used = [span for tool in tools for span in self._of(tool, text)]
        whole = sum(_WEIGHTS.get(atom.kind, 1.0) for atom in told)
        return sum(_WEIGHTS.get(atom.kind, 1.0) for atom in told if any(atom.overlaps(span) for span in used)) / whole

    def _of(self, tool: ToolDoc, text: str) -> tuple[Span, ...]:
        key = (tool.id, text)
        if key not in self._known:
            self._known[key] = uses(tool, text)
        return self._known[key]
