"""Why a tool was, or was not, offered to a run, asked of the server."""

from collections.abc import Iterator
from urllib.parse import quote

from pydantic import BaseModel, Field

from domain.tool import ToolId
from ui.client import Client, read
from ui.language import say
from ui.walk_graph import tool_name

ROUTE = "/runs/{run_id}/offer/{tool}"
"""The operation, as the server's document names it."""
_SHOWN, _LINKS = 5, 3


class Reason(BaseModel):
    """``share``: what it adds to the score."""

    told: str
    share: float = 0.0
    by: ToolId = ToolId("")
    detail: str = ""


class WhyNot(BaseModel):
    """``place_then``: in the run's own offer, 0: it was not in it; the rest as things stand now."""

    tool: ToolId
    place_then: int = 0
    called: int = 0
    offered: bool = False
    place: int = 0
    found: int = 0
    short: float = 0.0
    stands_for: ToolId = ToolId("")
    reasons: list[Reason] = Field(default_factory=list[Reason])
    links: list[Reason] = Field(default_factory=list[Reason])


def why_not(client: Client, run: str, tool: str) -> WhyNot:
    """Raises ServerError: no tool, or several, are called so; the message names what is near."""
    return read(WhyNot, client.send("GET", f"/runs/{run}/offer/{quote(tool, safe='')}"))


def told(found: WhyNot) -> Iterator[str]:
    """What is known of it, a sentence a line."""
    name = tool_name(found.tool)
    if found.called:
        yield say("{tool} was offered and called.", tool=name)
    elif found.place_then:
        yield say(
            "{tool} was offered, in place {place}; the program did not call it.", tool=name, place=found.place_then
        )
    else:
        yield say("{tool} was not offered to this run.", tool=name)
    if found.stands_for:
        yield say("{tool}, a copy of it, is offered in its place.", tool=tool_name(found.stands_for))
    searched = (
        say("the search finds it in place {place}", place=found.found)
        if found.found
        else say("the search does not find it")
    )
    if found.offered:
        yield say("Asked now, it would be offered: {searched}.", searched=searched)
    else:
        yield say(
            "Asked now, it would not be offered: {searched}, and it weighs {short:.2f} less than the last that is.",
            searched=searched,
            short=found.short,
        )
    for one in found.reasons[:_SHOWN]:
        yield f"{one.share:+.2f}  {_reason(one)}"
    for one in found.links[:_LINKS]:
        yield say("Joined to what is offered: {reason}", reason=_reason(one))
    if not found.links and not found.offered:
        yield say("No answer that fills a parameter and no past call joins it to a tool that is offered.")


def _reason(one: Reason) -> str:
    by = f": {tool_name(one.by)}" if one.by else ""
    return f"{one.told}{by}{f' ({one.detail})' if one.detail else ''}"
