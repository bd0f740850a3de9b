"""Health: coordinates first, then clinics, doctors, hours; medicines by their code."""

from collections.abc import Iterator
from typing import Any

from playground.scenarios.choice import told
from playground.scenarios.entities import Entries, some, town_entries, town_money, towns
from playground.session import Scenario, Session
from playground.worlds.drugs import drugs
from playground.worlds.names import full_name

_CLINICS = (
    "Which clinics are there in {city}?",
    "I am in {city} and do not feel well. Where is the nearest hospital?",
    "What is the phone number of a clinic in {city}?",
)
_POINT = (
    "Find a clinic near {latitude}, {longitude}.",
    "Is there a hospital around latitude {latitude}, longitude {longitude}?",
)
_DOCTORS = (
    "Which doctors work at the clinic nearest to the centre of {city}?",
    "I need a family doctor in {city}. Who is there?",
    "What does a consultation at the nearest clinic in {city} cost?",
)
_FEE = ("How much in {currency} is a visit to a general practitioner in {city}?",)
_SLOTS = (
    "When is a doctor free in {city} on {day}?",
    "Which appointments can I get with a general practitioner in {city} on {day}?",
)
_BOOK = (
    "Book {patient} an appointment with a doctor in {city} on {day}.",
    "{patient} needs to see a general practitioner in {city} on {day}. Please arrange it.",
)
_RELEASE = (
    "Book {patient} an appointment at the clinic nearest to {latitude}, {longitude} on {day} and cancel it again at once.",
    "Try whether one can book and then cancel a visit on {day} near {latitude}, {longitude}. The patient is {patient}.",
)
_CANCEL = ("Cancel my appointment {number}.",)
_LABEL = (
    "What are the side effects of {drug}?",
    "How much {drug} may I take a day?",
    "From what age can {drug} be taken?",
    "Do I need a prescription for {drug}?",
)
_MIXED = ("What must not be taken together with {drug}?", "Which medicines interact with {drug}?")
_HELPS = ("Which medicine helps against {condition}?", "What can I take for {condition}?")
_DOSE = ("What is the dose of the first medicine listed against {condition}?",)
_UNKNOWN = ("What are the side effects of {drug}?",)
_WEEKDAYS = ("2026-05-05", "2026-05-06", "2026-05-07", "2026-05-08", "2026-05-11", "2026-05-12")


def scenarios() -> Iterator[Scenario]:
    """All of this domain."""
    yield from told(_CLINICS, _clinics, town_entries(6, "clinics"))
    points = [{"latitude": one.latitude, "longitude": one.longitude} for one in towns(3, "points")]
    yield from told(_POINT, _point, [{**one} for one in points])
    yield from told(_DOCTORS, _doctors, town_entries(6, "doctors"))
    yield from told(_FEE, _fee, town_money(4, "fee"))
    yield from told(_SLOTS, _slots, _days(6, "slots"))
    patients = [{**one, "patient": full_name("guests", 370 + at)} for at, one in enumerate(_days(5, "book"))]
    yield from told(_BOOK, _book, [{**one} for one in patients])
    spots = zip(_days(4, "release"), towns(4, "release"), strict=True)
    tries = [{"latitude": one.latitude, "longitude": one.longitude, "day": entry["day"]} for entry, one in spots]
    yield from told(
        _RELEASE, _release, [{**one, "patient": full_name("guests", 380 + at)} for at, one in enumerate(tries)]
    )
    yield from told(_CANCEL, _cancel, [{"number": "APT-70012"}])
    yield from told(_LABEL, _label, _medicines(7, "label"))
    yield from told(_MIXED, _mixed, _medicines(4, "mixed"))
    yield from told(_HELPS, _helps, [{"condition": one} for one in ("hay fever", "bronchitis", "stomach ulcer")])
    yield from told(_DOSE, _dose, [{"condition": one} for one in ("back pain", "thrombosis", "hives")])
    yield from told(_UNKNOWN, _unknown, [{"drug": "Zzyzxol"}])


def _medicines(count: int, key: str) -> Entries:
    return [{"drug": drug.name} for drug in some(drugs(), lambda one: one.name, count, "drugs", key)]


def _days(count: int, key: str) -> Entries:
    return [{**one, "day": _WEEKDAYS[at % len(_WEEKDAYS)]} for at, one in enumerate(town_entries(count, key))]


def _near(session: Session, city: str) -> list[dict[str, Any]]:
    place = session.call("search_places", city=city)["results"][0]
    return session.call("clinicsNearby", lat=place["latitude"], lng=place["longitude"])["clinics"]


def _clinics(session: Session, city: str) -> None:
    session.answer(_told(_near(session, city)))


def _point(session: Session, latitude: float, longitude: float) -> None:
    session.answer(_told(session.call("clinicsNearby", lat=latitude, lng=longitude)["clinics"]))


def _practising(session: Session, city: str) -> list[dict[str, Any]]:
    return session.call("clinicDoctors", clinicId=_near(session, city)[0]["clinicId"])


def _doctors(session: Session, city: str) -> None:
    found = _practising(session, city)
    told_of = (f"{one['fullName']}, {one['specialty']}, {one['consultationFee']} {one['currency']}" for one in found)
    session.answer("; ".join(told_of) + ".")


def _fee(session: Session, city: str, currency: str) -> None:
    doctor = _practising(session, city)[0]
    paid = session.call(
        "convert_currency",
        from_currency=doctor["currency"],
        to_currency=currency,
        amount=doctor["consultationFee"],
    )
    session.answer(f"{doctor['fullName']} takes {paid['converted_amount']} {currency}.")


def _free(session: Session, city: str, day: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    doctor = _practising(session, city)[0]
    return doctor, session.call("doctorSlots", doctorId=doctor["doctorId"], date=day)["slots"]


def _slots(session: Session, city: str, day: str) -> None:
    doctor, free = _free(session, city, day)
    hours = ", ".join(slot["startsAt"][-5:] for slot in free) or "no hour"
    session.answer(f"{doctor['fullName']} has {hours} free on {day}.")


def _book(session: Session, city: str, day: str, patient: str) -> None:
    doctor, free = _free(session, city, day)
    if not free:
        session.give_up()
        return
    booked = session.call("bookAppointment", slotId=free[0]["slotId"], patientName=patient)
    session.answer(f"{patient} sees {doctor['fullName']} at {booked['startsAt']}: {booked['appointmentId']}.")


def _release(session: Session, latitude: float, longitude: float, day: str, patient: str) -> None:
    clinic = session.call("clinicsNearby", lat=latitude, lng=longitude)["clinics"][0]
    doctor = session.call("clinicDoctors", clinicId=clinic["clinicId"])[0]
    free = session.call("doctorSlots", doctorId=doctor["doctorId"], date=day)["slots"]
    if not free:
        session.give_up()
        return
    booked = session.call("bookAppointment", slotId=free[0]["slotId"], patientName=patient)
    ended = session.call("cancelAppointment", appointmentId=booked["appointmentId"])
    session.answer(f"{ended['appointmentId']} with {ended['doctorName']} was booked and is {ended['status']}.")


def _cancel(session: Session, number: str) -> None:
    session.fails("cancelAppointment", appointmentId=number)
    session.give_up()


def _code(session: Session, drug: str) -> str:
    return session.call("drug_lookup", name=drug)[0]["ndc_code"]


def _label(session: Session, drug: str) -> None:
    session.answer(_leaflet(session.call("drug_label", ndc_code=_code(session, drug))))


def _mixed(session: Session, drug: str) -> None:
    found = session.call("drug_interactions", ndc_code=_code(session, drug))["interactions"]
    session.answer(", ".join(f"{one['drug_name']} ({one['severity']})" for one in found) or "Nothing is known.")


def _helps(session: Session, condition: str) -> None:
    found = session.call("drug_lookup", indication=condition)
    session.answer(f"Against {condition}: " + ", ".join(one["drug_name"] for one in found) + ".")


def _dose(session: Session, condition: str) -> None:
    first = session.call("drug_lookup", indication=condition)[0]
    session.answer(_leaflet(session.call("drug_label", ndc_code=first["ndc_code"])))


def _unknown(session: Session, drug: str) -> None:
    session.call("drug_lookup", name=drug)
    session.give_up()


def _leaflet(label: dict[str, Any]) -> str:
    return (
        f"{label['drug_name']}: {label['single_dose_mg']} mg, {label['max_doses_per_day']} a day at most, from "
        f"{label['minimum_age_years']} years on; side effects: {', '.join(label['side_effects'])}; "
        f"{'on prescription' if label['prescription_only'] else 'no prescription needed'}."
    )


def _told(clinics: list[dict[str, Any]]) -> str:
    return "; ".join(f"{one['name']}, {one['distanceKm']} km, {one['phoneNumber']}" for one in clinics) + "."
