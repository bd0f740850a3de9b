"""Facts about tools, in few words."""

from ui.language import message, say, say_count
from ui.library import LibraryTool, Try

EFFECTS = {
    "reads": message("only reads"),
    "changes": message("changes something"),
    "unknown": message("may change something"),
}
OUTCOMES = {
    "ok": message("It answered"),
    "transient": message("It failed for now"),
    "gone": message("It is gone"),
    "absent": message("There is no such thing"),
    "undecided": message("Not found (404), path or value unknown"),
    "refused": message("It refused"),
    "unreached": message("It was not reached"),
    "caller_fault": message("It was not accepted"),
    "unknown": message("Nobody knows how it ended"),
}


_FEW = 5
"""With fewer calls than that, a share would say more than is known."""


def availability_told(availability: float | None, calls: int | None = None, good: int = 0) -> str:
    """How likely a call succeeds. ``calls``: how many it stands on, where that is known, and how many of them went well."""
    if availability is None or calls == 0:
        return say("untested")
    if calls is not None and calls < _FEW:
        return say_count("{good} of 1 call answered", "{good} of {count} calls answered", calls, good=good)
    return say("{share} % available", share=round(100 * availability))


def facts_told(one: LibraryTool) -> str:
    """A line below its name."""
    place = f"{one.category} / {one.toolset}"
    told = availability_told(one.availability, one.tried, one.went_well)
    effect = say(EFFECTS.get(one.effect, one.effect))
    return " · ".join(part for part in (place, one.host, effect, told) if part)


def scores_told(one: LibraryTool) -> str:
    """How well it was found; empty where it was not searched for."""
    if one.score is None:
        return ""
    told = say(
        "score {score:.2f}: meaning {dense:.2f}, words {lexical:.2f}",
        score=one.score,
        dense=one.dense or 0,
        lexical=one.lexical or 0,
    )
    return told if one.odds is None else say("{told}; re-ranked at {odds:+.2f}", told=told, odds=one.odds)


def try_told(one: Try) -> str:
    """How a call ended."""
    if one.finished_at is None:
        return say("Nobody knows how it ended")
    said, ms = say(OUTCOMES.get(one.outcome or "", message("It was not called"))), one.milliseconds
    if one.http_status:
        return say("{said} with {status} in {ms:,} ms", said=said, status=one.http_status, ms=ms)
    return say("{said} in {ms:,} ms", said=said, ms=ms)
