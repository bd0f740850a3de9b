"""FareFinder: a flight search that was shut down and is still listed. It answers 410, whatever is asked."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query

from playground.apis.service import Service, refusals, refuse
from playground.apis.skygate_models import Offer

router = APIRouter(prefix="/farefinder", tags=["Travel"])


@router.get(
    "/cheapest",
    operation_id="find_cheap_flights",
    summary="Find the cheapest flights between two airports",
    responses=refusals(e410="The service has ended."),
)
async def find_cheap_flights(
    from_airport: Annotated[str, Query(description="IATA code of the departure airport.", examples=["VEL"])],
    to_airport: Annotated[str, Query(description="IATA code of the arrival airport.", examples=["TAR"])],
    date: Annotated[date, Query(description="Day of travel.", examples=["2026-05-06"])],
) -> list[Offer]:
    """🔥 The world's favourite flight search! Compare cheap flights between any two airports on any date and save up
    to 60%. Trusted by 9 million travellers.
    """
    del from_airport, to_airport, date
    refuse(410, "FareFinder was discontinued on 2025-12-31. This endpoint is permanently gone.")


SERVICE = Service(router, "FareFinder", "Cheap flights, compared in seconds. 100% free.")
