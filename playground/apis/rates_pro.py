"""Rates Pro: the paid twin of Open Rates. Without a key it answers 401, with one that it does not know 403."""

from typing import Annotated

from fastapi import APIRouter, Query, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel, Field

from playground.apis.rates import Source, Target, known_currency
from playground.apis.service import Service, refusals, refuse
from playground.keys import RATES_PRO
from playground.worlds import money

router = APIRouter(prefix="/rates-pro", tags=["Finance"])
_key = APIKeyHeader(
    name="X-Api-Key",
    scheme_name="RatesProKey",
    auto_error=False,
    description=f"Key of your Rates Pro subscription. For tests: `{RATES_PRO}`.",
)


class Quote(BaseModel):
    """A converted amount with the spread."""

    converted_amount: float = Field(description="The amount in the target currency.", examples=[153.72])
    bid: float = Field(description="Buying rate.", examples=[0.6142])
    ask: float = Field(description="Selling rate.", examples=[0.6155])


@router.get(
    "/quote",
    operation_id="get_currency_quote",
    summary="Professional quote for a currency conversion",
    responses=refusals(
        e401="No key was sent.", e403="The key has no active subscription.", e404="No currency has this code."
    ),
)
async def get_currency_quote(
    from_currency: Source,
    to_currency: Target,
    amount: Annotated[float, Query(ge=0, description="Amount of money to convert.", examples=[250.0])],
    key: Annotated[str | None, Security(_key)],
) -> Quote:
    """Convert an amount of money from one currency into another with bid and ask rates. Needs a subscription."""
    if key is None:
        refuse(401, "An API key is needed: send it in the header X-Api-Key.", {"WWW-Authenticate": "ApiKey"})
    if key != RATES_PRO:
        refuse(403, "This API key has no active subscription to Rates Pro.")
    source, target = known_currency(from_currency), known_currency(to_currency)
    rate = money.rate(source, target)
    return Quote(
        converted_amount=money.convert(amount, source, target), bid=round(rate * 0.999, 6), ask=round(rate * 1.001, 6)
    )


SERVICE = Service(router, "Rates Pro", "Currency quotes for professionals, by subscription.")
