"""Jobs: a search first, then the ad, then the company behind it and what its country pays."""

from collections.abc import Iterator
from typing import Any

from playground.scenarios.choice import some_countries, told
from playground.scenarios.entities import Entries, other_currency, some
from playground.session import Scenario, Session
from playground.worlds.names import full_name
from playground.worlds.vacancies import TITLES, Job, jobs

_IN_CITY = (
    "Which jobs are open in {city}?",
    "I am moving to {city} and looking for work. What is on offer?",
    "List the vacancies in {city}.",
)
_REMOTE = ("Which jobs as {trade} can be done from home?", "Find remote work for {trade}.")
_SALARY = (
    "What does the newest job as {trade} in {city} pay?",
    "Which company is looking for {trade} in {city}?",
    "What skills does the job as {trade} in {city} require?",
)
_EMPLOYER = (
    "Where is the headquarters of the company that wants {trade} in {city}?",
    "How many people work for the employer that is hiring {trade} in {city}?",
)
_HOME_WEATHER = ("What is the weather at the headquarters of the company hiring {trade} in {city}?",)
_SHARE = (
    "What is the share price of the company that looks for {trade} in {city}?",
    "How much is one share of the employer offering a position as {trade} in {city}?",
)
_PAY = (
    "What does {trade} earn in {country}?",
    "What is the median salary of {trade} in {country}?",
    "Estimate the yearly pay of {trade} in {country}.",
)
_PAY_ELSEWHERE = ("How much in {currency} does {trade} in {country} make a year?",)
_APPLY = (
    "Apply for the job as {trade} in {city} for {applicant}, {email}.",
    "Send my application for the newest position as {trade} in {city}: {applicant}, {email}.",
)
_NONE = ("Find me a job as {trade} in {city}.",)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_IN_CITY, _in_city, [{"city": job.city.name} for job in _some(6, "city")])
    trades = some(sorted(TITLES), str, 4, "trades", "remote")
    yield from told(_REMOTE, _remote, [{"trade": _with_article(trade)} for trade in trades])
    yield from told(_SALARY, _salary, _ads(8, "salary"))
    yield from told(_EMPLOYER, _employer, _ads(6, "employer"))
    yield from told(_HOME_WEATHER, _home_weather, _ads(4, "home"))
    yield from told(_SHARE, _share, _ads(5, "share"))
    yield from told(_PAY, _pay, _trades(6, "pay"))
    yield from told(_PAY_ELSEWHERE, _pay_elsewhere, _abroad(4))
    yield from told(_APPLY, _apply, [{**one, **_applicant(at)} for at, one in enumerate(_ads(5, "apply"))])
    yield from told(_NONE, _none, [{"trade": "a dragon tamer", "city": "Velmora"}])


def _some(count: int, key: str) -> list[Job]:
    """Jobs whose city and employer's city are free to be mentioned: they are in what the services answer."""
    return some(jobs(), lambda job: f"{job.city.name}, {job.company.headquarters.name}", count, "jobs", key)


def _ads(count: int, key: str) -> Entries:
    return [{"trade": _with_article(job.title), "city": job.city.name} for job in _some(count, key)]


def _trades(count: int, key: str) -> Entries:
    names = some(sorted(TITLES), str, count, "trades", key)
    lands = some_countries(count, "trades", key)
    return [{"trade": _with_article(name), "country": land.name} for name, land in zip(names, lands, strict=False)]


def _abroad(count: int) -> Entries:
    names = some(sorted(TITLES), str, count, "trades", "abroad")
    lands = some_countries(count, "trades", "abroad")
    return [
        {"trade": _with_article(name), "country": land.name, "currency": other_currency(land.currency, name)}
        for name, land in zip(names, lands, strict=False)
    ]


def _with_article(title: str) -> str:
    return f"{'an' if title[0] in 'AE' else 'a'} {title.lower()}"


def _title(trade: str) -> str:
    return trade.split(" ", 1)[1]


def _applicant(place: int) -> dict[str, str]:
    name = full_name("guests", 410 + place)
    return {"applicant": name, "email": f"{name.lower().replace(' ', '.')}@mail.example"}


def _in_city(session: Session, city: str) -> None:
    found = session.call("searchJobs", location=city)["jobs"]
    session.answer(f"In {city}: " + "; ".join(job["title"] for job in found) + ".")


def _remote(session: Session, trade: str) -> None:
    found = session.call("searchJobs", keywords=_title(trade), remoteOnly=True)["jobs"]
    session.answer("; ".join(f"{job['title']} ({job['jobId']})" for job in found) or "There is none.")


def _ad(session: Session, trade: str, city: str) -> dict[str, Any]:
    found = session.call("searchJobs", keywords=_title(trade), location=city)["jobs"][0]
    return session.call("getJob", jobId=found["jobId"])


def _salary(session: Session, trade: str, city: str) -> None:
    job = _ad(session, trade, city)
    pay = job["salary"]
    session.answer(
        f"{job['companyName']} pays {pay['min']} to {pay['max']} {pay['currency']} and wants {', '.join(job['skills'])}."
    )


def _company(session: Session, trade: str, city: str) -> dict[str, Any]:
    return session.call("getEmployer", employerId=_ad(session, trade, city)["employerId"])


def _employer(session: Session, trade: str, city: str) -> None:
    firm = _company(session, trade, city)
    session.answer(f"{firm['companyName']} has {firm['employees']} employees and sits in {firm['headquartersCity']}.")


def _home_weather(session: Session, trade: str, city: str) -> None:
    firm = _company(session, trade, city)
    place = session.call("search_places", city=firm["headquartersCity"])["results"][0]
    now = session.call("get_current_weather", latitude=place["latitude"], longitude=place["longitude"])
    session.answer(f"In {firm['headquartersCity']} it is {now['temperature']} °C with {now['condition']}.")


def _share(session: Session, trade: str, city: str) -> None:
    name = _ad(session, trade, city)["companyName"]
    symbol = session.call("lookup_symbol", company=name)[0]["symbol"]
    quote = session.call("get_stock_quote", symbol=symbol)
    session.answer(f"A share of {name} costs {quote['price']} {quote['currency']}.")


def _estimate(session: Session, trade: str, country: str) -> dict[str, Any]:
    code = session.call("find_country", name=country)["country_code"]
    return session.call("salary_estimate", job_title=_title(trade), country_code=code)


def _pay(session: Session, trade: str, country: str) -> None:
    found = _estimate(session, trade, country)
    session.answer(f"In {country} {trade} earns {found['median_salary']} {found['salary_currency']} a year.")


def _pay_elsewhere(session: Session, trade: str, country: str, currency: str) -> None:
    found = _estimate(session, trade, country)
    paid = session.call(
        "convert_currency",
        from_currency=found["salary_currency"],
        to_currency=currency,
        amount=found["median_salary"],
    )
    session.answer(f"In {country} {trade} earns {paid['converted_amount']} {currency} a year.")


def _apply(session: Session, trade: str, city: str, applicant: str, email: str) -> None:
    found = session.call("searchJobs", keywords=_title(trade), location=city)["jobs"][0]
    sent = session.call("applyForJob", jobId=found["jobId"], applicantName=applicant, email=email)
    session.answer(f"The application {sent['applicationId']} for {sent['title']} is {sent['status']}.")


def _none(session: Session, trade: str, city: str) -> None:
    session.call("searchJobs", keywords=_title(trade), location=city)
    session.give_up()
