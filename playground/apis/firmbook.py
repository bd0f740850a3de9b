"""Firmbook: a register of companies."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.failures import fails, forbidden
from playground.worlds import companies
from playground.worlds.companies import Company

router = APIRouter(prefix="/firmbook/v2", tags=["Business"])
Sector = Literal["energy", "food", "health", "logistics", "retail", "software"]
CompanyId = Annotated[str, Path(description="Firmbook id of the company.", examples=["cmp_5b7e19d0"])]
_COMPANY = refusals(e404="No company has this id.")


class CompanyHit(BaseModel):
    """A company in a list."""

    company_id: str = Field(description="Firmbook id of the company.", examples=["cmp_5b7e19d0"])
    company_name: str = Field(description="Registered name.", examples=["Kestrelon Foods"])
    sector: str = Field(description="Line of business.", examples=["food"])


class CompanyHits(BaseModel):
    """Companies found, in order of name."""

    total: int = Field(description="How many companies match.", examples=[1])
    items: list[CompanyHit]


class CompanyProfile(CompanyHit):
    """What the register says of a company."""

    ticker_symbol: str = Field(description="Symbol under which its shares are traded.", examples=["KESF"])
    chief_executive: str = Field(description="Name of the chief executive.", examples=["Yasmin Calloway"])
    founded_year: int = Field(description="Year in which it was founded.", examples=[1931])
    employee_count: int = Field(description="Number of employees.", examples=[12400])
    headquarters_city: str = Field(description="City of the head office.", examples=["Brennick"])
    headquarters_country_code: str = Field(description="Two-letter code of that city's country.", examples=["XV"])


class Officer(BaseModel):
    """A member of the board."""

    officer_name: str = Field(description="Name.", examples=["Yasmin Calloway"])
    role: str = Field(description="Role on the board.", examples=["Chief executive"])


@router.get("/companies", operation_id="find_company", summary="Company search")
async def find_company(
    name: Annotated[
        str, Query(min_length=2, description="Company name, or the beginning of it.", examples=["Kestrelon Foods"])
    ],
    sector: Annotated[Sector | None, Query(description="Restrict to one line of business.", examples=["food"])] = None,
    limit: Annotated[int, Query(ge=1, le=25, description="Page size.")] = 10,
) -> CompanyHits:
    """Look up companies by name. Returns Firmbook ids, which all other Firmbook endpoints expect."""
    found = [one for one in companies.companies_named(name) if sector in (None, one.sector)]
    return CompanyHits(total=len(found), items=[_hit(one) for one in found[:limit]])


@router.get("/companies/by-city", operation_id="list_companies_in_city", summary="Companies based in a city")
async def list_companies_in_city(
    headquarters: Annotated[str, Query(description="Name of the city.", examples=["Brennick"])],
) -> CompanyHits:
    """Companies that have their headquarters in a given city."""
    wanted = headquarters.strip().casefold()
    found = [one for one in companies.companies() if one.headquarters.name.casefold() == wanted]
    return CompanyHits(total=len(found), items=[_hit(one) for one in found])


@router.get(
    "/companies/{company_id}", operation_id="get_company_profile", summary="Company profile", responses=_COMPANY
)
async def get_company_profile(company_id: CompanyId) -> CompanyProfile:
    """Full register entry of one company: chief executive, head office, year of foundation, number of employees and
    the ticker symbol of its shares.
    """
    company = _company(company_id)
    return CompanyProfile(
        **_hit(company).model_dump(),
        ticker_symbol=company.symbol,
        chief_executive=company.chief,
        founded_year=company.founded,
        employee_count=company.employees,
        headquarters_city=company.headquarters.name,
        headquarters_country_code=company.headquarters.country.code,
    )


@router.get(
    "/companies/{company_id}/officers",
    operation_id="get_company_officers",
    summary="Board members [Enterprise]",
    responses=refusals(e404="No company has this id.", e403="Your plan does not include this endpoint."),
    dependencies=[fails(forbidden("The officers endpoint is part of the Enterprise plan. Upgrade to call it."))],
)
async def get_company_officers(company_id: CompanyId) -> list[Officer]:
    """Board members and officers of a company, with their roles."""
    return [Officer(officer_name=_company(company_id).chief, role="Chief executive")]


def _company(company_id: str) -> Company:
    found = companies.company_by_id(company_id)
    if found is None:
        refuse(404, f"Unknown company_id {company_id}.")
    return found


def _hit(company: Company) -> CompanyHit:
    return CompanyHit(company_id=company.company_id, company_name=company.name, sector=company.sector)


SERVICE = Service(router, "Firmbook", "Company register: who they are, where they sit, who runs them.")
