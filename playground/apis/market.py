"""Market Desk: shares, what they cost and what the companies earn."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.failures import busy, fails, gone
from playground.worlds import companies
from playground.worlds.clock import TODAY
from playground.worlds.companies import Company

router = APIRouter(prefix="/market-desk", tags=["Stocks"])
MOST_DAYS = 92
Symbol = Annotated[str, Path(description="Ticker symbol, e.g. from /symbols.", examples=["KESF"])]
_SYMBOL = refusals(e404="Unknown ticker symbol.")


class SymbolMatch(BaseModel):
    """A traded company."""

    symbol: str = Field(description="Ticker symbol.", examples=["KESF"])
    company: str = Field(description="Name of the company.", examples=["Kestrelon Foods"])
    exchange: str = Field(description="Where it is traded.", examples=["XVSE"])


class StockQuote(BaseModel):
    """The price of a share now."""

    symbol: str = Field(description="Ticker symbol.", examples=["KESF"])
    price: float = Field(description="Last price of one share.", examples=[48.12])
    currency: str = Field(description="ISO-like code of the currency of the price.", examples=["VDK"])
    change_percent: float = Field(description="Change against the previous close in percent.", examples=[-0.84])
    previous_close: float = Field(description="Price at the previous close.", examples=[48.53])


class DayClose(BaseModel):
    """A trading day."""

    date: str = Field(description="The day.", examples=["2026-04-30"])
    close: float = Field(description="Price at the close.", examples=[47.9])


class PriceHistory(BaseModel):
    """Closing prices, the oldest first."""

    symbol: str = Field(description="Ticker symbol.", examples=["KESF"])
    closes: list[DayClose]


class Financials(BaseModel):
    """A company's year, in millions."""

    symbol: str = Field(description="Ticker symbol.", examples=["KESF"])
    fiscal_year: int = Field(description="The year.", examples=[2025])
    revenue_millions: float = Field(description="Revenue in millions.", examples=[1830.4])
    net_income_millions: float = Field(description="Profit after tax in millions; a loss is negative.", examples=[96.1])
    reporting_currency: str = Field(description="Code of the currency of the figures.", examples=["VDK"])


class Dividends(BaseModel):
    """What was paid."""

    per_share: float = Field(description="Dividend per share.", examples=[0.6])


@router.get("/symbols", operation_id="lookup_symbol", summary="Symbol lookup")
async def lookup_symbol(
    company: Annotated[str, Query(min_length=2, description="Company name, or part of it.", examples=["Kestrelon"])],
) -> list[SymbolMatch]:
    """Translate a company name to the ticker symbol of its stock."""
    found = companies.companies_named(company)
    return [SymbolMatch(symbol=one.symbol, company=one.name, exchange=one.exchange) for one in found]


@router.get(
    "/stocks/{symbol}/quote",
    operation_id="get_stock_quote",
    summary="Real-time quote",
    responses=refusals(e404="Unknown ticker symbol.", e429="Too many requests; Retry-After says how long to wait."),
    dependencies=[fails(busy(every=4))],
)
async def get_stock_quote(symbol: Symbol) -> StockQuote:
    """Real-time share price of a listed company, with its change since the previous close. Rate limited."""
    company = _company(symbol)
    before, now = (companies.price(company, day) for day in companies.trading_days(TODAY.replace(day=1), TODAY)[-2:])
    return StockQuote(
        symbol=company.symbol,
        price=now,
        currency=company.currency,
        change_percent=round(100 * (now - before) / before, 2),
        previous_close=before,
    )


@router.get(
    "/stocks/{symbol}/history",
    operation_id="get_price_history",
    summary="End-of-day prices",
    responses=refusals(e404="Unknown ticker symbol.", e400="The period is empty or too long."),
)
async def get_price_history(
    symbol: Symbol,
    start: Annotated[date, Query(alias="from", description="First day, YYYY-MM-DD.", examples=["2026-04-01"])],
    end: Annotated[date, Query(alias="to", description="Last day, YYYY-MM-DD.", examples=["2026-04-30"])],
) -> PriceHistory:
    """Closing prices of a share over a period of at most 92 days, weekends left out."""
    company = _company(symbol)
    if not companies.FIRST_PRICE <= start <= end <= TODAY or (end - start).days > MOST_DAYS:
        refuse(400, f"Choose a period of at most {MOST_DAYS} days between {companies.FIRST_PRICE} and {TODAY}.")
    days = companies.trading_days(start, end)
    closes = [DayClose(date=day.isoformat(), close=companies.price(company, day)) for day in days]
    return PriceHistory(symbol=company.symbol, closes=closes)


@router.get(
    "/stocks/{symbol}/financials/{fiscal_year}",
    operation_id="get_financials",
    summary="Annual report figures",
    responses=_SYMBOL,
)
async def get_financials(
    symbol: Symbol,
    fiscal_year: Annotated[int, Path(ge=2021, le=2025, description="Year of the report.", examples=[2025])],
) -> Financials:
    """Annual figures of a listed company: revenue and net income (profit) in millions."""
    company = _company(symbol)
    year = companies.earned(company, fiscal_year)
    return Financials(
        symbol=company.symbol,
        fiscal_year=fiscal_year,
        revenue_millions=year.revenue,
        net_income_millions=year.net_income,
        reporting_currency=company.currency,
    )


@router.get(
    "/stocks/{symbol}/dividends",
    operation_id="get_dividends",
    summary="Dividends",
    responses=_SYMBOL,
    dependencies=[fails(gone("This endpoint was withdrawn on 2026-01-31."))],
)
async def get_dividends(symbol: Symbol) -> Dividends:
    """Dividends paid per share."""
    return Dividends(per_share=round(0.01 * _company(symbol).price, 2))


def _company(symbol: str) -> Company:
    found = companies.company_by_symbol(symbol)
    if found is None:
        refuse(404, f"{symbol} is not listed. Find symbols with /market-desk/symbols.")
    return found


SERVICE = Service(router, "Market Desk", "Stock market data: quotes, closes and fundamentals.")
