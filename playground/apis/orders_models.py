"""What orders are made of."""

from typing import Literal

from pydantic import BaseModel, Field

Status = Literal["processing", "shipped", "delivered", "cancelled"]


class Customer(BaseModel):
    """Who orders."""

    name: str = Field(min_length=2, description="Full name.", examples=["Dagny Iversholt"])
    email: str = Field(
        pattern=r"^[^@\s]+@[^@\s]+$", description="Where the confirmation goes.", examples=["dagny@oskvik.example"]
    )


class Address(BaseModel):
    """Where it goes."""

    street: str = Field(min_length=3, description="Street and number.", examples=["12 Mill Lane"])
    city: str = Field(min_length=2, description="City, as in the gazetteer.", examples=["Oskvik"])


class Item(BaseModel):
    """How many of what."""

    product_id: str = Field(description="Identifier of the product.", examples=["prd_0f3a91c2"])
    quantity: int = Field(1, ge=1, le=50, description="Pieces.", examples=[2])


class NewOrder(BaseModel):
    """An order to place."""

    customer: Customer
    shipping_address: Address
    items: list[Item] = Field(min_length=1, max_length=20, description="What is ordered.")
    express: bool = Field(False, description="Send it express.")


class OrderLine(Item):
    """A line of an order."""

    product_name: str = Field(description="Name of the product.", examples=["Cobalt Copper Kettle"])
    unit_price: float = Field(description="Price of one piece, in AFP.", examples=[38.4])


class OrderView(BaseModel):
    """An order as the shop shows it."""

    order_number: str = Field(description="Number of the order.", examples=["HM-48217"])
    order_status: Status = Field(description="How far it is.", examples=["shipped"])
    placed_on: str = Field(description="Day on which it was placed.", examples=["2026-04-02"])
    customer_name: str = Field(description="Who ordered.", examples=["Dagny Iversholt"])
    shipping_city: str = Field(description="City to which it is sent.", examples=["Oskvik"])
    shipping_country_code: str = Field(description="Two-letter code of that city's country.", examples=["XV"])
    lines: list[OrderLine]
    order_total: float = Field(description="Sum of the lines, in AFP.", examples=[76.8])
    tracking_code: str | None = Field(description="Parcel Eye code, once it is shipped.", examples=["PE123456789"])


class OrderSummary(BaseModel):
    """An order in a list."""

    order_number: str = Field(description="Number of the order.", examples=["HM-48217"])
    order_status: Status = Field(description="How far it is.", examples=["shipped"])
    order_total: float = Field(description="Sum of the lines, in AFP.", examples=[76.8])
