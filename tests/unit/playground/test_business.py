"""Companies and their shares: the register, the market and its terse twin say the same."""

from datetime import date

import httpx
import pytest

from playground.worlds import companies
from playground.worlds.companies import Company
from tests.unit.playground.asking import get

FIRM = companies.companies()[3]
PRICES = f"/market-desk/stocks/{FIRM.symbol}"


async def test_a_company_is_found_by_the_beginning_of_its_name(client: httpx.AsyncClient) -> None:
    found = await get(client, "/firmbook/v2/companies", name=FIRM.name[:6])
    assert found["items"][0] == {"company_id": FIRM.company_id, "company_name": FIRM.name, "sector": FIRM.sector}
    other = next(one for one in companies.SECTORS if one != FIRM.sector)
    assert (await get(client, "/firmbook/v2/companies", name=FIRM.name, sector=other))["items"] == []


async def test_a_profile_leads_to_the_market_and_to_the_map(client: httpx.AsyncClient) -> None:
    profile = await get(client, f"/firmbook/v2/companies/{FIRM.company_id}")
    quote = await get(client, f"/market-desk/stocks/{profile['ticker_symbol']}/quote")
    place = (await get(client, "/atlas/search", city=profile["headquarters_city"]))["results"][0]
    country = await get(client, f"/facts/countries/{profile['headquarters_country_code']}")
    assert place["country_code"] == profile["headquarters_country_code"]
    assert quote["currency"] == country["currency_code"]


async def test_companies_of_a_city_are_those_whose_profile_names_it(client: httpx.AsyncClient) -> None:
    found = await get(client, "/firmbook/v2/companies/by-city", headquarters=FIRM.headquarters.name)
    assert FIRM.company_id in {one["company_id"] for one in found["items"]}
    assert (await get(client, "/firmbook/v2/companies/by-city", headquarters="Atlantis"))["total"] == 0


@pytest.mark.parametrize("firm", companies.companies()[:6], ids=lambda firm: firm.symbol)
async def test_both_markets_tell_the_same_price(client: httpx.AsyncClient, firm: Company) -> None:
    symbol = (await get(client, "/market-desk/symbols", company=firm.name))[0]["symbol"]
    assert (await get(client, "/tickerline/find", text=firm.name))[0]["sym"] == symbol
    quote = await get(client, f"/market-desk/stocks/{symbol}/quote")
    last = await get(client, "/tickerline/last", sym=symbol.lower())
    assert (last["px"], last["ccy"]) == (quote["price"], quote["currency"])
    change = 100 * (quote["price"] / quote["previous_close"] - 1)
    assert quote["change_percent"] == pytest.approx(change, abs=0.01)


async def test_closes_leave_weekends_out(client: httpx.AsyncClient) -> None:
    found = await get(client, f"{PRICES}/history", **{"from": "2026-04-20", "to": "2026-05-04"})
    days = [date.fromisoformat(one["date"]) for one in found["closes"]]
    assert len(days) == 11
    assert all(day.weekday() < 5 for day in days)
    assert found["closes"][-1]["close"] == (await get(client, f"{PRICES}/quote"))["price"]


async def test_financials_are_of_the_year(client: httpx.AsyncClient) -> None:
    found = [await get(client, f"{PRICES}/financials/{year}") for year in (2021, 2025)]
    assert found[0]["revenue_millions"] != found[1]["revenue_millions"]
    assert all(abs(one["net_income_millions"]) < one["revenue_millions"] for one in found)


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/firmbook/v2/companies/cmp_0", {}, 404),
        ("/firmbook/v2/companies", {"name": "x"}, 422),
        ("/market-desk/stocks/NONE/quote", {}, 404),
        ("/tickerline/last", {"sym": "NONE"}, 404),
        (f"{PRICES}/financials/1999", {}, 422),
        (f"{PRICES}/history", {"from": "2026-05-04", "to": "2026-05-01"}, 400),
        (f"{PRICES}/history", {"from": "2025-01-01", "to": "2026-05-01"}, 400),
    ],
)
async def test_refusals_say_why(client: httpx.AsyncClient, path: str, query: dict[str, str], status: int) -> None:
    response = await client.get(path, params=query)
    assert response.status_code == status
    assert response.json()["detail"]
