"""Cambio: an exchange office. Converts as Open Rates does, with other words."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.rates import known_currency
from playground.apis.service import Service, refusals
from playground.worlds import money

router = APIRouter(prefix="/cambio", tags=["Finance"])


class Exchange(BaseModel):
    """What one gets."""

    have: str = Field(description="What you have.", examples=["VDK"])
    want: str = Field(description="What you want.", examples=["NRV"])
    new_amount: float = Field(description="What you get for it.", examples=[153.72])


class CurrencyEntry(BaseModel):
    """A currency."""

    currency_code: str = Field(description="Three-letter code.", examples=["VDK"])
    name: str = Field(description="Name.", examples=["Veldanian krone"])


@router.get(
    "/exchange",
    operation_id="fx_convert",
    summary="Exchange calculator",
    responses=refusals(e404="Unknown currency."),
)
async def fx_convert(
    have: Annotated[str, Query(min_length=3, max_length=3, description="Currency you have.", examples=["VDK"])],
    want: Annotated[str, Query(min_length=3, max_length=3, description="Currency you want.", examples=["NRV"])],
    sum_of: Annotated[float, Query(alias="sum", ge=0, description="How much you have.", examples=[250.0])],
) -> Exchange:
    """Exchange calculator: how much money of another currency you get at the counter. No commission!"""
    source, target = known_currency(have), known_currency(want)
    return Exchange(have=source.code, want=target.code, new_amount=money.convert(sum_of, source, target))


@router.get("/currencies", operation_id="list_currencies", summary="Currencies")
async def list_currencies(
    name_like: Annotated[str, Query(description="Only currencies whose name holds this.", examples=["krone"])] = "",
) -> list[CurrencyEntry]:
    """The currencies that we change, with their codes."""
    wanted = name_like.casefold()
    found = [one for one in money.CURRENCIES.values() if wanted in one.name.casefold()]
    return [CurrencyEntry(currency_code=one.code, name=one.name) for one in found]


SERVICE = Service(router, "Cambio", "Change money at the best counter in town.")
