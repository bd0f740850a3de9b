"""The calendar, the task list and the meeting rooms: much of it changes something."""

from collections.abc import Iterator

from playground.scenarios.choice import Entries, is_free, some_cities, some_events, some_scholars, told, with_money
from playground.scenarios.steps import event, place
from playground.session import Scenario, Session
from playground.worlds.desks import rooms
from playground.worlds.diary import errands

_EVENT = (
    "Where does the {title} in my calendar take place?",
    "When is my {title}, and how long does it last?",
    "Who is invited to the {title}?",
    "Look up the event '{title}' in my calendar.",
)
_EVENT_WEATHER = (
    "What weather is forecast for the next 7 days in the city of my {title}?",
    "Forecast for a week where my event '{title}' takes place, please.",
)
_EVENT_ZONE = ("In which time zone does the {title} of my calendar take place?",)
_DAY = ("What is in my calendar on {day}?", "Which appointments do I have on {day}?")
_NEW = (
    "Put '{title}' into my calendar on {day} at {hour}:00 in {city}.",
    "Create an event called {title}: {day}, {hour}:00, {city}, {minutes} minutes.",
)
_MOVE = ("Move my {title} to {day} at {hour}:00.", "The {title} is put off: change it to {day}, {hour}:00.")
_DROP = ("Delete the {title} from my calendar.", "The {title} is off. Remove it from the calendar.")
_TASKS = ("Which tasks of {priority} priority are on my to-do list?", "Show my {priority} priority to-dos.")
_TASK = ("Add '{task}' to my to-do list, due on {day}.", "New task: {task}, by {day}, {priority} priority.")
_DONE = ("Tick off '{task}' on my task list.", "I have done this: {task}. Mark the task as completed.")
_ROOMS = (
    "Find a meeting room in {city} for {seats} people.",
    "Is there a room with at least {seats} seats to be rented in {city}?",
)
_EQUIPPED = ("Which meeting rooms in {city} have a {thing}?",)
_PRICE = ("What does the {room} in {city} cost per hour?", "What is the address of the {room} in {city}?")
_PRICE_ABROAD = ("How much is an hour in the {room} in {city}, in {code}?",)
_FREE = ("At what times is the {room} in {city} free on {day}?", "Free hours of the {room}, {city}, on {day}?")
_BOOK = (
    "Reserve a meeting room in {city} for {seats} people on {day}, one hour, in the name of {name}.",
    "Book any room in {city} with {seats} seats for an hour on {day}. The name is {name}.",
)
_BOOK_CANCEL = ("Reserve a room in {city} on {day} for {name}, and cancel it again at once: I want to see it works.",)
_FOUR_DAYS = ("On which of the days from 2026-05-11 to 2026-05-14 is the {room} in {city} free at 9?",)

_DAYS = ("2026-05-11", "2026-05-12", "2026-05-13", "2026-05-18", "2026-05-21", "2026-06-02", "2026-06-09")


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_EVENT, _event, _events(10, "look"))
    yield from told(_EVENT_WEATHER, _event_weather, _events(5, "weather"))
    yield from told(_EVENT_ZONE, _event_zone, _events(4, "zone"))
    yield from told(_DAY, _day, [{"day": f"{one.start.date()}"} for one in some_events(5, "day")])
    yield from told(_NEW, _new, _new_events())
    yield from told(_MOVE, _move, _dated(_events(6, "move")))
    yield from told(_DROP, _drop, _events(5, "drop"))
    yield from told(_TASKS, _tasks, [{"priority": one} for one in ("high", "low", "normal")])
    new = ("Buy a new lamp", "Call the plumber", "Sort the letters", "Mend the fence", "Write to the landlord")
    tasks = [{"task": task, "priority": ("high", "low")[at % 2]} for at, task in enumerate(new)]
    yield from told(_TASK, _task, _dated(tasks))
    yield from told(_DONE, _done, [{"task": one.title} for one in errands() if one.state != "done"][:6])
    yield from told(_ROOMS, _rooms, _seated("rooms", 5))
    things = ("projector", "whiteboard", "video")
    yield from told(
        _EQUIPPED, _equipped, [{**at, "thing": one} for at, one in zip(_seated("things", 3), things, strict=True)]
    )
    yield from told(_PRICE, _price, _rooms_of(6, "price"))
    yield from told(_PRICE_ABROAD, _price_abroad, with_money(_rooms_of(4, "abroad"), "rooms"))
    yield from told(_FREE, _free, _dated(_rooms_of(7, "free")))
    yield from told(_BOOK, _book, _dated(_seated("book", 7)))
    yield from told(_BOOK_CANCEL, _book_cancel, _dated(_seated("cancel", 3)))
    yield from told(_FOUR_DAYS, _four_days, _rooms_of(3, "days"))


def _events(count: int, key: str) -> Entries:
    return [{"title": one.title} for one in some_events(count, key)]


def _dated(given: Entries) -> Entries:
    return [{**entry, "day": _DAYS[at % len(_DAYS)], "hour": 9 + at % 7} for at, entry in enumerate(given)]


def _new_events() -> Entries:
    titles = ("Chess club", "Dentist", "Flat viewing", "Piano lesson", "Team breakfast", "Tax advice", "Book swap")
    there = some_cities(len(titles), "new events")
    given = [{"title": title, "city": city.name} for title, city in zip(titles, there, strict=True)]
    return [{**entry, "minutes": 30 + 15 * at} for at, entry in enumerate(_dated(given))]


def _seated(key: str, count: int) -> Entries:
    people = some_scholars(count, "guests", key)
    there = some_cities(count, "seats", key)
    return [
        {"city": city.name, "seats": 4 + 2 * (at % 3), "name": person.name}
        for at, (city, person) in enumerate(zip(there, people, strict=True))
    ]


def _rooms_of(count: int, key: str) -> Entries:
    there = some_cities(count, "rooms", key)
    first = {one.city.name: one.name for one in reversed(rooms()) if is_free(one.city.name)}
    return [{"city": city.name, "room": first[city.name]} for city in there]


def _event(session: Session, title: str) -> None:
    found = event(session, title)
    session.answer(
        f"{title}: {found['starts_at']}, {found['duration_minutes']} minutes in {found['location_city']} with "
        f"{', '.join(found['attendees'])}."
    )


def _event_weather(session: Session, title: str) -> None:
    there = place(session, event(session, title)["location_city"])
    asked = {"latitude": there["latitude"], "longitude": there["longitude"], "days": 7}
    days = session.call("get_daily_forecast", **asked)["daily"]
    session.answer("; ".join(f"{day['date']}: {day['condition']}" for day in days) + ".")


def _event_zone(session: Session, title: str) -> None:
    there = place(session, event(session, title)["location_city"])
    session.answer(f"The {title} takes place in {there['city']}, in the zone {there['timezone']}.")


def _day(session: Session, day: str) -> None:
    found = session.call("list_events", time_min=day, time_max=day)["events"]
    session.answer("; ".join(f"{one['title']} at {one['starts_at'][11:16]}" for one in found) + ".")


def _new(session: Session, title: str, day: str, hour: int, city: str, minutes: int) -> None:
    found = session.call(
        "create_event", title=title, starts_at=f"{day}T{hour:02}:00:00", duration_minutes=minutes, location_city=city
    )
    session.answer(f"Done: {title} on {day} at {hour}:00 ({found['event_id']}).")


def _move(session: Session, title: str, day: str, hour: int) -> None:
    found = session.call("list_events", text=title)["events"][0]
    moved = session.call("update_event", event_id=found["event_id"], starts_at=f"{day}T{hour:02}:00:00")
    session.answer(f"The {title} is now at {moved['starts_at']}.")


def _drop(session: Session, title: str) -> None:
    found = session.call("list_events", text=title)["events"][0]
    session.call("delete_event", event_id=found["event_id"])
    session.answer(f"The {title} is deleted.")


def _tasks(session: Session, priority: str) -> None:
    found = session.call("list_tasks", priority=priority, state=["open", "in_progress"])
    session.answer("; ".join(f"{one['title']} (due {one['due_date']})" for one in found) + ".")


def _task(session: Session, task: str, day: str, hour: int, priority: str) -> None:
    del hour  # a task has a day alone
    found = session.call("create_task", title=task, due_date=day, priority=priority)
    session.answer(f"Added: {found['title']}, due {found['due_date']}.")


def _done(session: Session, task: str) -> None:
    found = session.call("list_tasks", state=["open", "in_progress"])
    number = next(one["task_id"] for one in found if one["title"] == task)
    session.answer(f"{task} is {session.call('complete_task', task_id=number)['state']}.")


def _rooms(session: Session, city: str, seats: int, name: str) -> None:
    del name
    _told_rooms(session, session.call("find_meeting_rooms", city=city, min_seats=seats))


def _equipped(session: Session, city: str, seats: int, name: str, thing: str) -> None:
    del seats, name
    _told_rooms(session, session.call("find_meeting_rooms", city=city, amenities=[thing]))


def _told_rooms(session: Session, found: list[dict[str, str]]) -> None:
    if not found:
        session.give_up()
        return
    session.answer("; ".join(f"{one['room_name']} ({one['seats']} seats)" for one in found) + ".")


def _room_id(session: Session, city: str, room: str) -> str:
    found = session.call("find_meeting_rooms", city=city)
    return next(one["room_id"] for one in found if one["room_name"] == room)


def _price(session: Session, city: str, room: str) -> None:
    found = session.call("get_meeting_room", room_id=_room_id(session, city, room))
    session.answer(f"{room}, {found['street_address']}: {found['hourly_price']} {found['currency_code']} per hour.")


def _price_abroad(session: Session, city: str, room: str, code: str) -> None:
    found = session.call("get_meeting_room", room_id=_room_id(session, city, room))
    asked = {"from_currency": found["currency_code"], "to_currency": code, "amount": found["hourly_price"]}
    session.answer(f"{session.call('convert_currency', **asked)['converted_amount']} {code} per hour.")


def _free(session: Session, city: str, room: str, day: str, hour: int) -> None:
    del hour
    found = session.call("check_room_availability", room_id=_room_id(session, city, room), date=day)
    session.answer(f"The {room} is free at {', '.join(map(str, found['free_hours']))}.")


def _reserved(session: Session, city: str, seats: int, name: str, day: str) -> str | None:
    """The code of a reservation of the first free hour; None where no room is large enough."""
    found = session.call("find_meeting_rooms", city=city, min_seats=seats)
    if not found:
        return None
    free = session.call("check_room_availability", room_id=found[0]["room_id"], date=day)["free_hours"]
    wish = {"room_id": found[0]["room_id"], "date": day, "from_hour": free[0], "hours": 1, "guest_name": name}
    return session.call("reserve_room", **wish)["reservation_code"]


def _book(session: Session, city: str, seats: int, name: str, day: str, hour: int) -> None:
    del hour
    code = _reserved(session, city, seats, name, day)
    if code is None:
        session.give_up()
    else:
        session.answer(f"Reserved: {code}.")


def _book_cancel(session: Session, city: str, seats: int, name: str, day: str, hour: int) -> None:
    del seats, hour
    code = _reserved(session, city, 1, name, day)
    found = session.call("cancel_reservation", reservation_code=code)
    session.answer(f"Reservation {code} is {found['status']}.")


def _four_days(session: Session, city: str, room: str) -> None:
    """The fourth look times out at first."""
    number = _room_id(session, city, room)
    days = [f"2026-05-{day}" for day in range(11, 15)]
    found = [session.call("check_room_availability", room_id=number, date=day) for day in days[:3]]
    found.append(session.at_second_try("check_room_availability", room_id=number, date=days[3]))
    free = [one["date"] for one in found if 9 in one["free_hours"]]
    session.answer(f"At 9 the {room} is free on {', '.join(free) or 'none of them'}.")
