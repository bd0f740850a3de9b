"""What the tool graph says of its edges, in words."""

from domain.tool import FINISH
from ui.explorer import Coupling, GraphEdge, GraphFeed, GraphWalk, OtherWay
from ui.language import message, moment, say, say_count
from ui.library import Said
from ui.texts import clipped
from ui.walk_graph import tool_name

_MARKS = {
    "pin": message("An administrator pinned it: it comes first, whatever it weighs."),
    "mute": message("An administrator muted it: a tenth of its weight counts."),
    "ban": message("An administrator banned it: no run goes this way."),
}
_SAID = {
    "pin": message("pin"),
    "mute": message("mute"),
    "ban": message("ban"),
    "reads": message("reads"),
    "changes": message("changes"),
    "set": message("set"),
    "add": message("added"),
    "forbid": message("forbidden"),
    "forget": message("forgotten"),
    "clear": message("taken back"),
}
_UNTESTED = 0.5


def named(tool: str) -> str:
    """A tool, or the end of a request."""
    return say("the end of a request") if tool == FINISH else tool_name(tool)  # pyright: ignore[reportArgumentType]


def walked(walk: GraphWalk) -> str:
    """How a way was walked, in short."""
    counts = [
        say("{count:,} imported", count=walk.imported) if walk.imported else "",
        say("{count:,} live", count=walk.live) if walk.live else "",
    ]
    return " · ".join(part for part in (walk.mark or "", f"{walk.weight:.2f}", *counts) if part)


def coupled(feed: GraphFeed) -> str:
    """What fills what, in short."""
    one = feed.couplings[0] if feed.couplings else None
    if one is None:
        return f"{feed.score:.2f}"
    said = say("{field} fills {parameter}", field=one.field, parameter=one.parameter)
    return say("{said}, and {more} more", said=said, more=feed.many - 1) if feed.many > 1 else said


def evidence(edge: GraphEdge) -> list[str]:
    """What a way rests on, a line each."""
    walk = edge.walk
    if walk is None:
        return [say("No request went this way yet.")]
    lines = [
        say(
            "Called one after the other {imported:,} times in what was imported and {live:,} times here, of which {strength:.1f} still counts.",
            imported=walk.imported, live=walk.live, strength=walk.strength,
        )
    ]  # fmt: skip
    if edge.heard is not None:
        lines.append(say("{tool} was last heard of on {day}.", tool=named(edge.target), day=f"{edge.heard:%Y-%m-%d}"))
    return lines


def reckoned(edge: GraphEdge) -> list[str]:
    """Why it stands where it stands among the ways out of its tool: what runs rank by, and what a heavier way lacks."""
    walk = edge.walk
    if walk is None:
        return []
    lines = [
        say(
            "{place} of {ways} ways out of {tool}: {sum}.",
            place=edge.place, ways=edge.ways, tool=named(edge.source), sum=product(walk.weight, walk.availability, walk.score, edge.fit),
        )
    ]  # fmt: skip
    if walk.mark in _MARKS:
        lines.append(say(_MARKS[walk.mark]))
    lines += _against(edge, walk)
    return lines


def product(weight: float, availability: float | None, score: float, fit: float | None = None) -> str:
    """Weight × availability, and × fit where a request was named."""
    tested = say("availability {share:.2f}", share=availability) if availability is not None else say("untested, which counts {share:.2f}", share=_UNTESTED)  # fmt: skip
    told = say("weight {weight:.2f} × {tested} = {score:.2f}", weight=weight, tested=tested, score=score)
    return told if fit is None else say("{told}, × fit {fit:.2f} = {all:.2f}", told=told, fit=fit, all=score * fit)


def _against(edge: GraphEdge, walk: GraphWalk) -> list[str]:
    """What weighs more and comes behind it, and what weighs less and comes before it."""
    said: list[str] = []
    ranked = walk.score * (1.0 if edge.fit is None else edge.fit)
    for other in edge.others:
        score = _ranked(other, edge.fit)
        if other.weight > walk.weight and score < ranked:
            said.append(
                say(
                    "{other} weighs more ({heavy:.2f} against {light:.2f}) and comes behind it, because {reason}.",
                    other=named(other.tool), heavy=other.weight, light=walk.weight, reason=_reason(other, walk, edge.fit),
                )
            )  # fmt: skip
        elif other.weight < walk.weight and score > ranked:
            said.append(
                say(
                    "{other} weighs less ({light:.2f} against {heavy:.2f}) and comes before it, because {reason}.",
                    other=named(other.tool), light=other.weight, heavy=walk.weight, reason=_reason(other, walk, edge.fit),
                )
            )  # fmt: skip
    return said[:3]


def _ranked(other: OtherWay, fit: float | None) -> float:
    return other.score if fit is None or other.fit is None else other.score * other.fit


def _reason(other: OtherWay, walk: GraphWalk, fit: float | None) -> str:
    theirs = _UNTESTED if other.availability is None else other.availability
    ours = _UNTESTED if walk.availability is None else walk.availability
    calls = say("its calls succeed with {theirs:.2f} against {ours:.2f}", theirs=theirs, ours=ours)
    if fit is None or other.fit is None:
        return calls
    return say("{calls}, and it fits the request with {theirs:.2f} against {ours:.2f}", calls=calls, theirs=other.fit, ours=fit)  # fmt: skip


def because(one: Coupling) -> str:
    """What a coupling rests on."""
    match one.because:
        case "said":
            return say("an administrator said so")
        case "recorded":
            return say_count(
                "a recorded call took it from there, of {total} that took it from this answer",
                "{count} recorded calls took it from there, of {total} that took it from this answer",
                one.recorded,
                total=one.recorded_of,
            )
        case "entity":
            told = say("both are the {form} of: {entity}", form=one.form, entity=one.entity)
            return say("{told} (a description alone says so)", told=told) if one.spoken else told
        case _:
            return say("their names and types fit")


def example_told(one: Coupling) -> str:
    """A value of it, and where that is from."""
    if not one.example:
        return ""
    kind = say("from an imported call") if one.example_of == "recorded" else say("from its document")
    return f"{clipped(one.example)} ({kind})"


def said_told(one: Said) -> str:
    """What an administrator said, of what, and why."""
    word = say(_SAID.get(one.mark, one.mark))
    return f"{moment(one.at)} {one.by}: {word} · {_spoken_of(one)} · {one.reason}"


def _spoken_of(one: Said) -> str:
    match one.kind:
        case "entity" if one.entity:
            return say("{place} is of: {entity}", place=one.place, entity=one.entity)
        case "entity":
            return say("what {place} is of", place=one.place)
        case "feed":
            return say(
                "{field} of {tool} fills {parameter}", tool=named(one.target), field=one.field, parameter=one.place
            )
        case "edge":
            return say("the way to {tool}", tool=named(one.target))
        case "runs":
            return say("what runs have said of it")
        case "effect":
            return say("what a call of it does")
        case _:
            return say("the tool itself")
