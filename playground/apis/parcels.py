"""Parcel Eye: where parcels are, and what sending one costs."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.failures import broken, fails
from playground.worlds.goods import CURRENCY
from playground.worlds.orders import parcel, shipping_price

router = APIRouter(prefix="/parcel-eye", tags=["Logistics"])
LITRES_TO_KG = 0.2
"""A light parcel pays for its size."""


class Tracking(BaseModel):
    """Where a parcel is."""

    tracking_code: str = Field(description="Code of the parcel.", examples=["PE123456789"])
    state: Literal["in_transit", "delivered"] = Field(description="How far it is.", examples=["in_transit"])
    shipped_from_city: str = Field(description="City of the sender.", examples=["Ilsenau"])
    current_city: str = Field(description="City where it was scanned last.", examples=["Oskvik"])
    destination_city: str = Field(description="City of the recipient.", examples=["Oskvik"])
    due_date: str = Field(description="Day on which it is due, or was.", examples=["2026-05-11"])
    weight_kg: float = Field(description="Weight in kilograms.", examples=[2.7])


class Size(BaseModel):
    """Outer size in centimetres."""

    length_cm: float = Field(gt=0, description="Length.", examples=[40.0])
    width_cm: float = Field(gt=0, description="Width.", examples=[30.0])
    height_cm: float = Field(gt=0, description="Height.", examples=[20.0])


class ParcelToSend(BaseModel):
    """A parcel."""

    weight_kg: float = Field(gt=0, le=30, description="Weight in kilograms.", examples=[2.5])
    size: Size | None = Field(None, description="Needed for light and bulky parcels only.")


class RateRequest(BaseModel):
    """What is to be sent."""

    parcel: ParcelToSend
    service_level: Literal["standard", "express"] = Field("standard", description="How fast.")


class Rate(BaseModel):
    """A price."""

    charged_weight_kg: float = Field(description="The weight that is paid for.", examples=[4.8])
    shipping_price: float = Field(description="Price of sending it.", examples=[7.88])
    currency_code: str = Field(description="Currency of the price.", examples=["AFP"])


@router.get(
    "/parcels/{tracking_code}",
    operation_id="track_parcel",
    summary="Track & trace",
    responses=refusals(e404="Unknown tracking code.", e500="A fault on our side; repeat the request."),
    dependencies=[fails(broken())],
)
async def track_parcel(
    tracking_code: Annotated[str, Path(description="The code on the label, PE and nine digits.", examples=["PE1"])],
) -> Tracking:
    """Track & trace: where a parcel is now and when it is due."""
    found = parcel(tracking_code)
    if found is None:
        refuse(404, f"No parcel has the code {tracking_code}.")
    return Tracking(
        tracking_code=found.tracking_code,
        state="delivered" if found.delivered else "in_transit",
        shipped_from_city=found.start.city.name,
        current_city=found.at.name,
        destination_city=found.destination.name,
        due_date=found.due.isoformat(),
        weight_kg=found.weight,
    )


@router.post("/rates", operation_id="quote_shipping", summary="Shipping rate", openapi_extra={"x-side-effect": "reads"})
async def quote_shipping(wanted: RateRequest) -> Rate:
    """Price of sending a parcel of a given weight and size. Nothing is booked."""
    size = wanted.parcel.size
    bulk = LITRES_TO_KG * size.length_cm * size.width_cm * size.height_cm / 1000 if size else 0.0
    weight = round(max(wanted.parcel.weight_kg, bulk), 2)
    price = shipping_price(weight, express=wanted.service_level == "express")
    return Rate(charged_weight_kg=weight, shipping_price=price, currency_code=CURRENCY)


SERVICE = Service(router, "Parcel Eye", "Carrier: track parcels and price shipments.")
