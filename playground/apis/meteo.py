"""Meteo Classic: the old forecast service. It was popular, and it has been switched off: 503, whatever is asked."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.apis.skyline import DayForecast, day_forecast
from playground.worlds.geography import city_by_id
from playground.worlds.weather import forecast

router = APIRouter(prefix="/meteo", tags=["Weather"])


class PlaceForecast(BaseModel):
    """A forecast for a named place."""

    city: str = Field(description="Name of the city.", examples=["Velmora"])
    days: list[DayForecast]


@router.get(
    "/places/{place_id}/forecast",
    operation_id="get_place_forecast",
    summary="Weather forecast for a place",
    responses=refusals(e404="No place has this identifier.", e503="The service is not available."),
)
async def get_place_forecast(
    request: Request,
    place_id: Annotated[str, Path(description="Identifier of the place, from a search.", examples=["plc_3f1c09aa"])],
    days: Annotated[int, Query(ge=1, le=10, description="Number of days to forecast.", examples=[3])] = 3,
) -> PlaceForecast:
    """Weather forecast for the next days in a city: highest and lowest temperature and rain, day by day, for a place
    identifier.
    """
    if not request.app.state.meteo_in_service:
        refuse(503, "Meteo Classic is not available. Please try again later.", {"Retry-After": "1"})
    city = city_by_id(place_id)
    if city is None:
        refuse(404, f"No such place: {place_id}.")
    daily = [day_forecast(day) for day in forecast(city.latitude, city.longitude, days)]
    return PlaceForecast(city=city.name, days=daily)


SERVICE = Service(router, "Meteo Classic", "Weather forecasts for places of the gazetteer, since 1998.")
