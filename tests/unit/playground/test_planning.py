"""The calendar, the tasks, the rooms, the loans, the messages: what is written is read again."""

from datetime import date
from typing import Any

import httpx
import pytest

from playground.keys import COURIER_MAIL
from playground.worlds.contacts import contacts
from playground.worlds.desks import rooms
from playground.worlds.diary import entries, errands
from playground.worlds.library import books
from tests.unit.playground.asking import get, post

EVENTS = "/agendo/v1/events"
ENTRY, CONTACT, ROOM = entries()[0], contacts()[0], rooms()[0]
DAY = date(2026, 5, 12)
TOKEN = {"Authorization": f"Bearer {COURIER_MAIL}"}
MAIL: dict[str, Any] = {"to": [CONTACT.person.email], "subject": "Agenda", "body": "Here."}


async def test_events_are_found_by_title_and_by_day(client: httpx.AsyncClient) -> None:
    found = (await get(client, EVENTS, text=ENTRY.title))["events"]
    assert [one["event_id"] for one in found] == [ENTRY.event_id]
    day = ENTRY.start.date().isoformat()
    assert found[0] in (await get(client, EVENTS, time_min=day, time_max=day))["events"]
    event = await get(client, f"{EVENTS}/{ENTRY.event_id}")
    assert event["location_city"] == ENTRY.city.name


async def test_an_event_is_made_moved_and_deleted(client: httpx.AsyncClient) -> None:
    made = await post(client, EVENTS, {"title": "Chess club", "starts_at": "2026-05-12T19:00"})
    path = f"{EVENTS}/{made['event_id']}"
    moved = (await client.patch(path, json={"starts_at": "2026-05-13T20:00"})).json()
    assert moved == made | {"starts_at": "2026-05-13T20:00:00"}
    assert await get(client, path) == moved
    gone = await client.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(path)).status_code == 404
    assert (await client.delete(path)).status_code == 404


async def test_tasks_are_filtered_by_a_list_of_states(client: httpx.AsyncClient) -> None:
    every = await get(client, "/doable/tasks")
    assert len(every) == len(errands())
    some = await get(client, "/doable/tasks", state=["open", "in_progress"])
    assert {one["state"] for one in some} == {"open", "in_progress"}
    assert some == [one for one in every if one["state"] != "done"]
    assert (await client.get("/doable/tasks", params={"state": "lost"})).status_code == 422


async def test_a_new_task_is_on_the_list(client: httpx.AsyncClient) -> None:
    made = await post(client, "/doable/tasks", {"title": "Mend the fence", "priority": "high"})
    assert made in await get(client, "/doable/tasks", priority="high")
    done = await client.put(f"/doable/tasks/{made['task_id']}/done")
    assert done.json() == made | {"state": "done"}


async def test_a_reserved_hour_is_taken_until_it_is_cancelled(client: httpx.AsyncClient) -> None:
    path, day = f"/deskhive/rooms/{ROOM.room_id}/free", DAY.isoformat()
    free = (await get(client, path, date=day))["free_hours"]
    assert free == ROOM.free_hours(DAY)
    wish = {"room_id": ROOM.room_id, "date": day, "from_hour": free[0], "guest_name": "Dagny Iversholt"}
    made = await post(client, "/deskhive/reservations", wish)
    assert made["total_price"] == ROOM.hourly_price
    assert (await get(client, path, date=day))["free_hours"] == free[1:]
    assert (await client.post("/deskhive/reservations", json=wish)).status_code == 409
    cancelled = await client.delete(f"/deskhive/reservations/{made['reservation_code']}")
    assert cancelled.json() == made | {"status": "cancelled"}
    assert (await get(client, path, date=day))["free_hours"] == free


async def test_rooms_are_found_by_size_and_equipment(client: httpx.AsyncClient) -> None:
    query = {"city": ROOM.city.name.upper(), "min_seats": ROOM.seats, "amenities": list(ROOM.amenities)}
    found = await get(client, "/deskhive/rooms", **query)
    assert ROOM.room_id in {one["room_id"] for one in found}
    details = await get(client, f"/deskhive/rooms/{ROOM.room_id}")
    assert details["currency_code"] == ROOM.city.country.currency
    assert await get(client, "/deskhive/rooms", city=ROOM.city.name, min_seats=60) == []


async def test_a_message_is_sent_and_delivered(client: httpx.AsyncClient) -> None:
    hit = (await get(client, "/pigeon/contacts", name=CONTACT.name))[0]
    card = await get(client, f"/pigeon/contacts/{hit['contact_id']}")
    assert card["email_address"] == CONTACT.person.email
    sent = await post(client, "/pigeon/messages", {"contact_id": hit["contact_id"], "text": "x" * 161})
    assert (sent["delivery"], sent["segments"]) == ("queued", 2)
    status = await get(client, f"/pigeon/messages/{sent['message_id']}")
    assert status == sent | {"delivery": "delivered"}
    assert (await client.get("/pigeon/messages/msg_0")).status_code == 404


@pytest.mark.parametrize(("token", "status"), [("", 401), ("Bearer guess", 403), (f"Bearer {COURIER_MAIL}", 201)])
async def test_mail_wants_its_token(client: httpx.AsyncClient, token: str, status: int) -> None:
    headers = {"Authorization": token} if token else {}
    response = await client.post("/courier-mail/send", json=MAIL, headers=headers)
    assert response.status_code == status
    assert COURIER_MAIL not in response.text


async def test_sent_mail_is_in_the_mailbox(client: httpx.AsyncClient) -> None:
    sent = await post(client, "/courier-mail/send", MAIL, headers=TOKEN)
    mailbox = (await client.get("/courier-mail/mailbox", headers=TOKEN)).json()
    assert mailbox["sent"] == [sent]
    assert (await client.get(f"/courier-mail/sent/{sent['mail_id']}", headers=TOKEN)).json() == sent
    assert (await client.get("/courier-mail/sent/mail_0", headers=TOKEN)).status_code == 404


async def test_copies_are_found_by_isbn_and_kept_once(client: httpx.AsyncClient) -> None:
    book = books()[0]
    found = await get(client, "/borrowell/copies", isbn=f"{book.isbn[:3]}-{book.isbn[3:]}")
    assert found["on_shelf"] == sum(one["due_back"] is None for one in found["copies"])
    claim = {"copy_id": found["copies"][0]["copy_id"], "card_number": "204418"}
    hold = await post(client, "/borrowell/holds", claim)
    assert hold["pick_up_city"] == found["copies"][0]["branch_city"]
    assert (await client.post("/borrowell/holds", json=claim)).status_code == 409
    assert (await client.post("/borrowell/holds", json=claim | {"card_number": "x"})).status_code == 422
