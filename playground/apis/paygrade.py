"""PayGrade: what jobs pay."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds.geography import country_by_code
from playground.worlds.vacancies import TITLES, yearly_pay

router = APIRouter(prefix="/paygrade", tags=["Jobs"])


class SalaryEstimate(BaseModel):
    """What a job pays in a year."""

    job_title: str = Field(examples=["Data Engineer"])
    country: str = Field(examples=["Veldania"])
    min_salary: int = Field(description="10th percentile.", examples=[381000])
    median_salary: int = Field(description="Median.", examples=[489000])
    max_salary: int = Field(description="90th percentile.", examples=[684000])
    salary_currency: str = Field(examples=["VDK"])
    salary_period: str = Field(examples=["YEAR"])


@router.get(
    "/estimated-salary",
    operation_id="salary_estimate",
    summary="Estimated salary",
    responses=refusals(e404="There is no data on this job title or country."),
)
async def salary_estimate(
    job_title: Annotated[str, Query(description="Job title, without senior or junior.", examples=["Data Engineer"])],
    country_code: Annotated[str, Query(description="ISO 3166 code of the country.", examples=["XV"])],
) -> SalaryEstimate:
    """Get estimated salaries/pay for a job title around a country. Gross, per year, in local currency."""
    trade = next((title for title in TITLES if title.casefold() == job_title.strip().casefold()), None)
    country = country_by_code(country_code)
    if trade is None:
        refuse(404, f"There is no data on {job_title}. Known titles: {', '.join(sorted(TITLES))}.")
    if country is None:
        refuse(404, f"No country has the code {country_code}.")
    median = yearly_pay(trade, country)
    return SalaryEstimate(
        job_title=trade,
        country=country.name,
        min_salary=median * 78 // 100,
        median_salary=median,
        max_salary=median * 140 // 100,
        salary_currency=country.currency,
        salary_period="YEAR",
    )


SERVICE = Service(router, "PayGrade", "Salary estimates by job title and country.")
