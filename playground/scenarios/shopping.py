"""The shop, its orders and the parcels. Tracking fails at the first attempt, always."""

from collections.abc import Iterator

from playground.scenarios.choice import (
    Entries,
    some_cities,
    some_products,
    some_scholars,
    told,
    with_money,
)
from playground.scenarios.steps import product_id
from playground.session import Scenario, Session

_PRODUCT = (
    "How long is the warranty of the {product}?",
    "How heavy is the {product} from the shop?",
    "How do customers rate the {product}, and what does it cost?",
    "Show me the product page of the {product}.",
)
_BELOW = (
    "Is there a {thing} for less than {price} AFP?",
    "Find a {thing} that costs {price} AFP at most.",
    "Which {thing} can I buy with {price} pounds?",
)
_STOCK = (
    "How much stock is there of the {product}?",
    "Is the {product} available, and in which warehouse?",
    "Check the stock of the {product}.",
)
_ABROAD = (
    "What does the {product} cost in {code}?",
    "Price of the {product} in the shop, converted to {code}?",
)
_ORDER = (
    "Order {count} pieces of the {product} for {name} ({email}), to {street}, {city}.",
    "Please buy {count} x {product} and have it sent to {street} in {city}. The customer is {name}, {email}.",
)
_SHIP = (
    "What does it cost to send a parcel of {weight} kg by {speed} service?",
    "Price for shipping {weight} kg, {speed}?",
)
_SHIP_PRODUCT = ("How much would standard shipping of one {product} cost, going by its weight?",)


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_PRODUCT, _product, _products(9, "page"))
    things = ("kettle", "lamp", "rucksack", "globe", "feeder", "pen", "blanket", "knife")
    below: Entries = [{"thing": thing, "price": 60 + 40 * at} for at, thing in enumerate(things)]
    yield from told(_BELOW, _below, below)
    yield from told(_STOCK, _stock, _products(9, "stock"))
    yield from told(_ABROAD, _abroad, with_money(_products(6, "abroad"), "abroad"))
    yield from told(_ORDER, _order, _new_orders(8))
    ships = [{"weight": 1.5 * at, "speed": ("standard", "express")[at % 2]} for at in range(1, 7)]
    yield from told(_SHIP, _ship, ships)
    yield from told(_SHIP_PRODUCT, _ship_product, _products(5, "ship"))


def _products(count: int, key: str) -> Entries:
    return [{"product": product.name} for product in some_products(count, key)]


def _new_orders(count: int) -> Entries:
    cities = some_cities(count, "send to")
    people = some_scholars(count, "buyers")
    goods = some_products(count, "bought")
    return [
        {
            "count": 1 + at % 4,
            "product": product.name,
            "name": person.name,
            "email": person.email,
            "street": f"{10 + 3 * at} Quay Street",
            "city": city.name,
        }
        for at, (city, person, product) in enumerate(zip(cities, people, goods, strict=True))
    ]


def _product(session: Session, product: str) -> None:
    found = session.call("get_product", product_id=product_id(session, product))
    session.answer(
        f"{product}: {found['price']} AFP, {found['weight_kg']} kg, rated {found['rating']}, warranty "
        f"{found['warranty_months']} months."
    )


def _below(session: Session, thing: str, price: int) -> None:
    found = session.call("search_products", query=thing, filter={"max_price": price}, sort="price_asc")["products"]
    if found:
        session.answer("; ".join(f"{one['product_name']}: {one['price']} AFP" for one in found) + ".")
    else:
        session.give_up()


def _stock(session: Session, product: str) -> None:
    found = session.call("check_stock", product_id=product_id(session, product))
    parts = [f"{one['pieces']} in {one['warehouse_city']}" for one in found["warehouses"]]
    session.answer(f"{found['pieces_total']} pieces: {', '.join(parts)}.")


def _abroad(session: Session, product: str, code: str) -> None:
    hit = session.call("search_products", query=product)["products"][0]
    found = session.call("convert_currency", from_currency="AFP", to_currency=code, amount=hit["price"])
    session.answer(f"The {product} costs {found['converted_amount']} {code}.")


def _order(session: Session, count: int, product: str, name: str, email: str, street: str, city: str) -> None:
    wanted = {"product_id": product_id(session, product), "quantity": count}
    found = session.call(
        "place_order",
        customer={"name": name, "email": email},
        shipping_address={"street": street, "city": city},
        items=[wanted],
    )
    session.answer(f"Ordered: number {found['order_number']}, {found['order_total']} AFP.")


def _ship(session: Session, weight: float, speed: str) -> None:
    found = session.call("quote_shipping", parcel={"weight_kg": weight}, service_level=speed)
    session.answer(f"{found['shipping_price']} {found['currency_code']}.")


def _ship_product(session: Session, product: str) -> None:
    weight = session.call("get_product", product_id=product_id(session, product))["weight_kg"]
    found = session.call("quote_shipping", parcel={"weight_kg": weight})
    session.answer(f"Sending {weight} kg costs {found['shipping_price']} {found['currency_code']}.")
