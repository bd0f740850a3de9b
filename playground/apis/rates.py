"""Open Rates: exchange rates of the world's currencies, for everyone."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds import money
from playground.worlds.clock import TODAY

router = APIRouter(prefix="/rates", tags=["Finance"])
Source = Annotated[
    str,
    Query(min_length=3, max_length=3, description="Code of the currency to convert from.", examples=["VDK"]),
]
Target = Annotated[
    str,
    Query(min_length=3, max_length=3, description="Code of the currency to convert to.", examples=["NRV"]),
]


class Rates(BaseModel):
    """Rates of one currency against all others."""

    base_currency: str = Field(description="Code of the base currency.", examples=["VDK"])
    date: str = Field(description="Day of the rates.", examples=["2026-05-04"])
    rates: dict[str, float] = Field(
        description="What one unit of the base buys, by currency code.", examples=[{"AFP": 0.115862, "NRV": 0.614881}]
    )


class Conversion(BaseModel):
    """An amount in another currency."""

    from_currency: str = Field(description="Code of the currency converted from.", examples=["VDK"])
    to_currency: str = Field(description="Code of the currency converted to.", examples=["NRV"])
    amount: float = Field(description="The amount asked about.", examples=[250.0])
    rate: float = Field(description="What one unit buys.", examples=[0.614881])
    converted_amount: float = Field(description="The amount in the target currency.", examples=[153.72])


class HistoricalRate(BaseModel):
    """A rate on a day in the past."""

    from_currency: str = Field(description="Code of the currency converted from.", examples=["VDK"])
    to_currency: str = Field(description="Code of the currency converted to.", examples=["NRV"])
    date: str = Field(description="The day.", examples=["2025-03-14"])
    rate: float = Field(description="What one unit bought on that day.", examples=[0.6012])


def known_currency(code: str) -> money.Currency:
    """The currency of a code, or 404."""
    found = money.currency(code)
    if found is None:
        refuse(404, f"No currency has the code {code}.")
    return found


@router.get(
    "/latest",
    operation_id="get_latest_rates",
    summary="Latest exchange rates",
    responses=refusals(e404="No currency has this code."),
)
async def get_latest_rates(
    base_currency: Annotated[
        str, Query(min_length=3, max_length=3, description="Code of the base currency.", examples=["VDK"])
    ],
    symbols: Annotated[
        str, Query(description="Only these currencies: their codes, separated by commas.", examples=["NRV,AFP"])
    ] = "",
) -> Rates:
    """Latest exchange rates of a base currency against all other currencies, or those that are named."""
    base = known_currency(base_currency)
    wanted = [known_currency(code) for code in symbols.split(",")] if symbols else list(money.CURRENCIES.values())
    rates = {other.code: money.rate(base, other) for other in wanted if other is not base}
    return Rates(base_currency=base.code, date=TODAY.isoformat(), rates=rates)


@router.get(
    "/convert",
    operation_id="convert_currency",
    summary="Convert an amount of money",
    responses=refusals(e404="No currency has this code."),
)
async def convert_currency(
    from_currency: Source,
    to_currency: Target,
    amount: Annotated[float, Query(ge=0, description="Amount of money to convert.", examples=[250.0])],
) -> Conversion:
    """Convert an amount of money from one currency into another at today's exchange rate."""
    source, target = known_currency(from_currency), known_currency(to_currency)
    return Conversion(
        from_currency=source.code,
        to_currency=target.code,
        amount=amount,
        rate=money.rate(source, target),
        converted_amount=money.convert(amount, source, target),
    )


@router.get(
    "/history",
    operation_id="get_historical_rate",
    summary="Exchange rate on a past day",
    responses=refusals(e404="No currency has this code.", e400="The day lies outside the archive."),
)
async def get_historical_rate(
    from_currency: Source,
    to_currency: Target,
    day: Annotated[date, Query(alias="date", description="Day in the past, as YYYY-MM-DD.", examples=["2025-03-14"])],
) -> HistoricalRate:
    """Exchange rate between two currencies on a day in the past, from 2020 on."""
    source, target = known_currency(from_currency), known_currency(to_currency)
    if not money.FIRST_RATE <= day <= TODAY:
        refuse(400, f"The archive holds the days from {money.FIRST_RATE} to {TODAY}.")
    return HistoricalRate(
        from_currency=source.code, to_currency=target.code, date=day.isoformat(), rate=money.rate(source, target, day)
    )


SERVICE = Service(router, "Open Rates", "Free exchange rates, today's and past ones.")
