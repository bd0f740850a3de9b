"""Orders that were placed before today, and where their parcels are."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Literal

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.geography import City, cities, city_named
from playground.worlds.goods import Product, Warehouse, products, warehouses
from playground.worlds.scholars import Scholar, scholars

ORDERS = 60
FIRST_NUMBER = 48_210
Status = Literal["processing", "shipped", "delivered", "cancelled"]


@dataclass(frozen=True, slots=True)
class Line:
    product: Product
    quantity: int


@dataclass(frozen=True, slots=True)
class Order:
    """``tracking_code`` is empty until the order is shipped."""

    order_number: str
    customer: Scholar
    ship_to: City
    placed: date
    status: Status
    lines: tuple[Line, ...]
    tracking_code: str

    @property
    def total(self) -> float:
        """In the shop's currency."""
        return round(sum(line.product.price * line.quantity for line in self.lines), 2)


@dataclass(frozen=True, slots=True)
class Parcel:
    """``at``: the city where it was seen last; ``weight`` in kilograms."""

    tracking_code: str
    start: Warehouse
    at: City
    destination: City
    due: date
    delivered: bool
    weight: float


@cache
def past_orders() -> tuple[Order, ...]:
    """All orders, the oldest first."""
    return tuple(_order(position) for position in range(ORDERS))


def past_order(number: str) -> Order | None:
    """The order of that number, whatever its case."""
    return next((one for one in past_orders() if one.order_number == number.strip().upper()), None)


def parcel(tracking_code: str) -> Parcel | None:
    """The parcel of that code: one of a past order."""
    wanted = tracking_code.strip().upper()
    order = next((one for one in past_orders() if one.tracking_code == wanted), None) if wanted else None
    if order is None:
        return None
    delivered = order.status == "delivered"
    start = chance.pick(warehouses(), "from", order.order_number)
    return Parcel(
        tracking_code=order.tracking_code,
        start=start,
        at=order.ship_to if delivered else chance.pick(cities(), "seen", order.order_number),
        destination=order.ship_to,
        due=order.placed + timedelta(days=chance.between(8, 21, "days", order.order_number)),
        delivered=delivered,
        weight=round(sum(line.product.weight * line.quantity for line in order.lines), 2),
    )


def shipping_price(weight: float, express: bool) -> float:
    """What a parcel costs, in the shop's currency; ``weight`` in kilograms."""
    return round((4.5 + 1.35 * weight) * (2.2 if express else 1), 2)


def home_of(customer: Scholar) -> City:
    """Where a customer lives: where he or she works."""
    return city_named(customer.organization.city.name) or customer.organization.city


def _order(position: int) -> Order:
    number = f"HM-{FIRST_NUMBER + 7 * position}"
    customer = chance.pick(scholars(), "customer", number)
    placed = TODAY - timedelta(days=ORDERS - position)
    status = _status(number, position)
    chosen = chance.several(products(), chance.between(1, 3, "lines", number), "goods", number)
    return Order(
        order_number=number,
        customer=customer,
        ship_to=home_of(customer) if position % 2 else chance.pick(cities(), "ship to", number),
        placed=placed,
        status=status,
        lines=tuple(Line(product, chance.between(1, 4, "quantity", number, product.name)) for product in chosen),
        tracking_code=f"PE{chance.between(10**8, 10**9 - 1, 'parcel', number)}"
        if status in ("shipped", "delivered")
        else "",
    )


def _status(number: str, position: int) -> Status:
    if chance.between(0, 9, "cancelled", number) == 0:
        return "cancelled"
    if position >= ORDERS - 12:
        return "processing"
    return "shipped" if position >= ORDERS - 32 else "delivered"
