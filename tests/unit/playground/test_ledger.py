"""Whoever changes something leaves one entry in the ledger; whoever is refused leaves none."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import httpx
import pytest

from playground.keys import COURIER_MAIL
from playground.worlds.contacts import contacts
from playground.worlds.desks import rooms
from playground.worlds.diary import entries, errands
from playground.worlds.goods import products
from playground.worlds.loans import copies
from playground.worlds.orders import past_orders
from tests.unit.playground.asking import effects, get, post

PRODUCT, CONTACT, EVENT = products()[0], contacts()[0], entries()[0]
TASK = next(one for one in errands() if one.state != "done")
OPEN_ORDER = next(one for one in past_orders() if one.status == "processing").order_number
ORDER = {
    "customer": {"name": "Dagny Iversholt", "email": "dagny@oskvik.example"},
    "shipping_address": {"street": "12 Mill Lane", "city": "Oskvik"},
    "items": [{"product_id": PRODUCT.product_id, "quantity": 2}],
}
MAIL = {"to": ["dagny@oskvik.example"], "subject": "Agenda", "body": "Here."}
TOKEN = {"Authorization": f"Bearer {COURIER_MAIL}"}
MEETING = {"title": "Chess club", "starts_at": "2026-05-12T19:00:00", "location_city": "Oskvik"}
WISH = {"room_id": rooms()[0].room_id, "date": "2026-05-12", "hours": 1, "guest_name": "Dagny Iversholt"}
FREE_HOUR = rooms()[0].free_hours(date(2026, 5, 12))[0]

Change = Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]
CHANGES: dict[str, Change] = {
    "place_order": lambda c: c.post("/market/orders", json=ORDER),
    "cancel_order": lambda c: c.post(f"/market/orders/{OPEN_ORDER}/cancel"),
    "create_event": lambda c: c.post("/agendo/v1/events", json=MEETING),
    "update_event": lambda c: c.patch(f"/agendo/v1/events/{EVENT.event_id}", json={"title": "Another"}),
    "delete_event": lambda c: c.delete(f"/agendo/v1/events/{EVENT.event_id}"),
    "create_task": lambda c: c.post("/doable/tasks", json={"title": "Mend the fence"}),
    "complete_task": lambda c: c.put(f"/doable/tasks/{TASK.task_id}/done"),
    "send_message": lambda c: c.post("/pigeon/messages", json={"contact_id": CONTACT.contact_id, "text": "Hello."}),
    "send_email": lambda c: c.post("/courier-mail/send", json=MAIL, headers=TOKEN),
    "reserve_room": lambda c: c.post("/deskhive/reservations", json=WISH | {"from_hour": FREE_HOUR}),
    "place_hold": lambda c: c.post("/borrowell/holds", json={"copy_id": copies()[0].copy_id, "card_number": "204418"}),
}


@pytest.mark.parametrize("tool", sorted(CHANGES))
async def test_a_change_leaves_one_entry(client: httpx.AsyncClient, tool: str) -> None:
    response = await CHANGES[tool](client)
    assert response.status_code < 300, response.text
    (effect,) = await effects(client)
    assert (effect["id"], effect["tool"], effect["at_seq"]) == ("eff_000001", tool, 1)
    assert effect["arguments"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/market/orders", ORDER | {"items": [{"product_id": "prd_0"}]}, 404),
        ("POST", "/market/orders", ORDER | {"shipping_address": {"street": "1 Way", "city": "Atlantis"}}, 404),
        ("POST", "/market/orders", ORDER | {"items": []}, 422),
        ("POST", "/market/orders/HM-1/cancel", None, 404),
        ("PATCH", "/agendo/v1/events/evt_0", {"title": "Another"}, 404),
        ("DELETE", "/agendo/v1/events/evt_0", None, 404),
        ("PUT", "/doable/tasks/tsk_0/done", None, 404),
        ("POST", "/pigeon/messages", {"contact_id": "con_0", "text": "Hello."}, 404),
        ("POST", "/courier-mail/send", MAIL, 401),
        ("POST", "/borrowell/holds", {"copy_id": "cpy_0", "card_number": "204418"}, 404),
        ("POST", "/deskhive/reservations", WISH | {"room_id": "room_0", "from_hour": 9}, 404),
        ("DELETE", "/deskhive/reservations/RSV-0", None, 404),
    ],
)
async def test_a_refusal_leaves_none(client: httpx.AsyncClient, method: str, path: str, body: Any, status: int) -> None:
    response = await client.request(method, path, json=body)
    assert response.status_code == status, response.text
    assert response.json()["detail"]
    assert await effects(client) == []


async def test_an_idempotency_key_orders_once(client: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await post(client, "/market/orders", ORDER, headers=key)
    again = await post(client, "/market/orders", ORDER, headers=key)
    assert first == again
    assert len(await effects(client)) == 1
    other = ORDER | {"express": True}
    refused = await client.post("/market/orders", json=other, headers=key)
    assert refused.status_code == 409
    assert len(await effects(client)) == 1
    await post(client, "/market/orders", ORDER)
    assert len(await effects(client)) == 2


async def test_cancelling_twice_is_refused_and_changes_nothing(client: httpx.AsyncClient) -> None:
    path = f"/market/orders/{OPEN_ORDER}/cancel"
    assert (await post(client, path))["order_status"] == "cancelled"
    assert (await client.post(path)).status_code == 409
    assert len(await effects(client)) == 1


async def test_ticking_off_twice_has_one_effect(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        assert (await CHANGES["complete_task"](client)).json()["state"] == "done"
    assert len(await effects(client)) == 1


async def test_the_ledger_is_emptied_and_numbers_go_on(client: httpx.AsyncClient) -> None:
    first = (await CHANGES["create_task"](client)).json()
    assert (await client.delete("/_ledger")).status_code == 204
    assert await effects(client) == []
    second = (await CHANGES["create_task"](client)).json()
    assert first["task_id"] != second["task_id"]
    assert [one["at_seq"] for one in await effects(client)] == [2]


async def test_a_reset_undoes_everything(client: httpx.AsyncClient) -> None:
    before = await get(client, "/agendo/v1/events")
    for change in CHANGES.values():
        await change(client)
    assert await get(client, "/agendo/v1/events") != before
    assert len(await effects(client)) == len(CHANGES)
    await client.post("/_reset")
    assert await effects(client) == []
    assert await get(client, "/agendo/v1/events") == before
    again = (await CHANGES["create_task"](client)).json()
    await client.post("/_reset")
    assert (await CHANGES["create_task"](client)).json() == again
