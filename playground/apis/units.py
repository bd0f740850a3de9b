"""Unit Works: values in other units."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.worlds.measures import UNITS, convert

router = APIRouter(prefix="/units", tags=["Conversion"])
UnitName = Literal[
    "metre", "kilometre", "mile", "foot", "inch", "centimetre", "kilogram", "gram", "pound", "ounce", "tonne", "litre",
    "millilitre", "gallon", "pint", "kilometre_per_hour", "mile_per_hour", "metre_per_second", "knot", "celsius",
    "fahrenheit", "kelvin",
]  # fmt: skip
"""The keys of ``UNITS``, written out for the OpenAPI document (a test compares them)."""


class ConvertedValue(BaseModel):
    """A value in another unit."""

    quantity: str = Field(description="What the units measure.", examples=["temperature"])
    result: float = Field(description="The value in the target unit.", examples=[49.28])
    unit: str = Field(description="The target unit.", examples=["fahrenheit"])


@router.get(
    "/convert",
    operation_id="convert_units",
    summary="Convert a value between units",
    responses=refusals(e400="The units measure different things."),
)
async def convert_units(
    value: Annotated[float, Query(description="Value to convert.", examples=[9.6])],
    from_unit: Annotated[UnitName, Query(description="Unit to convert from.", examples=["celsius"])],
    to_unit: Annotated[UnitName, Query(description="Unit to convert to.", examples=["fahrenheit"])],
) -> ConvertedValue:
    """Convert a value from one unit of measure into another: length, mass, volume, speed, temperature."""
    source, target = UNITS[from_unit], UNITS[to_unit]
    if source.quantity != target.quantity:
        refuse(400, f"{source.name} measures {source.quantity}, {target.name} measures {target.quantity}.")
    return ConvertedValue(quantity=source.quantity, result=convert(value, source, target), unit=target.name)


SERVICE = Service(router, "Unit Works", "Conversion of physical units.")
