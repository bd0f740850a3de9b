"""SkyGate Flights: airports, non-stop flights and how they are doing."""

from datetime import date, datetime, time, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from playground.apis.service import Service, refusals, refuse
from playground.apis.skygate_models import (
    AirportDetails,
    AirportHit,
    FlightStatus,
    Meta,
    Offer,
    OfferItems,
    Offers,
    Price,
)
from playground.worlds import flights
from playground.worlds.clock import TODAY

router = APIRouter(prefix="/skygate/v1", tags=["Travel"])
LAST_DAY = TODAY + timedelta(days=330)
NOON = datetime.combine(TODAY, time(12))
Cabin = Literal["economy", "premium", "business"]


@router.get("/airports", operation_id="findAirports", summary="Airport lookup")
async def find_airports(
    city: Annotated[str, Query(min_length=2, description="City name or its first letters.", examples=["Velmora"])],
) -> list[AirportHit]:
    """Looks up airports by city. Use the returned `iataCode` wherever an airport code is asked for."""
    wanted = city.strip().casefold()
    return [
        AirportHit.model_validate(_fields(one))
        for one in flights.airports()
        if one.city.name.casefold().startswith(wanted)
    ]


@router.get(
    "/airports/{iataCode}",
    operation_id="getAirport",
    summary="Airport facts",
    responses=refusals(e404="Unknown airport code."),
)
async def get_airport(
    iata_code: Annotated[str, Path(alias="iataCode", description="Three-letter airport code.", examples=["VEL"])],
) -> AirportDetails:
    """Terminals, elevation, coordinates and all non-stop destinations of one airport."""
    airport = known_airport(iata_code)
    codes = sorted({flight.destination.code for flight in flights.flights() if flight.origin is airport})
    more = {"terminals": airport.terminals, "elevation_metres": airport.city.elevation, "destinations": codes}
    return AirportDetails.model_validate(_fields(airport) | more)


@router.get(
    "/flights",
    operation_id="searchFlights",
    summary="Flight offers search",
    responses=refusals(e400="The date is out of the booking window.", e404="Unknown airport code."),
)
async def search_flights(
    origin_code: Annotated[str, Query(alias="originCode", description="Airport code of departure.", examples=["VEL"])],
    destination_code: Annotated[
        str, Query(alias="destinationCode", description="Airport code of arrival.", examples=["TAR"])
    ],
    departure_date: Annotated[
        date, Query(alias="departureDate", description="Date of departure, YYYY-MM-DD.", examples=["2026-05-06"])
    ],
    adults: Annotated[int, Query(ge=1, le=9, description="Number of adult travellers.")] = 1,
    cabin: Annotated[Cabin, Query(description="Cabin class.")] = "economy",
    max_price: Annotated[
        float | None, Query(alias="maxPrice", ge=0, description="Leave out dearer offers, in the fare's currency.")
    ] = None,
) -> Offers:
    """Search non-stop flights between two airports on a given day. Offers come sorted by departure time, with the fare
    in the currency of the country of departure.
    """
    origin, destination = known_airport(origin_code), known_airport(destination_code)
    if not TODAY <= departure_date <= LAST_DAY:
        refuse(400, f"departureDate must lie between {TODAY} and {LAST_DAY}.")
    found = flights.flights_between(origin, destination, departure_date)
    items = [flight_offer(one, departure_date, adults, cabin) for one in found]
    kept = [item for item in items if max_price is None or float(item.price.total) <= max_price]
    return Offers(data=OfferItems(items=kept), meta=Meta(total_count=len(kept), cabin=cabin))


@router.get(
    "/flights/{flightNumber}/status",
    operation_id="getFlightStatus",
    summary="Live flight status",
    responses=refusals(e404="No flight has this number."),
)
async def get_flight_status(
    flight_number: Annotated[
        str, Path(alias="flightNumber", description="Flight number, e.g. from a search.", examples=["VE101"])
    ],
    day: Annotated[date | None, Query(alias="date", description="Date of departure; today when left out.")] = None,
) -> FlightStatus:
    """Is my flight on time? Status, delay, gate and estimated arrival of a flight on a day."""
    flight = flights.flight_by_number(flight_number)
    if flight is None:
        refuse(404, f"No flight {flight_number}.")
    on = day or TODAY
    late = flight.delay(on) if flight.flies_on(on) else 0
    return FlightStatus(
        flight_number=flight.number,
        date=on.isoformat(),
        status=_status(flight, on, late),
        delay_minutes=late,
        gate=flight.gate(on) if flight.flies_on(on) else None,
        origin_code=flight.origin.code,
        destination_code=flight.destination.code,
        scheduled_departure=flight.departure(on).isoformat(timespec="minutes"),
        estimated_arrival=(flight.arrival(on) + timedelta(minutes=late)).isoformat(timespec="minutes"),
    )


def known_airport(code: str) -> flights.Airport:
    """The airport of a code; 404 where there is none."""
    found = flights.airport_by_code(code)
    if found is None:
        refuse(404, f"Unknown airport code: {code}.")
    return found


def _status(flight: flights.Flight, day: date, late: int) -> str:
    """At noon local time of the destination, on the playground's day."""
    if not flight.flies_on(day):
        return "not operating"
    if flight.arrival(day) + timedelta(minutes=late) <= NOON:
        return "landed"
    return "delayed" if late else "scheduled"


def flight_offer(flight: flights.Flight, day: date, adults: int, cabin: Cabin) -> Offer:
    """A flight on a day as the service offers it."""
    return Offer(
        flight_number=flight.number,
        carrier_name=flights.airline_name(flight.airline),
        origin_code=flight.origin.code,
        destination_code=flight.destination.code,
        departure_at=flight.departure(day).isoformat(timespec="minutes"),
        arrival_at=flight.arrival(day).isoformat(timespec="minutes"),
        duration_minutes=flight.minutes,
        stops=0,
        price=Price(total=f"{adults * flight.fare(day, cabin):.2f}", currency=flight.origin.city.country.currency),
    )


def _fields(airport: flights.Airport) -> dict[str, object]:
    city = airport.city
    return {
        "iata_code": airport.code,
        "airport_name": airport.name,
        "city_name": city.name,
        "country_code": city.country.code,
        "latitude": city.latitude,
        "longitude": city.longitude,
        "time_zone": city.country.timezone,
    }


SERVICE = Service(router, "SkyGate Flights", "Airports and non-stop flights of twelve carriers, with live status.")
