"""Deskhive: meeting rooms by the hour."""

from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.failures import fails, timeout
from playground.state import record_effect, state_of
from playground.worlds import chance, desks
from playground.worlds.desks import Room

router = APIRouter(prefix="/deskhive", tags=["Reservations"])
Amenity = Literal["projector", "whiteboard", "video", "catering", "daylight"]
RoomId = Annotated[str, Path(description="Identifier of the room.", examples=["room_b1e07742"])]
_ROOM = refusals(e404="No room has this identifier.")


class RoomHit(BaseModel):
    """A room in a list."""

    room_id: str = Field(description="Identifier of the room.", examples=["room_b1e07742"])
    room_name: str = Field(description="Name of the room.", examples=["Lighthouse Room"])
    seats: int = Field(description="Number of seats.", examples=[12])


class RoomDetails(RoomHit):
    """A room."""

    street_address: str = Field(description="Street and number.", examples=["12 Mill Lane"])
    city: str = Field(description="City where it is.", examples=["Oskvik"])
    hourly_price: float = Field(description="Price of an hour.", examples=[24.5])
    currency_code: str = Field(description="Currency of the price.", examples=["VDK"])
    amenities: list[str] = Field(description="What is in it.", examples=[["daylight", "projector"]])


class FreeHours(BaseModel):
    """When a room is free."""

    room_id: str = Field(description="Identifier of the room.", examples=["room_b1e07742"])
    date: str = Field(description="The day.", examples=["2026-05-12"])
    free_hours: list[int] = Field(description="Hours that can be reserved, 9 being 9:00 to 10:00.", examples=[[8, 9]])


class Wish(BaseModel):
    """What to reserve."""

    room_id: str = Field(description="Identifier of the room.", examples=["room_b1e07742"])
    date: date
    from_hour: int = Field(ge=8, le=19, description="First hour.", examples=[9])
    hours: int = Field(1, ge=1, le=8, description="Number of hours.", examples=[2])
    guest_name: str = Field(min_length=2, description="In whose name.", examples=["Dagny Iversholt"])


class Reservation(BaseModel):
    """A reservation."""

    reservation_code: str = Field(description="Code of the reservation.", examples=["RSV-7F20AC"])
    room_name: str = Field(description="Name of the room.", examples=["Lighthouse Room"])
    date: str = Field(description="The day.", examples=["2026-05-12"])
    total_price: float = Field(description="Price of all hours.", examples=[49.0])
    currency_code: str = Field(description="Currency of the price.", examples=["VDK"])
    status: Literal["confirmed", "cancelled"] = Field(description="Whether it stands.", examples=["confirmed"])


@router.get("/rooms", operation_id="find_meeting_rooms", summary="Find meeting rooms")
async def find_meeting_rooms(
    city: Annotated[str, Query(min_length=2, description="City to meet in.", examples=["Oskvik"])],
    min_seats: Annotated[int, Query(ge=1, le=60, description="Seats needed.", examples=[8])] = 1,
    amenities: Annotated[
        list[Amenity] | None, Query(description="What the room must have.", examples=[["projector"]])
    ] = None,
) -> list[RoomHit]:
    """Find meeting rooms for hire in a city, by size and equipment."""
    wanted = city.strip().casefold()
    return [
        _hit(one)
        for one in desks.rooms()
        if one.city.name.casefold() == wanted and one.seats >= min_seats and set(amenities or ()) <= set(one.amenities)
    ]


@router.get("/rooms/{room_id}", operation_id="get_meeting_room", summary="Room page", responses=_ROOM)
async def get_meeting_room(room_id: RoomId) -> RoomDetails:
    """Address, price per hour and equipment of a meeting room."""
    room = _room(room_id)
    return RoomDetails(
        **_hit(room).model_dump(),
        street_address=room.address,
        city=room.city.name,
        hourly_price=room.hourly_price,
        currency_code=room.city.country.currency,
        amenities=list(room.amenities),
    )


@router.get(
    "/rooms/{room_id}/free",
    operation_id="check_room_availability",
    summary="Free hours",
    responses=refusals(e404="No room has this identifier.", e408="It took too long; repeat the request."),
    dependencies=[fails(timeout(every=4))],
)
async def check_room_availability(
    request: Request,
    room_id: RoomId,
    day: Annotated[date, Query(alias="date", description="Day to look at.", examples=["2026-05-12"])],
) -> FreeHours:
    """At which hours a meeting room is still free on a day."""
    room = _room(room_id)
    return FreeHours(room_id=room_id, date=day.isoformat(), free_hours=_free(request, room, day))


@router.post(
    "/reservations",
    operation_id="reserve_room",
    summary="Reserve",
    status_code=201,
    responses=refusals(e404="No room has this identifier.", e409="The room is taken at one of the hours."),
)
async def reserve_room(request: Request, wish: Wish) -> Reservation:
    """Reserve a meeting room. Binding; to be paid on arrival."""
    room = _room(wish.room_id)
    wanted = range(wish.from_hour, wish.from_hour + wish.hours)
    if not set(wanted) <= set(_free(request, room, wish.date)):
        refuse(409, f"{room.name} is not free from {wish.from_hour}:00 for {wish.hours} h on {wish.date}.")
    effect = record_effect(request, wish.model_dump(mode="json"))
    made = Reservation(
        reservation_code=f"RSV-{chance.identifier(6, 'reservation', effect.at_seq).upper()}",
        room_name=room.name,
        date=wish.date.isoformat(),
        total_price=round(room.hourly_price * wish.hours, 2),
        currency_code=room.city.country.currency,
        status="confirmed",
    )
    state_of(request).table(Reservation)[made.reservation_code] = made
    state_of(request).table(Wish)[made.reservation_code] = wish
    return made


@router.delete(
    "/reservations/{reservation_code}",
    operation_id="cancel_reservation",
    summary="Cancel",
    responses=refusals(e404="No reservation has this code."),
)
async def cancel_reservation(
    request: Request,
    reservation_code: Annotated[str, Path(description="Code of the reservation.", examples=["RSV-7F20AC"])],
) -> Reservation:
    """Cancel a reservation. Free of charge."""
    kept = state_of(request).table(Reservation)
    if reservation_code not in kept:
        refuse(404, f"No reservation has the code {reservation_code}.")
    if kept[reservation_code].status == "confirmed":
        record_effect(request, {"reservation_code": reservation_code})
        kept[reservation_code] = kept[reservation_code].model_copy(update={"status": "cancelled"})
        del state_of(request).table(Wish)[reservation_code]
    return kept[reservation_code]


def _free(request: Request, room: Room, day: date) -> list[int]:
    taken = {
        hour
        for wish in state_of(request).table(Wish).values()
        if (wish.room_id, wish.date) == (room.room_id, day)
        for hour in range(wish.from_hour, wish.from_hour + wish.hours)
    }
    return [hour for hour in room.free_hours(day) if hour not in taken]


def _room(room_id: str) -> Room:
    found = desks.room_by_id(room_id)
    if found is None:
        refuse(404, f"No such room: {room_id}.")
    return found


def _hit(room: Room) -> RoomHit:
    return RoomHit(room_id=room.room_id, room_name=room.name, seats=room.seats)


SERVICE = Service(router, "Deskhive", "Meeting rooms by the hour, in every city.")
