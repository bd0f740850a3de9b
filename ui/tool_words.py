"""Facts about tools, in few words."""

from ui.library import LibraryTool, Try

EFFECTS = {"reads": "only reads", "changes": "changes something", "unknown": "may change something"}
OUTCOMES = {
    "ok": "It answered",
    "transient": "It failed for now",
    "gone": "It is gone",
    "absent": "There is no such thing",
    "refused": "It refused",
    "unreached": "It was not reached",
    "caller_fault": "It was not accepted",
    "unknown": "Nobody knows how it ended",
}


_FEW = 5
"""With fewer calls than that, a share would say more than is known."""


def availability_told(availability: float | None, calls: int | None = None, good: int = 0) -> str:
    """How likely a call succeeds. ``calls``: how many it stands on, where that is known, and how many of them went well."""
    if availability is None or calls == 0:
        return "untested"
    if calls is not None and calls < _FEW:
        return f"{good} of {calls} {'call' if calls == 1 else 'calls'} answered"
    return f"{round(100 * availability)} % available"


def facts_told(one: LibraryTool) -> str:
    """A line below its name."""
    place = f"{one.category} / {one.toolset}"
    told = availability_told(one.availability, one.tried, one.went_well)
    effect = EFFECTS.get(one.effect, one.effect)
    return " · ".join(part for part in (place, one.host, effect, told) if part)


def scores_told(one: LibraryTool) -> str:
    """How well it was found; empty where it was not searched for."""
    if one.score is None:
        return ""
    told = f"score {one.score:.2f}: meaning {one.dense or 0:.2f}, words {one.lexical or 0:.2f}"
    return told if one.odds is None else f"{told}; re-ranked at {one.odds:+.2f}"


def try_told(one: Try) -> str:
    """How a call ended."""
    if one.finished_at is None:
        return "Nobody knows how it ended"
    said = OUTCOMES.get(one.outcome or "", "It was not called")
    status = f" with {one.http_status}" if one.http_status else ""
    return f"{said}{status} in {one.milliseconds:,} ms"
