"""Mapfolk: a geocoder made by volunteers. Its search does what Atlas Places' does, with other words."""

from math import asin, cos, radians, sin, sqrt
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service
from playground.failures import fails, slow
from playground.worlds.geography import cities, nearest_city

router = APIRouter(prefix="/mapfolk", tags=["Location"])
EARTH_RADIUS = 6371.0
SLOW = 1.2


class Feature(BaseModel):
    """A named point on the map."""

    name: str = Field(description="Name of the settlement.", examples=["Velmora"])
    display_name: str = Field(description="Name with the country.", examples=["Velmora, Veldania"])
    lat: float = Field(description="WGS84 latitude.", examples=[58.2])
    lng: float = Field(description="WGS84 longitude.", examples=[11.6])


class Height(BaseModel):
    """The ground at a point."""

    elevation_m: int = Field(description="Metres above sea level.", examples=[12])


class Distance(BaseModel):
    """How far it is."""

    distance_km: float = Field(description="Great-circle distance in kilometres.", examples=[412.7])
    distance_miles: float = Field(description="The same in miles.", examples=[256.4])


Lat = Annotated[float, Query(ge=-90, le=90, description="WGS84 latitude.", examples=[58.2])]
Lng = Annotated[float, Query(ge=-180, le=180, description="WGS84 longitude.", examples=[11.6])]


@router.get("/geocode", operation_id="geocode", summary="Forward geocoding")
async def geocode(
    q: Annotated[str, Query(min_length=2, description="Free-form query: a town or city.", examples=["Velmora"])],
) -> list[Feature]:
    """Forward geocoding (address → point). Data © Mapfolk volunteers."""
    wanted = q.split(",")[0].strip().casefold()
    found = sorted((city for city in cities() if city.name.casefold().startswith(wanted)), key=lambda one: one.name)
    return [
        Feature(
            name=city.name,
            display_name=f"{city.name}, {city.country.name}",
            lat=city.latitude,
            lng=city.longitude,
        )
        for city in found
    ]


@router.get(
    "/elevation", operation_id="get_elevation", summary="Elevation lookup", dependencies=[fails(slow(seconds=SLOW))]
)
async def get_elevation(lat: Lat, lng: Lng) -> Height:
    """Terrain elevation at a point, from the SRTM-like grid. Computed on the fly: may be slow."""
    return Height(elevation_m=nearest_city(lat, lng)[0].elevation)


@router.get("/distance", operation_id="measure_distance", summary="Distance between two points")
async def measure_distance(from_lat: Lat, from_lng: Lng, to_lat: Lat, to_lng: Lng) -> Distance:
    """As-the-crow-flies distance between two points given by their coordinates."""
    south, north = radians(from_lat), radians(to_lat)
    half = sin((north - south) / 2) ** 2 + cos(south) * cos(north) * sin(radians(to_lng - from_lng) / 2) ** 2
    length = 2 * EARTH_RADIUS * asin(sqrt(half))
    return Distance(distance_km=round(length, 1), distance_miles=round(length / 1.609344, 1))


SERVICE = Service(router, "Mapfolk", "The people's map: geocoding, heights, distances.")
