"""Orders and parcels. Tracking fails at the first attempt, always."""

from collections.abc import Iterator

from playground.scenarios.choice import Entries, is_free, some_orders, told, with_money
from playground.scenarios.steps import contact_card, place
from playground.session import Scenario, Session
from playground.worlds import chance
from playground.worlds.contacts import contacts
from playground.worlds.orders import past_orders

_STATUS = (
    "What is the status of order {number}?",
    "Has order {number} been shipped yet?",
    "What did I order with {number}, and what did it cost?",
    "Where is order {number} being sent?",
    "Give me the tracking code of order {number}.",
)
_ZONE = ("What is the time zone of the city that order {number} is sent to?",)
_LAND = ("In which country will order {number} be delivered, and what money do they use there?",)
_TOTAL = ("How much is order {number} in {code}?", "Convert the total of my order {number} to {code}.")
_FOLLOW = (
    "Where is the parcel of order {number} now?",
    "When is order {number} due to arrive?",
    "Track the shipment of order {number}.",
)
_TRACK = ("Where is parcel {parcel}?", "When will {parcel} be delivered?")
_TRACK_WEATHER = ("What is the weather like where parcel {parcel} is at the moment?",)
_CUSTOMER = ("Which orders has {name} placed in the shop?", "List the order numbers of my contact {name}.")
_CANCEL = ("Cancel order {number}.", "I no longer want order {number}. Please cancel it.")
_NOTHING = ("Where is order {number}?", "What is the status of order {number}?")


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_STATUS, _status, _orders(12, "status"))
    yield from told(_ZONE, _zone, _orders(6, "zone"))
    yield from told(_LAND, _land, _orders(4, "land"))
    yield from told(_TOTAL, _total, with_money(_orders(5, "total"), "total"))
    yield from told(_FOLLOW, _follow, _orders(9, "follow"))
    yield from told(_TRACK, _track, _parcels(5, "track"))
    yield from told(_TRACK_WEATHER, _track_weather, _parcels(4, "weather"))
    yield from told(_CUSTOMER, _customer, _customers(6))
    yield from told(_CANCEL, _cancel, _orders(5, "cancel", "processing"))
    yield from told(_CANCEL, _too_late, _orders(3, "late", "delivered"))
    yield from told(_NOTHING, _nothing, [{"number": "HM-10001"}, {"number": "HM-77777"}])


def _orders(count: int, key: str, *status: str) -> Entries:
    return [{"number": one.order_number} for one in some_orders(count, key, status=status or ("shipped", "delivered"))]


def _parcels(count: int, key: str) -> Entries:
    return [{"parcel": one.tracking_code} for one in some_orders(count, "parcel", key)]


def _customers(count: int) -> Entries:
    known = {contact.name for contact in contacts()}
    names = sorted({one.customer.name for one in past_orders()} & known)
    return [{"name": name} for name in chance.several([one for one in names if is_free(one)], count, "customers")]


def _status(session: Session, number: str) -> None:
    found = session.call("get_order", order_number=number)
    names = ", ".join(line["product_name"] for line in found["lines"])
    session.answer(
        f"Order {number} ({names}, {found['order_total']} AFP) to {found['shipping_city']} is "
        f"{found['order_status']}; tracking code {found['tracking_code']}."
    )


def _zone(session: Session, number: str) -> None:
    found = place(session, session.call("get_order", order_number=number)["shipping_city"])
    zone = session.call("get_timezone_info", timezone=found["timezone"])
    session.answer(f"{found['city']} is in the zone {zone['timezone']}, {zone['utc_offset']} of UTC.")


def _land(session: Session, number: str) -> None:
    order = session.call("get_order", order_number=number)
    country = session.call("get_country_by_code", country_code=order["shipping_country_code"])
    session.answer(f"It goes to {country['name']}, where they pay in {country['currency_name']}.")


def _total(session: Session, number: str, code: str) -> None:
    order = session.call("get_order", order_number=number)
    found = session.call("convert_currency", from_currency="AFP", to_currency=code, amount=order["order_total"])
    session.answer(f"Order {number} is {found['converted_amount']} {code}.")


def _follow(session: Session, number: str) -> None:
    code = session.call("get_order", order_number=number)["tracking_code"]
    found = session.at_second_try("track_parcel", tracking_code=code)
    session.answer(f"It is in {found['current_city']} ({found['state']}), due on {found['due_date']}.")


def _track(session: Session, parcel: str) -> None:
    found = session.at_second_try("track_parcel", tracking_code=parcel)
    session.answer(f"{parcel} is in {found['current_city']}, due on {found['due_date']}.")


def _track_weather(session: Session, parcel: str) -> None:
    found = place(session, session.at_second_try("track_parcel", tracking_code=parcel)["current_city"])
    now = session.call("get_current_weather", latitude=found["latitude"], longitude=found["longitude"])
    session.answer(f"{parcel} is in {found['city']}: {now['condition']}, {now['temperature']} °C.")


def _customer(session: Session, name: str) -> None:
    email = contact_card(session, name)["email_address"]
    found = session.call("list_customer_orders", customer_email=email)
    session.answer("; ".join(f"{one['order_number']} ({one['order_status']})" for one in found) + ".")


def _cancel(session: Session, number: str) -> None:
    found = session.call("cancel_order", order_number=number)
    session.answer(f"Order {number} is {found['order_status']}.")


def _too_late(session: Session, number: str) -> None:
    session.fails("cancel_order", order_number=number)
    session.turn_back("It cannot be cancelled any more. I look at its status.")
    found = session.call("get_order", order_number=number)
    session.answer(f"Order {number} is {found['order_status']} and can no longer be cancelled.")


def _nothing(session: Session, number: str) -> None:
    session.fails("get_order", order_number=number)
    session.give_up()
