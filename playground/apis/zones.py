"""Zone Clock: time zones and the time there."""

from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds.geography import COUNTRIES, Country

router = APIRouter(prefix="/zones", tags=["Time"])
_NOT_FOUND = refusals(e404="No time zone has this name.")


class ZoneInfo(BaseModel):
    """A time zone."""

    timezone: str = Field(description="Name of the time zone.", examples=["Veldania/Velmora"])
    utc_offset_minutes: int = Field(description="Minutes ahead of UTC.", examples=[60])
    utc_offset: str = Field(description="The same as hours and minutes.", examples=["+01:00"])


class ZoneTime(BaseModel):
    """A moment in another time zone."""

    local_time: str = Field(description="Date and time in the target zone.", examples=["2026-05-04T21:30"])
    day_change: int = Field(description="-1, 0 or 1: the day before, the same day, the day after.", examples=[0])


@router.get("/info", operation_id="get_timezone_info", summary="Offset of a time zone", responses=_NOT_FOUND)
async def get_timezone_info(
    timezone: Annotated[str, Query(description="Name of the time zone.", examples=["Veldania/Velmora"])],
) -> ZoneInfo:
    """How many hours and minutes a time zone is ahead of UTC."""
    minutes = _zone(timezone).utc_offset
    sign = "-" if minutes < 0 else "+"
    text = f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    return ZoneInfo(timezone=_zone(timezone).timezone, utc_offset_minutes=minutes, utc_offset=text)


@router.get("/convert", operation_id="convert_time", summary="Convert a time between zones", responses=_NOT_FOUND)
async def convert_time(
    time: Annotated[
        datetime, Query(description="Date and time, as YYYY-MM-DDTHH:MM.", examples=["2026-05-04T15:30:00"])
    ],
    from_timezone: Annotated[str, Query(description="Time zone of that time.", examples=["Veldania/Velmora"])],
    to_timezone: Annotated[str, Query(description="Time zone to convert to.", examples=["Kaimana/Port_Arawa"])],
) -> ZoneTime:
    """What time it is in another time zone when it is a given time in the first."""
    ahead = _zone(to_timezone).utc_offset - _zone(from_timezone).utc_offset
    start = time.replace(tzinfo=None)
    there = start + timedelta(minutes=ahead)
    return ZoneTime(local_time=there.isoformat(timespec="minutes"), day_change=(there.date() - start.date()).days)


def _zone(name: str) -> Country:
    wanted = name.strip().casefold()
    found = next((country for country in COUNTRIES if country.timezone.casefold() == wanted), None)
    if found is None:
        refuse(404, f"No time zone is called {name}.")
    return found


SERVICE = Service(router, "Zone Clock", "Time zones of the world.")
