"""World Facts: countries, their money and languages."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds import geography
from playground.worlds.money import CURRENCIES

router = APIRouter(prefix="/facts", tags=["Countries"])


class CountryFacts(BaseModel):
    """A country."""

    country_code: str = Field(description="Two-letter code of the country.", examples=["XV"])
    name: str = Field(description="Name of the country.", examples=["Veldania"])
    capital: str = Field(description="Name of the capital city.", examples=["Velmora"])
    currency_code: str = Field(description="Three-letter code of its currency.", examples=["VDK"])
    currency_name: str = Field(description="Name of its currency.", examples=["Veldanian krone"])
    languages: list[str] = Field(description="Official languages.", examples=[["Veldanian"]])
    calling_code: str = Field(description="Telephone prefix.", examples=["+801"])
    timezone: str = Field(description="Name of the time zone.", examples=["Veldania/Velmora"])


@router.get(
    "/country",
    operation_id="find_country",
    summary="Find a country by name",
    responses=refusals(e404="No country has this name."),
)
async def find_country(
    name: Annotated[str, Query(min_length=2, description="Name of the country.", examples=["Veldania"])],
) -> CountryFacts:
    """Facts about a country, by its name: capital, currency, languages, telephone prefix."""
    country = geography.country_named(name)
    if country is None:
        refuse(404, f"No country is called {name}.")
    return _facts(country)


@router.get(
    "/countries/{country_code}",
    operation_id="get_country_by_code",
    summary="Get a country by its code",
    responses=refusals(e404="No country has this code."),
)
async def get_country_by_code(
    country_code: Annotated[
        str, Path(min_length=2, max_length=2, description="Two-letter code of the country.", examples=["XV"])
    ],
) -> CountryFacts:
    """Facts about a country, by its two-letter code: capital, currency, languages, telephone prefix."""
    country = geography.country_by_code(country_code)
    if country is None:
        refuse(404, f"No country has the code {country_code}.")
    return _facts(country)


def _facts(country: geography.Country) -> CountryFacts:
    return CountryFacts(
        country_code=country.code,
        name=country.name,
        capital=country.capital,
        currency_code=country.currency,
        currency_name=CURRENCIES[country.currency].name,
        languages=list(country.languages),
        calling_code=country.calling_code,
        timezone=country.timezone,
    )


SERVICE = Service(router, "World Facts", "Facts about the countries of the world.")
