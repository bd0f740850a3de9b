"""Jobs at the companies, and what such jobs pay in a country."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Literal

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.companies import Company, companies
from playground.worlds.geography import City, Country, cities
from playground.worlds.money import CURRENCIES, convert

JOBS = 180
TITLES = {
    "Data Engineer": 46, "Backend Developer": 44, "Product Manager": 52, "Warehouse Supervisor": 27, "Mechanical Engineer": 39,
    "Laboratory Technician": 26, "Accountant": 34, "Truck Driver": 23, "Store Manager": 29, "Marketing Specialist": 31,
    "Electrician": 28, "Pharmacist": 37, "Chef": 25, "Security Analyst": 43, "Translator": 24,
}  # fmt: skip
"""Job titles, with the thousands of Ashford pounds that they pay in a year."""
Employment = Literal["full_time", "part_time", "contract", "internship"]
TYPES: tuple[Employment, ...] = ("full_time", "part_time", "contract", "internship")
_LEVELS = ("", "Senior ", "Junior ")
_SKILLS = ("SQL", "Python", "forklift licence", "CAD", "bookkeeping", "negotiation", "public speaking", "welding", "GMP",
           "spreadsheets", "route planning", "customer care", "food hygiene", "network security")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """``salary``: from, to, for a year, in the currency of the city's country."""

    job_id: str
    title: str
    trade: str
    company: Company
    city: City
    remote: bool
    employment: Employment
    posted: date
    salary: tuple[int, int]
    skills: tuple[str, ...]


@cache
def jobs() -> tuple[Job, ...]:
    """All jobs, the newest first."""
    return tuple(sorted((_job(place) for place in range(JOBS)), key=lambda job: (-job.posted.toordinal(), job.job_id)))


def job_by_id(job_id: str) -> Job | None:
    """The job of that identifier."""
    return next((job for job in jobs() if job.job_id == job_id.strip().upper()), None)


def employer_id(company: Company) -> int:
    """The number by which the job market knows a company."""
    return 4_200 + 3 * companies().index(company)


def employer(number: int) -> Company | None:
    """The company of such a number."""
    return next((company for company in companies() if employer_id(company) == number), None)


def yearly_pay(trade: str, country: Country) -> int:
    """What the median worker of a trade earns in a year, in the currency of the country."""
    level = 0.55 + 0.9 * chance.unit("wages", country.code)
    pounds = TITLES[trade] * 1000 * level * (0.9 + 0.2 * chance.unit("wages", country.code, trade))
    return 100 * round(convert(pounds, CURRENCIES["AFP"], CURRENCIES[country.currency]) / 100)


def _job(place: int) -> Job:
    trade = sorted(TITLES)[place % len(TITLES)]
    level = chance.pick(_LEVELS, "level", place)
    company = companies()[chance.number("company", place) % len(companies())]
    city = company.headquarters if place % 3 == 0 else chance.pick(cities(), "office", place)
    pay = yearly_pay(trade, city.country) * {"": 100, "Senior ": 130, "Junior ": 75}[level] // 100
    return Job(
        job_id=f"JB{chance.identifier(7, 'job', place).upper()}",
        title=f"{level}{trade}",
        trade=trade,
        company=company,
        city=city,
        remote=chance.between(0, 3, "remote", place) == 0,
        employment=chance.pick(("full_time", "full_time", *TYPES), "type", place),
        posted=TODAY - timedelta(days=chance.between(0, 40, "posted", place)),
        salary=(pay * 92 // 100, pay * 112 // 100),
        skills=tuple(sorted(chance.several(_SKILLS, 3, "skills", place))),
    )
