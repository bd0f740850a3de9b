"""An offer for people and for programs: its tools with the reasons that brought each, and why a tool is not in it."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent.offer.tool_offer import AbsenceReport, OfferEntry, OfferReason, ToolOffer
from agent.text import clean_text

SHOWN = 5
"""Reasons that are shown of a tool."""


def offer_figures(offer: ToolOffer) -> dict[str, Any]:
    """An offer as JSON."""
    return {"tools": [_tool(tool) for tool in offer.tools], "considered": offer.considered}


def absence_figures(absence: AbsenceReport) -> dict[str, Any]:
    """Why a tool is not offered, as JSON."""
    return {
        "offered": absence.offered,
        "found": absence.found,
        "place": absence.place,
        "last": absence.last,
        "tool": _tool(absence.tool) if absence.tool else None,
        "stands_for": absence.stands_for,
        "links": [_reason(link) for link in absence.links],
    }


def _tool(tool: OfferEntry) -> dict[str, Any]:
    return {
        "id": tool.id,
        "score": tool.score,
        "reasons": [_reason(reason) for reason in tool.reasons],
        "alike": list(tool.alike),
    }


def _reason(reason: OfferReason) -> dict[str, Any]:
    signal = reason.signal
    return {
        "kind": reason.kind,
        "told": reason.description,
        "share": reason.share,
        "value": signal.value,
        "by": signal.by,
        "detail": signal.detail,
    }


def show_offer(figures: dict[str, Any]) -> None:
    """The tools in order, each with what it is offered for."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("", justify="right")
    table.add_column("score", justify="right")
    table.add_column("tool", overflow="fold")
    for place, tool in enumerate(figures["tools"], start=1):
        table.add_row(str(place), f"{tool['score']:.2f}", _with_reasons(tool))
    Console().print(table)


def show_absence(name: str, figures: dict[str, Any]) -> None:
    """What speaks for a tool, what joins it to those offered, and what it lacks."""
    console, tool = Console(highlight=False, soft_wrap=True), figures["tool"]
    console.print(Text(_verdict(name, figures)))
    if tool is not None:
        console.print(_with_reasons(tool))
    for link in figures["links"]:
        console.print(
            Text(f"  {link['told']}: {clean_text(link['by'])} ({clean_text(link['detail'], 120)})", style="dim")
        )
    if tool is not None and not figures["links"]:
        console.print(Text("  no feed and no past call joins it to a tool that is offered", style="dim"))


def _verdict(name: str, figures: dict[str, Any]) -> str:
    tool = figures["tool"]
    if tool is None:
        return f"{clean_text(name)} has no document: it can be offered to nobody"
    found = f"the search finds it as {figures['found']}." if figures["found"] else "the search does not find it"
    if figures["offered"] and figures["stands_for"]:
        return f"{clean_text(name)} is offered as {clean_text(figures['stands_for'])}, a copy of it; {found}"
    if figures["offered"]:
        return f"{clean_text(name)} is offered as {figures['place']}.; {found}"
    short = figures["last"] - tool["score"]
    return f"{clean_text(name)} is not offered: {found}, it is {figures['place']}. of all that were weighed, and {short:.2f} short of the last offered"


def _with_reasons(tool: dict[str, Any]) -> Text:
    text = Text(clean_text(tool["id"]))
    for reason in tool["reasons"][:SHOWN]:
        by = f" {clean_text(reason['by'])}" if reason["by"] else ""
        detail = f" ({clean_text(reason['detail'], 120)})" if reason["detail"] else ""
        text.append(f"\n{reason['share']:+.2f}  {reason['told']}{by and ':'}{by}{detail}", style="dim")
    if tool["alike"]:
        text.append(f"\nalso as {', '.join(map(clean_text, tool['alike']))}", style="dim")
    return text
