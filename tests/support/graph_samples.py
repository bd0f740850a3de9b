"""Small tools and batches that the tests of graph stores share."""

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

from domain.tool import ToolDoc, ToolId, make_tool_id, make_unresolved_id
from graph.evidence import RETENTION, CallEvidence, apply_calls, to_timestamp
from graph.facts import HALF_LIFE_DAYS, GraphBatch, LiveBatch, LiveOutcome, ToolFacts

A = make_tool_id("Maps", "geo", "Geocode")
B = make_tool_id("Weather", "meteo", "Current weather")
C = make_tool_id("Weather", "meteo", "Fore/cast ?#é")
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
LOST = make_unresolved_id("lost_for_ever", "Weather")


def document(tool: ToolId, function: str = "f", description: str = "") -> ToolDoc:
    return ToolDoc(id=tool, category="Weather", toolset="meteo", api="x", function=function, description=description)


def batch(
    key: str,
    transitions: dict[tuple[ToolId, ToolId], int] | None = None,
    calls: dict[ToolId, int] | None = None,
    successes: dict[ToolId, int] | None = None,
    nodes: set[ToolId] | None = None,
    records: set[str] | None = None,
) -> GraphBatch:
    return GraphBatch(
        key,
        Counter(transitions or {}),
        Counter(calls or {}),
        Counter(successes or {}),
        nodes=nodes or set(),
        records=records or set(),
    )


def called(*outcomes: LiveOutcome) -> ToolFacts:
    """Facts of a tool after these calls at noon, and nothing else."""
    return apply_calls(ToolFacts(), CallEvidence.from_outcomes(outcomes), to_timestamp(NOON), HALF_LIFE_DAYS)


def left_after(count: int) -> float:
    """What is left of so many calls that went well, or of so many walks out of one node."""
    return (1 - RETENTION**count) / (1 - RETENTION)


def walked(key: str, *path: ToolId, score: float = 1.0, decay: float = 0.8) -> LiveBatch:
    """A run that walked ``path``, whose tools all answered."""
    pairs = Counter(pairwise(path))
    scores = tuple((tool, score) for tool in path)
    return LiveBatch(key, pairs, scores, tuple((tool, "ok") for tool in path), decay, NOON)
