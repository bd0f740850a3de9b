"""What stands in the calendar and on the task list before anybody changes it."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.geography import City, cities
from playground.worlds.scholars import Scholar, scholars

_EVENTS = (
    "Budget review", "Field trip briefing", "Grant interview", "Harbour tour", "Keynote rehearsal", "Library opening",
    "Museum visit", "Orchestra evening", "Partner lunch", "Poster session", "Press breakfast", "Quarterly planning",
    "Reading circle", "Site inspection", "Summer school", "Thesis defence", "Vendor meeting", "Winter gala",
)  # fmt: skip
_TASKS = (
    "Book the ferry", "Call the printer", "Check the invoices", "Draft the agenda", "Renew the passport",
    "Order new badges", "Pay the deposit", "Proofread the brochure", "Return the projector", "Review the contract",
    "Send the invitations", "Translate the leaflet", "Update the address list", "Write the minutes",
)  # fmt: skip
PRIORITIES = ("low", "normal", "high")
STATES = ("open", "in_progress", "done")


@dataclass(frozen=True, slots=True)
class Entry:
    """An event; ``start`` is local time at its place."""

    event_id: str
    title: str
    start: datetime
    minutes: int
    city: City
    guests: tuple[Scholar, ...]


@dataclass(frozen=True, slots=True)
class Errand:
    task_id: str
    title: str
    due: date
    priority: str
    state: str


@cache
def entries() -> tuple[Entry, ...]:
    """All events, in order of time; titles are unique."""
    return tuple(sorted((_entry(title) for title in _EVENTS), key=lambda one: (one.start, one.title)))


@cache
def errands() -> tuple[Errand, ...]:
    """All tasks, the one due first first; titles are unique."""
    return tuple(sorted((_errand(title) for title in _TASKS), key=lambda one: (one.due, one.title)))


def _entry(title: str) -> Entry:
    day = TODAY + timedelta(days=chance.between(1, 60, "event day", title))
    start = time(chance.between(8, 18, "event hour", title), chance.pick((0, 15, 30), "event minute", title))
    return Entry(
        event_id=f"evt_{chance.identifier(8, 'event', title)}",
        title=title,
        start=datetime.combine(day, start),
        minutes=30 * chance.between(1, 8, "event length", title),
        city=chance.pick(cities(), "event city", title),
        guests=tuple(chance.several(scholars(), chance.between(1, 4, "guests", title), "guest", title)),
    )


def _errand(title: str) -> Errand:
    return Errand(
        task_id=f"tsk_{chance.identifier(8, 'task', title)}",
        title=title,
        due=TODAY + timedelta(days=chance.between(-5, 30, "task day", title)),
        priority=chance.pick(PRIORITIES, "priority", title),
        state=chance.pick(STATES, "state", title),
    )
