"""Festa: holidays once more. Lists what Day Count lists, and knows the next one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds.clock import TODAY
from playground.worlds.days import Holiday, holidays
from playground.worlds.geography import Country, country_by_code

router = APIRouter(prefix="/festa", tags=["Calendar"])
_COUNTRY = refusals(e404="Unknown country.")


class Feast(BaseModel):
    """A feast."""

    on: str = Field(description="Date.", examples=["2026-09-07"])
    title: str = Field(description="What is celebrated.", examples=["Bread Day"])


class NextFeast(Feast):
    """The feast that comes next."""

    days_left: int = Field(description="Days from today to it.", examples=[126])


@router.get("/{nation}/feasts", operation_id="list_feasts", summary="Feasts of a year", responses=_COUNTRY)
async def list_feasts(
    nation: Annotated[str, Path(description="Country, two letters.", examples=["XV"])],
    y: Annotated[int, Query(ge=2020, le=2030, description="Year.", examples=[2026])],
) -> list[Feast]:
    """Bank holidays and feasts in a year."""
    return [_feast(one) for one in holidays(_country(nation).code, y)]


@router.get("/{nation}/next", operation_id="get_next_holiday", summary="Next holiday", responses=_COUNTRY)
async def get_next_holiday(
    nation: Annotated[str, Path(description="Country, two letters.", examples=["XV"])],
) -> NextFeast:
    """The next public holiday from today on, and how many days are left until then."""
    code = _country(nation).code
    coming = [one for year in (TODAY.year, TODAY.year + 1) for one in holidays(code, year) if one.day >= TODAY]
    return NextFeast(**_feast(coming[0]).model_dump(), days_left=(coming[0].day - TODAY).days)


def _country(code: str) -> Country:
    found = country_by_code(code)
    if found is None:
        refuse(404, f"{code} is no country that we know.")
    return found


def _feast(holiday: Holiday) -> Feast:
    return Feast(on=holiday.day.isoformat(), title=holiday.name)


SERVICE = Service(router, "Festa", "Every feast in every land.")
