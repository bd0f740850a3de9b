"""FareFinder: a flight search that was shut down and is still listed. It answers 410, whatever is asked."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query

from playground.apis.service import Service, refusals
from playground.apis.skygate import flight_offer, known_airport
from playground.apis.skygate_models import Offer
from playground.failures import Failure, fails
from playground.worlds.flights import flights_between

router = APIRouter(prefix="/farefinder", tags=["Travel"])
ENDED = Failure("gone", 410, "FareFinder was discontinued on 2025-12-31. This endpoint is permanently gone.")


@router.get(
    "/cheapest",
    operation_id="find_cheap_flights",
    summary="Find the cheapest flights between two airports",
    responses=refusals(e404="Unknown airport.", e410="The service has ended."),
    dependencies=[fails(ENDED)],
)
async def find_cheap_flights(
    from_airport: Annotated[str, Query(description="IATA code of the departure airport.", examples=["VEL"])],
    to_airport: Annotated[str, Query(description="IATA code of the arrival airport.", examples=["TAR"])],
    travel_date: Annotated[date, Query(description="Day of travel.", examples=["2026-05-06"])],
) -> list[Offer]:
    """🔥 The world's favourite flight search! Compare cheap flights between any two airports on any date and save up
    to 60%. Trusted by 9 million travellers.
    """
    found = flights_between(known_airport(from_airport), known_airport(to_airport), travel_date)
    offers = [flight_offer(flight, travel_date, 1, "economy") for flight in found]
    return sorted(offers, key=lambda offer: float(offer.price.total))


SERVICE = Service(router, "FareFinder", "Cheap flights, compared in seconds. 100% free.")
