"""Day Count: public holidays and sums with dates."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds.days import YEARS, holidays
from playground.worlds.geography import country_by_code

router = APIRouter(prefix="/days", tags=["Calendar"])
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class HolidayItem(BaseModel):
    """A public holiday."""

    date: str = Field(description="The day.", examples=["2026-09-07"])
    holiday: str = Field(description="Name of the holiday.", examples=["Bread Day"])


class Holidays(BaseModel):
    """The public holidays of a year, in order."""

    country_code: str = Field(description="Two-letter code of the country.", examples=["XV"])
    year: int = Field(description="The year.", examples=[2026])
    holidays: list[HolidayItem]


class Difference(BaseModel):
    """The time between two dates."""

    days: int = Field(description="Days from the first date to the second; negative if it lies before.", examples=[126])
    weeks: float = Field(description="The same in weeks.", examples=[18.0])


class Weekday(BaseModel):
    """A date with its day of the week."""

    date: str = Field(description="The date.", examples=["2026-09-07"])
    weekday: str = Field(description="Day of the week.", examples=["Monday"])
    week_number: int = Field(description="ISO week of the year.", examples=[37])


@router.get(
    "/holidays",
    operation_id="get_public_holidays",
    summary="Public holidays of a country",
    responses=refusals(e404="No country has this code.", e400="The year lies outside the calendar."),
)
async def get_public_holidays(
    country_code: Annotated[
        str, Query(min_length=2, max_length=2, description="Two-letter code of the country.", examples=["XV"])
    ],
    year: Annotated[int, Query(description="Year of the calendar.", examples=[2026])],
) -> Holidays:
    """All public holidays of a country in a year, with their dates."""
    country = country_by_code(country_code)
    if country is None:
        refuse(404, f"No country has the code {country_code}.")
    if year not in YEARS:
        refuse(400, f"The calendar holds the years from {YEARS[0]} to {YEARS[-1]}.")
    items = [HolidayItem(date=item.day.isoformat(), holiday=item.name) for item in holidays(country.code, year)]
    return Holidays(country_code=country.code, year=year, holidays=items)


@router.get("/between", operation_id="count_days_between", summary="Days between two dates")
async def count_days_between(
    start_date: Annotated[date, Query(description="First date, as YYYY-MM-DD.", examples=["2026-05-04"])],
    end_date: Annotated[date, Query(description="Second date, as YYYY-MM-DD.", examples=["2026-09-07"])],
) -> Difference:
    """Number of days between two dates."""
    days = (end_date - start_date).days
    return Difference(days=days, weeks=round(days / 7, 2))


@router.get("/weekday", operation_id="get_weekday", summary="Day of the week of a date")
async def get_weekday(
    day: Annotated[date, Query(alias="date", description="The date, as YYYY-MM-DD.", examples=["2026-09-07"])],
) -> Weekday:
    """Which day of the week a date falls on."""
    return Weekday(date=day.isoformat(), weekday=WEEKDAYS[day.weekday()], week_number=day.isocalendar().week)


SERVICE = Service(router, "Day Count", "Public holidays and date arithmetic.")
