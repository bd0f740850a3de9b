"""What a request says of the value of a parameter: of a call that changes something, how much is read off the order itself first."""

from datetime import date, datetime
from functools import lru_cache

from agent.parameters.kinds import UNTOUCHED
from agent.parameters.needs import Need
from domain.tool import ToolDoc
from offline.change_words import makes, told_to_change
from offline.nlp.clauses import clauses
from offline.nlp.entities import spans
from offline.slots.span_candidates import Reading, readings

_COUNTED = frozenset({"number", "amount"})
Place = tuple[int, int]
"""Start and end in a request."""


def today() -> date:
    """What relative dates count from."""
    return datetime.now().astimezone().date()


def told(need: Need, tool: ToolDoc, request: str, day: date, *, lenient: bool = False) -> tuple[Reading, ...]:
    """Readings of a need, best first. ``lenient``: the best ones led to nothing.

    "She comes with three friends. Book a table for 4": numbers beside the order count where the order has none.
    """
    if need.kind in UNTOUCHED:
        return ()
    order = _order(request, tool) if need.kind in _COUNTED and not tool.safe else None
    ordered = _read(need, request, day, lenient, order) if order else ()
    return ordered or _read(need, request, day, lenient, None)


def _order(request: str, tool: ToolDoc) -> Place | None:
    """Where a request orders what a tool does, if it does so once."""
    own = [clause for clause in clauses(request) if makes(tool, told_to_change(clause, loose=True))]
    start = request.find(own[0]) if len(own) == 1 else -1
    return (start, start + len(own[0])) if start >= 0 else None


@lru_cache(maxsize=16_384)
def _read(need: Need, request: str, day: date, lenient: bool, within: Place | None) -> tuple[Reading, ...]:
    """Asked for again at every node of a walk, for every candidate."""
    found = spans(request, day)
    if within is not None:
        found = tuple(span for span in found if within[0] <= span.start and span.end <= within[1])
    return tuple(readings(need, found, request, lenient=lenient))
