"""Agendo: the events of a calendar that can be changed."""

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.state import record_effect, state_of
from playground.worlds import chance, diary

router = APIRouter(prefix="/agendo/v1/events", tags=["Productivity"])
_EVENT = refusals(e404="No event has this identifier.")
EventId = Annotated[str, Path(description="Identifier of the event.", examples=["evt_77c0a1be"])]


class EventFields(BaseModel):
    """What an event holds."""

    title: str = Field(min_length=2, max_length=120, description="Title of the event.", examples=["Grant interview"])
    starts_at: datetime = Field(description="Local start, YYYY-MM-DDTHH:MM.", examples=["2026-05-18T09:30:00"])
    duration_minutes: int = Field(60, ge=5, le=1440, description="Length in minutes.", examples=[60])
    location_city: str = Field("", description="City where it takes place.", examples=["Oskvik"])
    attendees: list[str] = Field(
        default_factory=list, max_length=50, description="E-mail addresses.", examples=[["dagny@oskvik.example"]]
    )


class EventPatch(BaseModel):
    """What is to change; the rest stays."""

    title: str | None = Field(None, min_length=2, max_length=120, description="New title.")
    starts_at: datetime | None = Field(None, description="New local start, YYYY-MM-DDTHH:MM.")
    duration_minutes: int | None = Field(None, ge=5, le=1440, description="New length in minutes.")
    location_city: str | None = Field(None, description="New city.")


class Event(EventFields):
    """An event."""

    event_id: str = Field(description="Identifier of the event.", examples=["evt_77c0a1be"])


class EventHit(BaseModel):
    """An event in a list."""

    event_id: str = Field(description="Identifier of the event.", examples=["evt_77c0a1be"])
    title: str = Field(description="Title of the event.", examples=["Grant interview"])
    starts_at: datetime = Field(description="Local start.", examples=["2026-05-18T09:30:00"])


class Events(BaseModel):
    """Events in order of time."""

    events: list[EventHit]


@router.get("", operation_id="list_events", summary="List events")
async def list_events(
    request: Request,
    text: Annotated[str | None, Query(description="Words of the title.", examples=["Grant interview"])] = None,
    time_min: Annotated[date | None, Query(description="First day.", examples=["2026-05-10"])] = None,
    time_max: Annotated[date | None, Query(description="Last day.", examples=["2026-05-20"])] = None,
) -> Events:
    """Returns the events of my calendar (meetings, appointments) in order of time. All parameters are optional."""
    wanted = (text or "").strip().casefold()
    found = [
        one
        for one in _all(request).values()
        if wanted in one.title.casefold()
        and (time_min is None or one.starts_at.date() >= time_min)
        and (time_max is None or one.starts_at.date() <= time_max)
    ]
    found.sort(key=lambda one: (one.starts_at, one.title))
    return Events(events=[EventHit(event_id=one.event_id, title=one.title, starts_at=one.starts_at) for one in found])


@router.post("", operation_id="create_event", summary="Insert event", status_code=201)
async def create_event(request: Request, event: EventFields) -> Event:
    """Creates an event in my calendar and invites the attendees."""
    effect = record_effect(request, event.model_dump(mode="json"))
    made = Event(event_id=f"evt_{chance.identifier(8, 'new event', effect.at_seq)}", **event.model_dump())
    _all(request)[made.event_id] = made
    return made


@router.get("/{event_id}", operation_id="get_event", summary="Get event", responses=_EVENT)
async def get_event(request: Request, event_id: EventId) -> Event:
    """Returns an event with its place, length and attendees."""
    return _event(request, event_id)


@router.patch("/{event_id}", operation_id="update_event", summary="Patch event", responses=_EVENT)
async def update_event(request: Request, event_id: EventId, change: EventPatch) -> Event:
    """Changes some fields of an event, for instance to move it; fields that are not sent stay as they are."""
    event = _event(request, event_id)
    given = change.model_dump(exclude_unset=True, exclude_none=True)
    record_effect(request, {"event_id": event_id, **change.model_dump(mode="json", exclude_unset=True)})
    changed = event.model_copy(update=given)
    _all(request)[event_id] = changed
    return changed


@router.delete("/{event_id}", operation_id="delete_event", summary="Delete event", status_code=204, responses=_EVENT)
async def delete_event(request: Request, event_id: EventId) -> Response:
    """Deletes an event; the attendees are told."""
    _event(request, event_id)
    record_effect(request, {"event_id": event_id})
    del _all(request)[event_id]
    return Response(status_code=204)


def _all(request: Request) -> dict[str, Event]:
    """The calendar; it starts with what the world has in it."""
    kept, first = state_of(request).table(Event), "calendar filled"
    if state_of(request).visit(first) == 1:
        for one in diary.entries():
            kept[one.event_id] = Event(
                event_id=one.event_id,
                title=one.title,
                starts_at=one.start,
                duration_minutes=one.minutes,
                location_city=one.city.name,
                attendees=[guest.email for guest in one.guests],
            )
    return kept


def _event(request: Request, event_id: str) -> Event:
    found = _all(request).get(event_id)
    if found is None:
        refuse(404, f"No such event: {event_id}.")
    return found


SERVICE = Service(router, "Agendo", "Calendar events: list, create, move, delete.")
