"""Atlas Places: names of cities to coordinates, and back."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds.geography import City, cities, city_by_id, nearest_city

router = APIRouter(prefix="/atlas", tags=["Location"])


class Place(BaseModel):
    """A city with its coordinates."""

    place_id: str = Field(description="Identifier of the place.", examples=["plc_3f1c09aa"])
    city: str = Field(description="Name of the city.", examples=["Velmora"])
    country: str = Field(description="Name of the country.", examples=["Veldania"])
    country_code: str = Field(description="Two-letter code of the country.", examples=["XV"])
    latitude: float = Field(description="Latitude in decimal degrees.", examples=[58.2])
    longitude: float = Field(description="Longitude in decimal degrees.", examples=[11.6])
    population: int = Field(description="Number of people who live there.", examples=[1284000])
    timezone: str = Field(description="Name of the time zone.", examples=["Veldania/Velmora"])


class Places(BaseModel):
    """The places found, the best match first."""

    count: int = Field(description="How many places were found.", examples=[1])
    results: list[Place]


class PlaceDetails(Place):
    """A place with more about it."""

    elevation: int = Field(description="Height above the sea in metres.", examples=[12])
    is_capital: bool = Field(description="Whether it is the capital of its country.", examples=[True])


class NearestPlace(BaseModel):
    """The nearest city and how far it is."""

    place: Place
    distance_km: float = Field(description="Distance in kilometres.", examples=[3.2])


def place_of(city: City) -> Place:
    """A city as the service shows it."""
    return Place.model_validate(_fields(city))


def _fields(city: City) -> dict[str, str | float | int]:
    return {
        "place_id": city.place_id,
        "city": city.name,
        "country": city.country.name,
        "country_code": city.country.code,
        "latitude": city.latitude,
        "longitude": city.longitude,
        "population": city.population,
        "timezone": city.country.timezone,
    }


@router.get("/search", operation_id="search_places", summary="Find a city by name")
async def search_places(
    city: Annotated[str, Query(min_length=2, description="Name of the city, or its beginning.", examples=["Velmora"])],
    country_code: Annotated[
        str | None, Query(min_length=2, max_length=2, description="Only places in this country.", examples=["XV"])
    ] = None,
    limit: Annotated[int, Query(ge=1, le=20, description="How many places to return at most.")] = 5,
) -> Places:
    """Geocoding: find a city by its name and get its coordinates (latitude and longitude), its population, its country
    and its time zone.
    """
    wanted = city.strip().casefold()
    found = [
        place
        for place in cities()
        if place.name.casefold().startswith(wanted) and (not country_code or place.country.code == country_code.upper())
    ]
    found.sort(key=lambda place: (place.name.casefold() != wanted, -place.population))
    results = [place_of(place) for place in found[:limit]]
    return Places(count=len(results), results=results)


@router.get("/reverse", operation_id="reverse_geocode", summary="Find the city nearest to coordinates")
async def reverse_geocode(
    latitude: Annotated[float, Query(ge=-90, le=90, description="Latitude in decimal degrees.", examples=[58.2])],
    longitude: Annotated[float, Query(ge=-180, le=180, description="Longitude in decimal degrees.", examples=[11.6])],
) -> NearestPlace:
    """Reverse geocoding: the city that lies nearest to a point on the map, given by its coordinates."""
    city, distance = nearest_city(latitude, longitude)
    return NearestPlace(place=place_of(city), distance_km=distance)


@router.get(
    "/places/{place_id}",
    operation_id="get_place_details",
    summary="Details of a place",
    responses=refusals(e404="No place has this identifier."),
)
async def get_place_details(
    place_id: Annotated[str, Path(description="Identifier of the place, from a search.", examples=["plc_3f1c09aa"])],
) -> PlaceDetails:
    """Details of a place: its elevation above sea level, and whether it is the capital of its country."""
    city = city_by_id(place_id)
    if city is None:
        refuse(404, f"No such place: {place_id}.")
    more = {"elevation": city.elevation, "is_capital": city.name == city.country.capital}
    return PlaceDetails.model_validate(_fields(city) | more)


SERVICE = Service(router, "Atlas Places", "A gazetteer of the world's cities: geocoding in both directions.")
