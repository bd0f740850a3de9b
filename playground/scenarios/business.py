"""Companies and their shares. Two endpoints are dead ends: one wants another plan, one has been withdrawn."""

from collections.abc import Iterator
from typing import Any

from playground.scenarios.choice import Entries, some_cities, some_companies, told, with_money
from playground.scenarios.steps import company_profile, place, symbol_of
from playground.session import Scenario, Session
from playground.worlds.companies import Company, companies

_PROFILE = (
    "Who is the chief executive of {company}?",
    "When was {company} founded?",
    "How many people does {company} employ?",
    "In which city does {company} have its head office?",
    "Give me the key facts about the company {company}.",
    "Who runs {company}, and since when does the firm exist?",
)
_QUOTE = (
    "What is the share price of {company} right now?",
    "How much does one share of {company} cost?",
    "Get me a stock quote for {company}.",
    "Did the stock of {company} go up or down today?",
    "{company} stock price?",
)
_LAST = ("Last traded price of {company}?", "What did the shares of {company} trade at last?")
_EARNED = (
    "What revenue did {company} report for {year}?",
    "How much profit did {company} make in {year}?",
    "Net income and revenue of {company} in the fiscal year {year}, please.",
    "Was {company} profitable in {year}?",
)
_HISTORY = (
    "How did the stock of {company} close between {first} and {last}?",
    "Give me the daily closing prices of {company} from {first} to {last}.",
)
_HOME_PEOPLE = (
    "How many people live in the city where {company} has its headquarters?",
    "What is the population of the home city of the company {company}?",
)
_HOME_ZONE = ("What is the UTC offset at the head office of {company}?", "In which time zone is {company} based?")
_HOME_MONEY = (
    "Which currency is used in the country where {company} is based?",
    "What language do they speak in the country of {company}'s headquarters?",
)
_HOME_AIR = ("How clean is the air in the city where {company} has its head office?",)
_ABROAD = (
    "What does a share of {company} cost in {code}?",
    "Tell me the current stock price of {company}, converted into {code}.",
)
_BOARD = ("Who sits on the board of {company}?", "List the officers of {company}; the chief executive will do, too.")
_PAYS = ("What dividend does {company} pay per share?", "Dividends of {company}?")
_PAYS_OR = ("What dividend did {company} pay? If that cannot be found, tell me its profit in {year}.",)
_FOUR = (
    "Compare the current prices of the shares {a}, {b}, {c} and {d}.",
    "Which of the stocks {a}, {b}, {c} and {d} is the dearest at the moment?",
)
_LOCAL = ("Which companies are based in {city}?", "List firms with headquarters in {city}.")
_SYMBOL = ("Quote for ticker {symbol}.", "What is {symbol} trading at?")
_SYMBOL_YEAR = ("Revenue of {symbol} in {year}?", "Show me the {year} financials for the ticker {symbol}.")


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_PROFILE, _profile, _of(14, "profile"))
    yield from told(_QUOTE, _quote, _of(12, "quote"))
    yield from told(_LAST, _last, _of(5, "last"))
    yield from told(_EARNED, _earned, _of(10, "earned", years=True))
    periods = (("2026-04-20", "2026-04-24"), ("2026-03-02", "2026-03-06"), ("2025-11-10", "2025-11-14"))
    history = [
        {**entry, "first": periods[at % 3][0], "last": periods[at % 3][1]} for at, entry in enumerate(_of(6, "h"))
    ]
    yield from told(_HISTORY, _history, history)
    yield from told(_HOME_PEOPLE, _home_people, _of(7, "home people"))
    yield from told(_HOME_ZONE, _home_zone, _of(5, "home zone"))
    yield from told(_HOME_MONEY, _home_money, _of(5, "home money"))
    yield from told(_HOME_AIR, _home_air, _of(4, "home air"))
    yield from told(_ABROAD, _abroad, with_money(_of(6, "abroad"), "abroad"))
    yield from told(_BOARD, _board, _of(5, "board"))
    yield from told(_PAYS, _no_dividends, _of(3, "pays"))
    yield from told(_PAYS_OR, _dividends_or_profit, _of(4, "pays or", years=True))
    yield from told(_FOUR, _four, _fours(4))
    yield from told(_LOCAL, _local, [{"city": company.headquarters.name} for company in some_companies(5, "local")])
    yield from told(_LOCAL[:1], _nobody, [{"city": city.name} for city in _without_companies(2)])
    yield from told(_SYMBOL, _by_symbol, [{"symbol": company.symbol} for company in some_companies(6, "symbol")])
    yield from told(_SYMBOL_YEAR, _symbol_year, [_dated(at, one) for at, one in enumerate(some_companies(5, "dated"))])


def _of(count: int, key: str, *, years: bool = False) -> Entries:
    found: Entries = [{"company": company.name} for company in some_companies(count, key)]
    return [{**entry, "year": 2021 + at % 5} for at, entry in enumerate(found)] if years else found


def _dated(at: int, company: Company) -> dict[str, str | int]:
    return {"symbol": company.symbol, "year": 2022 + at % 4}


def _fours(count: int) -> Entries:
    chosen = [some_companies(4, "four", place) for place in range(count)]
    return [{name: company.symbol for name, company in zip("abcd", four, strict=True)} for four in chosen]


def _without_companies(count: int) -> list[Any]:
    taken = {company.headquarters.name for company in companies()}
    return [city for city in some_cities(40, "no companies") if city.name not in taken][:count]


def _profile(session: Session, company: str) -> None:
    found = company_profile(session, company)
    session.answer(
        f"{company}: founded in {found['founded_year']}, {found['employee_count']} employees, head office in "
        f"{found['headquarters_city']}, run by {found['chief_executive']}."
    )


def _quote(session: Session, company: str) -> None:
    found = session.call("get_stock_quote", symbol=symbol_of(session, company))
    session.answer(f"{company}: {found['price']} {found['currency']}, {found['change_percent']} % today.")


def _last(session: Session, company: str) -> None:
    symbol = session.call("ticker_find", text=company)[0]["sym"]
    found = session.call("ticker_last", sym=symbol)
    session.answer(f"{company} traded at {found['px']} {found['ccy']} last.")


def _earned(session: Session, company: str, year: int) -> None:
    found = session.call("get_financials", symbol=symbol_of(session, company), fiscal_year=year)
    session.answer(_earnings(company, found))


def _history(session: Session, company: str, first: str, last: str) -> None:
    asked = {"symbol": symbol_of(session, company), "from": first, "to": last}
    found = session.call("get_price_history", **asked)
    session.answer("; ".join(f"{day['date']}: {day['close']}" for day in found["closes"]) + ".")


def _home_people(session: Session, company: str) -> None:
    found = place(session, company_profile(session, company)["headquarters_city"])
    session.answer(f"{company} is based in {found['city']}, where {found['population']} people live.")


def _home_zone(session: Session, company: str) -> None:
    found = place(session, company_profile(session, company)["headquarters_city"])
    zone = session.call("get_timezone_info", timezone=found["timezone"])
    session.answer(f"{company} is based in {found['city']} in the zone {zone['timezone']} ({zone['utc_offset']}).")


def _home_money(session: Session, company: str) -> None:
    code = company_profile(session, company)["headquarters_country_code"]
    country = session.call("get_country_by_code", country_code=code)
    session.answer(f"In {country['name']} they pay in {country['currency_name']} and speak {country['languages'][0]}.")


def _home_air(session: Session, company: str) -> None:
    found = place(session, company_profile(session, company)["headquarters_city"])
    air = session.call("get_air_quality", latitude=found["latitude"], longitude=found["longitude"])
    session.answer(f"The air quality index of {found['city']} is {air['air_quality_index']}.")


def _abroad(session: Session, company: str, code: str) -> None:
    quote = session.call("get_stock_quote", symbol=symbol_of(session, company))
    asked = {"from_currency": quote["currency"], "to_currency": code, "amount": quote["price"]}
    found = session.call("convert_currency", **asked)
    session.answer(f"A share of {company} costs {found['converted_amount']} {code}.")


def _board(session: Session, company: str) -> None:
    found = session.call("find_company", name=company)["items"][0]
    session.fails("get_company_officers", company_id=found["company_id"])
    session.turn_back("The list of officers needs another plan. The profile names the chief executive at least.")
    profile = session.call("get_company_profile", company_id=found["company_id"])
    session.answer(f"The whole board is not public; the chief executive is {profile['chief_executive']}.")


def _no_dividends(session: Session, company: str) -> None:
    session.fails("get_dividends", symbol=symbol_of(session, company))
    session.give_up()


def _dividends_or_profit(session: Session, company: str, year: int) -> None:
    symbol = symbol_of(session, company)
    session.fails("get_dividends", symbol=symbol)
    session.turn_back("Dividends are no longer served. The request names the profit as a way out.")
    session.answer(_earnings(company, session.call("get_financials", symbol=symbol, fiscal_year=year)))


def _four(session: Session, a: str, b: str, c: str, d: str) -> None:
    """The fourth quote meets the rate limit."""
    found = [session.call("get_stock_quote", symbol=symbol) for symbol in (a, b, c)]
    found.append(session.at_second_try("get_stock_quote", symbol=d))
    session.answer("; ".join(f"{one['symbol']}: {one['price']} {one['currency']}" for one in found) + ".")


def _local(session: Session, city: str) -> None:
    found = session.call("list_companies_in_city", headquarters=city)["items"]
    session.answer(f"In {city}: " + ", ".join(one["company_name"] for one in found) + ".")


def _nobody(session: Session, city: str) -> None:
    session.call("list_companies_in_city", headquarters=city)
    session.give_up()


def _by_symbol(session: Session, symbol: str) -> None:
    found = session.call("get_stock_quote", symbol=symbol)
    session.answer(f"{symbol} trades at {found['price']} {found['currency']}.")


def _symbol_year(session: Session, symbol: str, year: int) -> None:
    session.answer(_earnings(symbol, session.call("get_financials", symbol=symbol, fiscal_year=year)))


def _earnings(name: str, found: dict[str, Any]) -> str:
    money = f"million {found['reporting_currency']}"
    return (
        f"{name} in {found['fiscal_year']}: revenue {found['revenue_millions']} {money}, net income "
        f"{found['net_income_millions']} {money}."
    )
