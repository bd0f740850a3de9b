"""The port of Kestrel Bay: an API that Footpath has never seen. Six operations, nested bodies, a key in a header, no example anywhere."""

from collections.abc import Generator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import APIKeyHeader
from pydantic import BaseModel, Field

from tests.support.loopback import serving

KEY = "kestrel-5521-key"
KEY_NAME = "APIKeyHeader"
"""As its document calls it."""
T = TypeVar("T")
_header = APIKeyHeader(name="X-Harbour-Key")


class Berth(BaseModel):
    """A place at the quay."""

    number: int
    quay: str
    length_m: int
    shore_power: bool


class Ship(BaseModel):
    """A ship in the register."""

    imo: int
    name: str
    length_m: int


class Stay(BaseModel):
    """The days of a stay."""

    arrival: date = Field(description="The day on which the ship arrives")
    nights: int = Field(ge=1, le=30, description="How many nights it stays")


class Contact(BaseModel):
    """Who is called when something is wrong."""

    name: str
    phone: str = ""


class Wanted(BaseModel):
    """A booking as it is asked for."""

    imo: int = Field(description="IMO number of the ship")
    berth: int = Field(description="Number of the berth")
    stay: Stay
    contact: Contact


class Booking(Wanted):
    """A booking as it is kept."""

    reference: str


BERTHS = [
    Berth(number=1, quay="North Mole", length_m=60, shore_power=False),
    Berth(number=2, quay="North Mole", length_m=110, shore_power=True),
    Berth(number=7, quay="Customs Quay", length_m=180, shore_power=True),
]
SHIPS = [Ship(imo=9074729, name="Aurora", length_m=98), Ship(imo=9321483, name="Petrel", length_m=41)]


@dataclass
class Harbour:
    """A running port. ``bookings``: what was really booked; ``cancelled``: references that were given up; ``calls``: how many came with the key.
    ``wants_flag``: its document says that a ship is found by its flag, too.
    """

    address: str = ""
    bookings: dict[str, Booking] = field(default_factory=dict[str, Booking])
    cancelled: list[str] = field(default_factory=list[str])
    calls: int = 0
    wants_flag: bool = False

    def let_in(self, key: Annotated[str, Depends(_header)]) -> None:
        if key != KEY:
            raise HTTPException(401, "this key opens nothing here")
        self.calls += 1


def application(harbour: Harbour) -> FastAPI:
    """The API with its document at ``/openapi.json``."""
    app = FastAPI(title="Kestrel Bay Port", version="3.1", dependencies=[Depends(harbour.let_in)])

    @app.get("/berths", operation_id="list_berths")
    def list_berths(min_length_m: int = 0) -> list[Berth]:
        """List the berths of the port with their quay, their length in metres and whether they have shore power."""
        return [one for one in BERTHS if one.length_m >= min_length_m]

    @app.get("/ships", operation_id="find_ship")
    def find_ship(name: str) -> Ship:
        """Find a ship in the port's register by its name; answers its IMO number and its length in metres."""
        return _found(next((one for one in SHIPS if one.name.lower() == name.lower()), None), "ship of that name")

    @app.get("/berths/{number}/occupancy", operation_id="berth_occupancy")
    def berth_occupancy(number: int) -> dict[str, Any]:
        """Tell on which days a berth is taken, by the number of the berth."""
        taken = [one.stay for one in harbour.bookings.values() if one.berth == number]
        return {"berth": number, "taken": taken}

    @app.post("/bookings", operation_id="book_berth", status_code=201)
    def book_berth(wanted: Wanted) -> Booking:
        """Book a berth of the port for a ship, from the day it arrives and for some nights; answers the booking's reference."""
        reference = f"KB-{len(harbour.bookings) + 1:04d}"
        harbour.bookings[reference] = Booking(reference=reference, **wanted.model_dump())
        return harbour.bookings[reference]

    @app.get("/bookings/{reference}", operation_id="read_booking")
    def read_booking(reference: str) -> Booking:
        """Read a berth booking by its reference: the ship, the berth and the days of its stay."""
        return _found(harbour.bookings.get(reference), "booking of that reference")

    @app.delete("/bookings/{reference}", operation_id="cancel_booking")
    def cancel_booking(reference: str) -> dict[str, str]:
        """Cancel a berth booking by its reference; the berth is free again."""
        _found(harbour.bookings.pop(reference, None), "booking of that reference")
        harbour.cancelled.append(reference)
        return {"cancelled": reference}

    written = app.openapi()

    def document() -> dict[str, Any]:
        """As it is now; FastAPI asks for it each time."""
        if not harbour.wants_flag:
            return written
        changed = deepcopy(written)
        flag = {
            "name": "flag",
            "in": "query",
            "required": True,
            "schema": {"type": "string", "description": "Its flag"},
        }
        changed["paths"]["/ships"]["get"]["parameters"].append(flag)
        return changed

    app.openapi = document
    return app


def _found(one: T | None, what: str) -> T:
    if one is None:
        raise HTTPException(404, f"there is no {what}")
    return one


@contextmanager
def harbour_in_thread() -> Generator[Harbour]:
    """The port on a free port of loopback, for the time of a block."""
    harbour = Harbour()
    with serving(application(harbour)) as address:
        harbour.address = address
        yield harbour
