"""Roomly: hotels, their rates and bookings."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request

from playground.apis.roomly_models import (
    Booking,
    BookingOrder,
    Destination,
    Destinations,
    GuestReview,
    GuestReviews,
    HotelDetails,
    HotelHit,
    HotelPage,
    Rates,
    RoomRate,
)
from playground.apis.service import Service, refusals, refuse
from playground.failures import LARGE, fails
from playground.state import record_effect, state_of
from playground.worlds import hotels
from playground.worlds.clock import TODAY
from playground.worlds.geography import cities

router = APIRouter(prefix="/roomly/v2", tags=["Travel"])
LONGEST_STAY = 28
_HOTEL = refusals(e404="There is no hotel with this id.")
Amenity = Literal["wifi", "pool", "parking", "breakfast", "gym", "spa", "pets_allowed", "airport_shuttle"]
Order = Literal["review_score", "price", "stars"]
_ORDERS: Mapping[Order, Callable[[HotelHit], float]] = {
    "review_score": lambda hit: -hit.review_score,
    "price": lambda hit: hit.min_price_per_night,
    "stars": lambda hit: -hit.star_rating,
}
HotelId = Annotated[int, Path(description="hotel_id of a search result", examples=[200001])]


@router.get("/destinations", operation_id="list_destinations", summary="Destination autocomplete")
async def list_destinations(
    query: Annotated[str, Query(min_length=2, description="city, or its first letters", examples=["Velmora"])],
) -> Destinations:
    """Autocomplete for destinations. Returns the `dest_id` (city id) that the hotel search works with."""
    wanted = query.strip().casefold()
    found = [city for city in cities() if city.name.casefold().startswith(wanted)]
    return Destinations(
        status=True,
        destinations=[
            Destination(
                dest_id=hotels.destination_id(city),
                label=f"{city.name}, {city.country.name}",
                country_code=city.country.code,
                hotel_count=sum(hotel.city is city for hotel in hotels.hotels()),
            )
            for city in found
        ],
    )


@router.get(
    "/hotels",
    operation_id="search_hotels",
    summary="Search hotels",
    responses=refusals(e404="There is no destination with this id."),
)
async def search_hotels(
    dest_id: Annotated[int, Query(description="destination id, see /destinations", examples=[20000])],
    min_stars: Annotated[int, Query(ge=1, le=5, description="only hotels with as many stars or more")] = 1,
    amenities: Annotated[list[Amenity] | None, Query(description="only hotels that have all of these")] = None,
    sort_by: Annotated[Order, Query(description="best first: score and stars fall, prices rise")] = "review_score",
) -> HotelPage:
    """Hotels of a destination with stars, guest score and cheapest price, in local currency. Filter by stars and
    amenities.
    """
    city = hotels.city_of(dest_id)
    if city is None:
        refuse(404, f"There is no destination {dest_id}. Ask /destinations for its id.")
    found = [
        _hit(hotel)
        for hotel in hotels.hotels()
        if hotel.city is city and hotel.stars >= min_stars and set(amenities or ()) <= set(hotel.amenities)
    ]
    return HotelPage(total=len(found), hotels=sorted(found, key=_ORDERS[sort_by]))


@router.get("/hotels/{hotel_id}", operation_id="hotel_details", summary="Hotel details", responses=_HOTEL)
async def hotel_details(hotel_id: HotelId) -> HotelDetails:
    """Everything about one property: address, coordinates, amenities, check-in and check-out times."""
    hotel = _hotel(hotel_id)
    return HotelDetails(
        **_hit(hotel).model_dump(),
        city=hotel.city.name,
        country=hotel.city.country.name,
        latitude=hotel.latitude,
        longitude=hotel.longitude,
        amenities=list(hotel.amenities),
        check_in_from="14:00" if hotel.stars > 3 else "15:00",
        check_out_until="12:00" if hotel.stars > 3 else "10:30",
    )


@router.get(
    "/hotels/{hotel_id}/rates",
    operation_id="hotel_room_rates",
    summary="Room rates for a stay",
    responses=refusals(e400="These are no dates of a stay.", e404="There is no hotel with this id."),
)
async def hotel_room_rates(
    hotel_id: HotelId,
    check_in: Annotated[date, Query(description="day of arrival", examples=["2026-05-11"])],
    check_out: Annotated[date, Query(description="day of departure", examples=["2026-05-13"])],
    guests: Annotated[int, Query(ge=1, le=4, description="only rooms for as many")] = 1,
) -> Rates:
    """Rooms and prices of a hotel for your dates. `rate_id` is what you book."""
    hotel = _hotel(hotel_id)
    _check_stay(check_in, check_out)
    rates = [_rate(hotel, room, check_in, check_out) for room in hotel.rooms if room.sleeps >= guests]
    return Rates(hotel_id=hotel_id, nights=(check_out - check_in).days, rates=rates)


@router.get(
    "/hotels/{hotel_id}/reviews",
    operation_id="hotel_guest_reviews",
    summary="All guest reviews",
    responses=_HOTEL,
    dependencies=[fails(LARGE)],
)
async def hotel_guest_reviews(hotel_id: HotelId) -> GuestReviews:
    """Every single guest review of a hotel, unabridged, with the mean score and the number of reviews."""
    hotel = _hotel(hotel_id)
    found = [
        GuestReview(guest_name=one.guest, score=one.score, stayed_in=one.stayed, comment=one.text)
        for one in hotels.reviews(hotel_id)
    ]
    return GuestReviews(hotel_id=hotel_id, review_score=hotel.score, review_count=len(found), reviews=found)


@router.post(
    "/bookings",
    operation_id="book_room",
    summary="Book a room",
    status_code=201,
    responses=refusals(e400="The stay or the number of guests does not fit.", e404="There is no rate with this id."),
)
async def book_room(request: Request, order: BookingOrder) -> Booking:
    """Books a room for a guest. The booking is binding and the guest's card is charged on arrival."""
    _check_stay(order.check_in, order.check_out)
    found = [(hotel, room) for hotel in hotels.hotels() for room in hotel.rooms if room.rate_id == order.rate_id]
    if not found:
        refuse(404, f"There is no rate {order.rate_id}. Ask the hotel's rates again.")
    hotel, room = found[0]
    if order.guests > room.sleeps:
        refuse(400, f"The {room.name.lower()} is for {room.sleeps}.")
    effect = record_effect(request, order.model_dump(mode="json"))
    booking = Booking(
        booking_id=f"RML-{effect.at_seq:06}",
        status="confirmed",
        hotel_name=hotel.name,
        room_name=room.name,
        check_in=order.check_in.isoformat(),
        check_out=order.check_out.isoformat(),
        total_price=hotels.room_price(room, order.check_in, order.check_out),
        currency=hotel.city.country.currency,
    )
    state_of(request).table(Booking)[booking.booking_id] = booking
    return booking


@router.get(
    "/bookings/{booking_id}",
    operation_id="get_booking",
    summary="A booking",
    responses=refusals(e404="There is no such booking."),
)
async def get_booking(
    request: Request, booking_id: Annotated[str, Path(description="reference of the booking", examples=["RML-000001"])]
) -> Booking:
    """Look a booking up by its reference."""
    found = state_of(request).table(Booking).get(booking_id.strip().upper())
    if found is None:
        refuse(404, f"There is no booking {booking_id}.")
    return found


def _hotel(hotel_id: int) -> hotels.Hotel:
    found = hotels.hotel_by_id(hotel_id)
    if found is None:
        refuse(404, f"There is no hotel {hotel_id}.")
    return found


def _check_stay(check_in: date, check_out: date) -> None:
    if check_in < TODAY or not 1 <= (check_out - check_in).days <= LONGEST_STAY:
        refuse(400, f"A stay begins on {TODAY} or later and lasts 1 to {LONGEST_STAY} nights.")


def _hit(hotel: hotels.Hotel) -> HotelHit:
    return HotelHit(
        hotel_id=hotel.hotel_id,
        hotel_name=hotel.name,
        star_rating=hotel.stars,
        review_score=hotel.score,
        min_price_per_night=hotel.cheapest,
        currency=hotel.city.country.currency,
    )


def _rate(hotel: hotels.Hotel, room: hotels.Room, check_in: date, check_out: date) -> RoomRate:
    return RoomRate(
        rate_id=room.rate_id,
        room_name=room.name,
        sleeps=room.sleeps,
        price_per_night=room.per_night,
        total_price=hotels.room_price(room, check_in, check_out),
        currency=hotel.city.country.currency,
    )


SERVICE = Service(router, "Roomly", "Stay anywhere: hotels in seventy cities, real prices, instant booking.")
