"""Clinics, doctors, slots and appointments; medicines that do not go together, whichever comes first."""

from datetime import date, timedelta
from typing import get_args

import httpx
import pytest

from playground.apis.carecompass import Specialty
from playground.worlds import clinics, drugs
from playground.worlds.clock import TODAY
from playground.worlds.distance import great_circle
from tests.unit.playground.asking import effects, get, post

SLOT = next(
    slot
    for doctor in clinics.doctors()
    for ahead in range(1, 5)
    for slot in clinics.slots(doctor, TODAY + timedelta(days=ahead))
)
WISH = {"slotId": SLOT.slot_id, "patientName": "Dagny Iversholt", "reason": "check-up"}
SLOTS = f"/carecompass/doctors/{SLOT.doctor.doctor_id}/slots"


def test_names_and_identifiers_are_unique() -> None:
    for values in (
        [one.name for one in clinics.clinics()],
        [one.clinic_id for one in clinics.clinics()],
        [one.doctor_id for one in clinics.doctors()],
        [(one.clinic.name, one.name) for one in clinics.doctors()],
        [one.name for one in drugs.drugs()],
        [one.drug_id for one in drugs.drugs()],
    ):
        assert len(set(values)) == len(values)
    assert get_args(Specialty) == clinics.SPECIALTIES


def test_every_slot_is_found_by_its_identifier() -> None:
    for doctor in clinics.doctors()[:40]:
        for ahead in range(1, clinics.DAYS + 1):
            for slot in clinics.slots(doctor, TODAY + timedelta(days=ahead)):
                assert clinics.slot_by_id(slot.slot_id) == slot
    for wrong in ("", "dr0-05061020", f"{SLOT.doctor.doctor_id}-02300000", SLOT.slot_id + "0"):
        assert clinics.slot_by_id(wrong) is None


@pytest.mark.parametrize("day", [TODAY, date(2026, 5, 9), date(2026, 5, 10), TODAY + timedelta(days=15)])
def test_no_doctor_is_free_today_at_weekends_or_much_later(day: date) -> None:
    assert not [slot for doctor in clinics.doctors() for slot in clinics.slots(doctor, day)]


async def test_clinics_come_by_distance(client: httpx.AsyncClient) -> None:
    city = SLOT.doctor.clinic.city
    spot = {"lat": city.latitude, "lng": city.longitude}
    near = (await get(client, "/carecompass/clinics/nearby", **spot))["clinics"]
    assert {one["city"] for one in near} == {city.name}
    assert [one["distanceKm"] for one in near] == sorted(one["distanceKm"] for one in near)
    far = (await get(client, "/carecompass/clinics/nearby", **spot, radiusKm=200))["total"]
    assert far >= len(near) == 2
    hearts = await get(client, "/carecompass/clinics/nearby", **spot, radiusKm=200, specialty="cardiology")
    for clinic in hearts["clinics"]:
        path = f"/carecompass/clinics/{clinic['clinicId']}/doctors"
        assert await get(client, path, specialty="cardiology")


def test_distances_are_of_the_globe() -> None:
    assert great_circle(0, 0, 0, 90) == pytest.approx(10_007.5, abs=1)
    assert great_circle(10, 179.5, 10, -179.5) == pytest.approx(109.5, abs=0.5)
    assert great_circle(58.2, 11.6, 58.2, 11.6) == 0


async def test_a_booked_slot_is_gone_until_it_is_cancelled(client: httpx.AsyncClient) -> None:
    day = SLOT.day.isoformat()
    before = (await get(client, SLOTS, date=day))["slots"]
    assert SLOT.slot_id in {one["slotId"] for one in before}
    booked = await post(client, "/carecompass/appointments", WISH)
    assert booked["startsAt"] == f"{day}T{SLOT.time}"
    assert (await client.post("/carecompass/appointments", json=WISH)).status_code == 409
    assert SLOT.slot_id not in {one["slotId"] for one in (await get(client, SLOTS, date=day))["slots"]}
    path = f"/carecompass/appointments/{booked['appointmentId']}"
    assert (await client.delete(path)).json()["status"] == "cancelled"
    assert (await client.delete(path)).status_code == 409
    assert (await get(client, SLOTS, date=day))["slots"] == before
    assert [one["tool"] for one in await effects(client)] == ["bookAppointment", "cancelAppointment"]


@pytest.mark.parametrize(
    ("change", "status"), [({"slotId": "dr0-05061020"}, 404), ({"patientName": "D"}, 422), ({"reason": "x" * 201}, 422)]
)
async def test_an_impossible_appointment_changes_nothing(
    client: httpx.AsyncClient, change: dict[str, str], status: int
) -> None:
    response = await client.post("/carecompass/appointments", json=WISH | change)
    assert response.status_code == status
    assert (await client.delete("/carecompass/appointments/APT-00009")).status_code == 404
    assert await effects(client) == []


async def test_interactions_are_mutual(client: httpx.AsyncClient) -> None:
    known: set[tuple[str, str, str]] = set()
    for drug in drugs.drugs():
        found = (await get(client, f"/medilex/drugs/{drug.drug_id}/interactions"))["interactions"]
        known |= {(drug.name, one["drug_name"], one["severity"]) for one in found}
    assert known
    assert all((other, one, severity) in known for one, other, severity in known)
    assert all(one != other for one, other, _ in known)


async def test_a_medicine_is_found_by_name_and_by_what_it_treats(client: httpx.AsyncClient) -> None:
    for drug in drugs.drugs():
        (hit,) = await get(client, "/medilex/drugs", name=drug.name)
        label = await get(client, f"/medilex/drugs/{hit['ndc_code']}/label")
        assert label["indications"] == list(drug.treats)
        same = await get(client, "/medilex/drugs", indication=drug.treats[0])
        assert hit in same
        assert {one["drug_class"] for one in same} == {drug.kind}


@pytest.mark.parametrize(
    "path", ["/carecompass/clinics/0/doctors", "/carecompass/doctors/dr0/slots?date=2026-05-06",
             "/medilex/drugs/NDC0/label", "/medilex/drugs/NDC0/interactions"],
)  # fmt: skip
async def test_refusals_say_why(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 404
    assert response.json()["detail"]
