"""Tickerline: prices of shares, in as few letters as possible. Does what Market Desk's quotes do."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds import companies
from playground.worlds.clock import TODAY

router = APIRouter(prefix="/tickerline", tags=["Stocks"])


class Hit(BaseModel):
    """A symbol."""

    sym: str = Field(description="symbol", examples=["KESF"])
    nm: str = Field(description="name", examples=["Kestrelon Foods"])


class Last(BaseModel):
    """A last trade."""

    sym: str = Field(description="symbol", examples=["KESF"])
    px: float = Field(description="last px", examples=[48.12])
    ccy: str = Field(description="ccy of px", examples=["VDK"])
    asof: str = Field(description="date", examples=["2026-05-04"])


@router.get("/find", operation_id="ticker_find", summary="find sym")
async def ticker_find(
    text: Annotated[str, Query(min_length=2, description="name of the firm", examples=["Kestrelon"])],
) -> list[Hit]:
    """Sym by firm name."""
    return [Hit(sym=one.symbol, nm=one.name) for one in companies.companies_named(text)]


@router.get("/last", operation_id="ticker_last", summary="last px", responses=refusals(e404="no such sym"))
async def ticker_last(
    sym: Annotated[str, Query(description="symbol", examples=["KESF"])],
) -> Last:
    """Last traded share price (px) for sym."""
    company = companies.company_by_symbol(sym)
    if company is None:
        refuse(404, "no such sym")
    return Last(sym=company.symbol, px=companies.price(company), ccy=company.currency, asof=TODAY.isoformat())


SERVICE = Service(router, "Tickerline", "Share prices over HTTP. Fast.")
