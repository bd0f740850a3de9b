"""Money: codes of currencies from countries, then rates. Rates Pro is tried without a key now and then."""

from collections.abc import Iterator

from playground.scenarios.choice import some_countries, told
from playground.session import Scenario, Session
from playground.worlds import chance

_TO_COUNTRY = (
    "How much are {amount} {code} in the currency of {country}?",
    "I have {amount} {code} and travel to {country}. How much local money is that?",
    "Change {amount} {code} into the money of {country}.",
    "What do I get for {amount} {code} in {country}?",
)
_DIRECT = (
    "Convert {amount} {code} to {other}.",
    "How many {other} are {amount} {code}?",
    "{amount} {code} in {other}?",
)
_HISTORY = (
    "What was the exchange rate from {code} to {other} on {day}?",
    "How many {other} did one {code} buy on {day}?",
)
_RATES = (
    "What are the latest exchange rates of the currency of {country}?",
    "List today's rates for the money they use in {country}.",
)
_QUOTE = ("Get me a professional bid and ask quote for {amount} {code} in {other}.",)
_UNITS = (
    ("How many kilometres are {value} miles?", "mile", "kilometre"),
    ("Convert {value} kilograms to pounds.", "kilogram", "pound"),
    ("What is {value} degrees Fahrenheit in Celsius?", "fahrenheit", "celsius"),
    ("How many litres are {value} gallons?", "gallon", "litre"),
)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_TO_COUNTRY, _to_country, _journeys(10, "abroad"))
    yield from told(_TO_COUNTRY[1:], _around, _journeys(5, "pro"))
    yield from told(_DIRECT, _direct, _pairs(5, "direct"))
    days = ("2024-02-29", "2025-03-14", "2023-11-02", "2025-12-24")
    history = [{**pair, "day": day} for pair, day in zip(_pairs(4, "history"), days, strict=True)]
    yield from told(_HISTORY, _history, history)
    yield from told(_RATES, _rates, [{"country": country.name} for country in some_countries(4, "rates")])
    yield from told(_QUOTE, _no_key, _pairs(2, "quote"))
    for value, (template, source, target) in zip((26, 70, 99, 12), _UNITS, strict=True):
        yield from told((template,), _unit, [{"value": value, "source": source, "target": target}])


def _amount(*keys: object) -> int:
    return 5 * chance.between(3, 400, "amount", *keys)


def _journeys(count: int, key: str) -> list[dict[str, str | int | float]]:
    found: list[dict[str, str | int | float]] = []
    for position in range(count):
        there = some_countries(1, key, position)[0]
        home = next(one for one in some_countries(2, "home", key, position) if one is not there)
        found.append({"amount": _amount(key, position), "code": home.currency, "country": there.name})
    return found


def _pairs(count: int, key: str) -> list[dict[str, str | int | float]]:
    two = [some_countries(2, key, position) for position in range(count)]
    return [
        {"amount": _amount(key, position), "code": one.currency, "other": other.currency}
        for position, (one, other) in enumerate(two)
    ]


def _to_country(session: Session, amount: int, code: str, country: str) -> None:
    target = session.call("find_country", name=country)["currency_code"]
    found = session.call("convert_currency", from_currency=code, to_currency=target, amount=amount)
    session.answer(f"{amount} {code} are {found['converted_amount']} {target}.")


def _around(session: Session, amount: int, code: str, country: str) -> None:
    target = session.call("find_country", name=country)["currency_code"]
    session.fails("get_currency_quote", from_currency=code, to_currency=target, amount=amount)
    session.turn_back("Rates Pro needs a key, which I do not have. Open Rates converts without one.")
    found = session.call("convert_currency", from_currency=code, to_currency=target, amount=amount)
    session.answer(f"{amount} {code} are {found['converted_amount']} {target}.")


def _direct(session: Session, amount: int, code: str, other: str) -> None:
    found = session.call("convert_currency", from_currency=code, to_currency=other, amount=amount)
    session.answer(f"{amount} {code} are {found['converted_amount']} {other}.")


def _history(session: Session, amount: int, code: str, other: str, day: str) -> None:
    del amount  # the request asks for the rate alone
    found = session.call("get_historical_rate", from_currency=code, to_currency=other, date=day)
    session.answer(f"On {day} one {code} bought {found['rate']} {other}.")


def _rates(session: Session, country: str) -> None:
    code = session.call("find_country", name=country)["currency_code"]
    others = ",".join(sorted(one.currency for one in some_countries(12, "others") if one.currency != code))
    rates = session.call("get_latest_rates", base_currency=code, symbols=others)["rates"]
    session.answer(f"One {code} buys " + ", ".join(f"{rate} {other}" for other, rate in rates.items()) + ".")


def _no_key(session: Session, amount: int, code: str, other: str) -> None:
    session.fails("get_currency_quote", from_currency=code, to_currency=other, amount=amount)
    session.give_up()


def _unit(session: Session, value: int, source: str, target: str) -> None:
    found = session.call("convert_units", value=value, from_unit=source, to_unit=target)
    session.answer(f"{value} {source} are {found['result']} {target}.")
