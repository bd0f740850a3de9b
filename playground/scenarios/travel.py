"""Flights: first the airports, then the flights between them; a dead search for cheap ones is still tried."""

from collections.abc import Iterator
from typing import Any

from playground.scenarios.choice import told
from playground.scenarios.entities import Entries, other_currency, some_flights
from playground.session import Scenario, Session

_AIRPORT = ("Which airport serves {city}?", "What is the airport code of {city}?")
_NON_STOP = (
    "Where can I fly to non-stop from {city}?",
    "Which airports have direct connections from {city}?",
    "How many terminals does the airport of {city} have?",
)
_FLIGHTS = (
    "Find me a flight from {origin} to {destination} on {day}.",
    "When do planes leave {origin} for {destination} on {day}?",
    "I have to be in {destination} on {day}. Which flights are there from {origin}?",
    "Flights {origin} - {destination}, {day}, please.",
)
_CHEAPEST = (
    "What is the cheapest flight from {origin} to {destination} on {day}?",
    "Find the lowest fare between {origin} and {destination} for {day}.",
    "I want to fly from {origin} to {destination} on {day} and pay as little as possible.",
)
_FARE = (
    "What does a flight from {origin} to {destination} on {day} cost in {currency}?",
    "How many {currency} do I pay to fly from {origin} to {destination} on {day}?",
)
_STATUS = (
    "Is flight {number} on time today?",
    "What is the status of {number}?",
    "From which gate does {number} leave?",
)
_ZONE = (
    "What is the UTC offset at the place where flight {number} lands?",
    "In which time zone is the destination of flight {number}, and how far ahead of UTC is it?",
)
_WEATHER = (
    "How is the weather at the airport that flight {number} goes to?",
    "I am on {number} today. What temperature awaits me when we land?",
)
_UNKNOWN = ("Is flight {number} delayed?",)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_AIRPORT, _airport, _served(4, "airport"))
    yield from told(_NON_STOP, _non_stop, _served(4, "non-stop"))
    yield from told(_FLIGHTS, _flights, _journeys(8, "flights"))
    yield from told(_CHEAPEST, _cheapest, _journeys(6, "cheapest"))
    yield from told(_FARE, _fare, _fares(5))
    yield from told(_STATUS, _status, _numbers(6, "status"))
    yield from told(_ZONE, _zone, _numbers(4, "zone"))
    yield from told(_WEATHER, _weather, _numbers(4, "weather"))
    yield from told(_UNKNOWN, _unknown, [{"number": "XX999"}])


def _served(count: int, key: str) -> Entries:
    return [{"city": flight.origin.city.name} for flight, _ in some_flights(count, "served", key)]


def _journeys(count: int, key: str) -> Entries:
    return [
        {"origin": flight.origin.city.name, "destination": flight.destination.city.name, "day": day.isoformat()}
        for flight, day in some_flights(count, key)
    ]


def _fares(count: int) -> Entries:
    return [
        {
            "origin": flight.origin.city.name,
            "destination": flight.destination.city.name,
            "day": day.isoformat(),
            "currency": other_currency(flight.origin.city.country.currency, flight.number),
        }
        for flight, day in some_flights(count, "fare")
    ]


def _numbers(count: int, key: str) -> Entries:
    return [{"number": flight.number} for flight, _ in some_flights(count, key)]


def _airport(session: Session, city: str) -> None:
    found = session.call("findAirports", city=city)[0]
    session.answer(f"{found['airportName']} ({found['iataCode']}) serves {city}.")


def _non_stop(session: Session, city: str) -> None:
    code = session.call("findAirports", city=city)[0]["iataCode"]
    airport = session.call("getAirport", iataCode=code)
    session.answer(
        f"{airport['airportName']} has {airport['terminals']} terminals and flights to {', '.join(airport['destinations'])}."
    )


def _codes(session: Session, origin: str, destination: str) -> tuple[str, str]:
    here = session.call("findAirports", city=origin)[0]["iataCode"]
    return here, session.call("findAirports", city=destination)[0]["iataCode"]


def _offers(session: Session, origin: str, destination: str, day: str) -> list[dict[str, Any]]:
    here, there = _codes(session, origin, destination)
    return session.call("searchFlights", originCode=here, destinationCode=there, departureDate=day)["data"]["items"]


def _flights(session: Session, origin: str, destination: str, day: str) -> None:
    found = _offers(session, origin, destination, day)
    session.answer("; ".join(f"{one['flightNumber']} leaves at {one['departureAt']}" for one in found) + ".")


def _cheapest(session: Session, origin: str, destination: str, day: str) -> None:
    here, there = _codes(session, origin, destination)
    session.fails("find_cheap_flights", from_airport=here, to_airport=there, travel_date=day)
    session.turn_back("FareFinder is gone for good. SkyGate sells the same flights with their prices.")
    found = session.call("searchFlights", originCode=here, destinationCode=there, departureDate=day)["data"]["items"]
    best = min(found, key=lambda offer: float(offer["price"]["total"]))
    session.answer(f"{best['flightNumber']} for {best['price']['total']} {best['price']['currency']} is the cheapest.")


def _fare(session: Session, origin: str, destination: str, day: str, currency: str) -> None:
    found = _offers(session, origin, destination, day)
    price = min((offer["price"] for offer in found), key=lambda one: float(one["total"]))
    paid = session.call(
        "convert_currency", from_currency=price["currency"], to_currency=currency, amount=float(price["total"])
    )
    session.answer(f"The cheapest flight costs {paid['converted_amount']} {currency}.")


def _status(session: Session, number: str) -> None:
    found = session.call("getFlightStatus", flightNumber=number)
    session.answer(f"{number} is {found['status']}, {found['delayMinutes']} minutes late, gate {found['gate']}.")


def _zone(session: Session, number: str) -> None:
    there = session.call("getFlightStatus", flightNumber=number)["destinationCode"]
    airport = session.call("getAirport", iataCode=there)
    zone = session.call("get_timezone_info", timezone=airport["timeZone"])
    session.answer(f"{number} lands in {airport['cityName']}, time zone {zone['timezone']}, UTC{zone['utc_offset']}.")


def _weather(session: Session, number: str) -> None:
    there = session.call("getFlightStatus", flightNumber=number)["destinationCode"]
    airport = session.call("getAirport", iataCode=there)
    now = session.call("get_current_weather", latitude=airport["latitude"], longitude=airport["longitude"])
    session.answer(f"In {airport['cityName']} it is {now['temperature']} °C with {now['condition']}.")


def _unknown(session: Session, number: str) -> None:
    session.fails("getFlightStatus", flightNumber=number)
    session.give_up()
