"""Jobs are at companies that exist, pay in the money of their city, and take one application each."""

from itertools import pairwise

import httpx
import pytest

from playground.worlds import vacancies
from playground.worlds.clock import TODAY
from playground.worlds.companies import companies
from playground.worlds.geography import COUNTRIES
from tests.unit.playground.asking import effects, get, post

JOB = vacancies.jobs()[0]
FORM = {"applicantName": "Dagny Iversholt", "email": "dagny@oskvik.example"}
APPLY = f"/workboard/v1/jobs/{JOB.job_id}/applications"


def test_jobs_are_unique_and_newest_first() -> None:
    jobs = vacancies.jobs()
    assert len({one.job_id for one in jobs}) == len(jobs) == vacancies.JOBS
    assert all(first.posted >= second.posted for first, second in pairwise(jobs))
    assert all(one.posted <= TODAY and one.salary[0] < one.salary[1] for one in jobs)
    assert {one.trade for one in jobs} == set(vacancies.TITLES)


def test_employers_are_the_companies() -> None:
    for company in companies():
        assert vacancies.employer(vacancies.employer_id(company)) is company
    assert vacancies.employer(1) is None


async def test_an_ad_agrees_with_its_employer_and_the_register(client: httpx.AsyncClient) -> None:
    ad = await get(client, f"/workboard/v1/jobs/{JOB.job_id}")
    firm = await get(client, f"/workboard/v1/employers/{ad['employerId']}")
    assert firm["companyName"] == ad["companyName"]
    found = (await get(client, "/firmbook/v2/companies", name=ad["companyName"]))["items"]
    profile = await get(client, f"/firmbook/v2/companies/{found[0]['company_id']}")
    assert profile["headquarters_city"] == firm["headquartersCity"]
    assert profile["employee_count"] == firm["employees"]
    assert ad["salary"]["currency"] == JOB.city.country.currency


async def test_searches_narrow_down(client: httpx.AsyncClient) -> None:
    path = "/workboard/v1/jobs"
    everything = await get(client, path)
    assert everything["paging"]["totalJobs"] == vacancies.JOBS
    assert len(everything["jobs"]) == 10
    there = await get(client, path, location=JOB.city.name, keywords=JOB.trade)
    assert JOB.job_id in {one["jobId"] for one in there["jobs"]}
    wide = await get(client, path, location=JOB.city.country.name)
    assert wide["paging"]["totalJobs"] >= there["paging"]["totalJobs"]
    types = [
        (await get(client, path, employmentType=kinds))["paging"]["totalJobs"]
        for kinds in (["contract"], ["internship"], ["contract", "internship"])
    ]
    assert types[0] + types[1] == types[2] > 0
    remote = await get(client, path, remoteOnly=True)
    assert all(one["remote"] for one in remote["jobs"])


async def test_one_application_per_job_and_address(client: httpx.AsyncClient) -> None:
    sent = await post(client, APPLY, FORM)
    assert sent["title"] == JOB.title
    again = await client.post(APPLY, json=FORM | {"email": "DAGNY@oskvik.example"})
    assert again.status_code == 409
    (effect,) = await effects(client)
    assert effect["arguments"]["jobId"] == JOB.job_id
    other = vacancies.jobs()[1].job_id
    await post(client, f"/workboard/v1/jobs/{other}/applications", FORM)
    assert len(await effects(client)) == 2


@pytest.mark.parametrize(
    ("path", "change", "status"),
    [
        ("/workboard/v1/jobs/JB0/applications", {}, 404),
        (APPLY, {"email": "nowhere"}, 422),
        (APPLY, {"applicantName": ""}, 422),
    ],
)
async def test_an_impossible_application_changes_nothing(
    client: httpx.AsyncClient, path: str, change: dict[str, str], status: int
) -> None:
    assert (await client.post(path, json=FORM | change)).status_code == status
    assert await effects(client) == []


async def test_every_trade_is_paid_in_every_country(client: httpx.AsyncClient) -> None:
    for trade in vacancies.TITLES:
        for country in COUNTRIES:
            query = {"job_title": trade.lower(), "country_code": country.code.lower()}
            told = await get(client, "/paygrade/estimated-salary", **query)
            assert told["salary_currency"] == country.currency
            assert told["min_salary"] < told["median_salary"] < told["max_salary"]


@pytest.mark.parametrize(
    "path", ["/workboard/v1/jobs/JB0", "/workboard/v1/employers/1",
             "/paygrade/estimated-salary?job_title=jester&country_code=XV",
             "/paygrade/estimated-salary?job_title=chef&country_code=QQ"],
)  # fmt: skip
async def test_refusals_say_why(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 404
    assert response.json()["detail"]
