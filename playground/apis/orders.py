"""Harbour Orders: placing, following and cancelling orders of the shop."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request

from playground.apis.orders_models import NewOrder, OrderLine, OrderSummary, OrderView
from playground.apis.service import Service, refusals, refuse
from playground.apis.shop import known_product
from playground.state import record_effect, state_of
from playground.worlds import orders
from playground.worlds.clock import TODAY
from playground.worlds.geography import city_named

router = APIRouter(prefix="/market/orders", tags=["Shopping"])
FIRST_NEW = 90_000
OrderNumber = Annotated[str, Path(description="Order number, as on the receipt.", examples=["HM-48217"])]


@dataclass(frozen=True, slots=True)
class Placed:
    """What was ordered under an idempotency key."""

    order_number: str
    wanted: NewOrder


@router.get("", operation_id="list_customer_orders", summary="Orders of a customer")
async def list_customer_orders(
    request: Request,
    customer_email: Annotated[
        str, Query(min_length=3, description="E-mail address of the customer.", examples=["dagny@oskvik.example"])
    ],
) -> list[OrderSummary]:
    """The orders that were placed under an e-mail address, the oldest first."""
    wanted = customer_email.strip().casefold()
    numbers = [one.order_number for one in orders.past_orders() if one.customer.email.casefold() == wanted]
    found = [_order(request, number) for number in numbers]
    return [OrderSummary(**one.model_dump(include=set(OrderSummary.model_fields))) for one in found]


@router.post(
    "",
    operation_id="place_order",
    summary="Place an order",
    status_code=201,
    responses=refusals(
        e404="A product or the city is unknown.", e409="The idempotency key was used for another order."
    ),
)
async def place_order(
    request: Request,
    wanted: NewOrder,
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key", max_length=64, description="Repeating a key returns the order it made, once made."
        ),
    ] = None,
) -> OrderView:
    """Place a binding order. The customer gets a confirmation by e-mail; payment is by invoice. Send an
    `Idempotency-Key` if you may have to repeat the call.
    """
    kept, keys = state_of(request).table(OrderView), state_of(request).table(Placed)
    if key is not None and key in keys:
        if keys[key].wanted != wanted:
            refuse(409, "This Idempotency-Key was used for another order.")
        return kept[keys[key].order_number]
    lines = [_line(item.product_id, item.quantity) for item in wanted.items]
    city = city_named(wanted.shipping_address.city)
    if city is None:
        refuse(404, f"We do not deliver to {wanted.shipping_address.city}: it is not in the gazetteer.")
    effect = record_effect(request, wanted.model_dump())
    made = OrderView(
        order_number=f"HM-{FIRST_NEW + effect.at_seq}",
        order_status="processing",
        placed_on=TODAY.isoformat(),
        customer_name=wanted.customer.name,
        shipping_city=city.name,
        shipping_country_code=city.country.code,
        lines=lines,
        order_total=round(sum(line.unit_price * line.quantity for line in lines), 2),
        tracking_code=None,
    )
    kept[made.order_number] = made
    if key is not None:
        keys[key] = Placed(made.order_number, wanted)
    return made


@router.get(
    "/{order_number}",
    operation_id="get_order",
    summary="Order status",
    responses=refusals(e404="No order has this number."),
)
async def get_order(request: Request, order_number: OrderNumber) -> OrderView:
    """Status of an order, what was ordered, where it is sent, and the code to track its parcel."""
    return _order(request, order_number)


@router.post(
    "/{order_number}/cancel",
    operation_id="cancel_order",
    summary="Cancel an order",
    responses=refusals(e404="No order has this number.", e409="It is too late to cancel it."),
)
async def cancel_order(request: Request, order_number: OrderNumber) -> OrderView:
    """Cancel an order that is still being processed."""
    order = _order(request, order_number)
    if order.order_status != "processing":
        refuse(409, f"Order {order.order_number} is {order.order_status} and cannot be cancelled any more.")
    record_effect(request, {"order_number": order.order_number})
    cancelled = order.model_copy(update={"order_status": "cancelled"})
    state_of(request).table(OrderView)[order.order_number] = cancelled
    return cancelled


def _order(request: Request, number: str) -> OrderView:
    """An order of today, or one that was placed before; with what has been changed since."""
    changed = state_of(request).table(OrderView).get(number.strip().upper())
    if changed is not None:
        return changed
    past = orders.past_order(number)
    if past is None:
        refuse(404, f"No order has the number {number}.")
    return OrderView(
        order_number=past.order_number,
        order_status=past.status,
        placed_on=past.placed.isoformat(),
        customer_name=past.customer.name,
        shipping_city=past.ship_to.name,
        shipping_country_code=past.ship_to.country.code,
        lines=[_line(one.product.product_id, one.quantity) for one in past.lines],
        order_total=past.total,
        tracking_code=past.tracking_code or None,
    )


def _line(product_id: str, quantity: int) -> OrderLine:
    product = known_product(product_id)
    return OrderLine(product_id=product_id, quantity=quantity, product_name=product.name, unit_price=product.price)


SERVICE = Service(router, "Harbour Orders", "Orders of Harbour Market: place, follow, cancel.")
