"""Why a tool was, or was not, among those that a run was offered."""

import asyncio
from typing import Annotated

from fastapi import Path
from pydantic import BaseModel

from agent.offer.tool_offer import AbsenceReport, OfferReason
from agent.programs.offered_functions import OFFER_SIZE
from domain.errors import NotFoundError
from domain.event import CallStarted, CandidatesConsidered
from domain.tool import ToolId
from graph.tool_description import find_tool
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId, ToolName
from server.runs.event_journal import parse_events
from server.token_scopes import by_token

router = operations("/runs/{run_id}", tag="runs", responses=problems(401, 404))
Name = Annotated[
    ToolName, Path(description="Its id, its function or the name of its API.", examples=["places/search/country_code"])
]
_REASONS = 8
_KINDS = ("candidates.considered", "call.started")


class ShownReason(BaseModel):
    """``share``: what it adds to the score, or takes from it. ``by``: the tool that it comes from, if any; ``detail``: in its own figures."""

    told: str
    share: float
    by: str = ""
    detail: str = ""


class WhyNot(BaseModel):
    """``place_then``: in the run's own offer, from 1; 0: it was not in it. ``called``: how often the run called it.

    As things stand now: ``offered``: whether the same request would be offered it; ``place``: among the ``considered`` tools that are weighed, ``found``: in the search,
    0: it is not there. ``short``: of the score of the last that is offered; ``stands_for``: the copy of it that is offered in its place. ``links``: what joins
    it to those that are offered.
    """

    tool: ToolId
    place_then: int
    called: int
    offered: bool
    place: int
    found: int
    short: float
    stands_for: str = ""
    reasons: list[ShownReason]
    links: list[ShownReason]


@router.get("/offer/{tool:path}", summary="Why a tool was, or was not, offered to a run", responses=problems(400, 503))
@by_token("read")
async def why_not(run_id: RowId, tool: Name, user: CurrentUser, services: CurrentServices) -> WhyNot:
    run = await services.storage.runs.get(run_id, user.id)
    if run is None:
        raise NotFoundError("there is no such run")
    container = await services.agents.get_container()
    about = await find_tool(container.graph, tool.strip())
    absence = await (await container.create_offer_maker()).explain_absence(run.request, OFFER_SIZE, about)
    records = await parse_events(await services.storage.events.list_kinds(run_id, _KINDS))
    then, called = await asyncio.to_thread(_then, [one.event for one in records], about)
    weighed = absence.tool
    return WhyNot(
        tool=about,
        place_then=then,
        called=called,
        offered=absence.offered,
        place=absence.place or 0,
        found=absence.found or 0,
        short=max(0.0, absence.last - weighed.score) if weighed is not None and not absence.offered else 0.0,
        stands_for=absence.stands_for or "",
        reasons=[_shown(one) for one in (weighed.reasons if weighed is not None else ())[:_REASONS]],
        links=_links(absence),
    )


def _then(events: list[object], tool: ToolId) -> tuple[int, int]:
    """Its best place in what the run was offered, and how often it was called."""
    places = [
        place
        for event in events
        if isinstance(event, CandidatesConsidered)
        for place, one in enumerate(event.candidates, start=1)
        if one.tool == tool
    ]
    return min(places, default=0), sum(isinstance(one, CallStarted) and one.tool == tool for one in events)


def _links(absence: AbsenceReport) -> list[ShownReason]:
    return [_shown(one) for one in absence.links[:_REASONS]]


def _shown(reason: OfferReason) -> ShownReason:
    signal = reason.signal
    return ShownReason(told=reason.description, share=reason.share, by=signal.by or "", detail=signal.detail)
