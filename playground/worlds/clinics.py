"""Clinics of the cities, their doctors and the hours that these have free."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from playground.worlds import chance
from playground.worlds.clock import TODAY
from playground.worlds.geography import City, cities
from playground.worlds.money import CURRENCIES, convert
from playground.worlds.names import full_name

SPECIALTIES = ("general practice", "dentistry", "cardiology", "dermatology", "ophthalmology", "paediatrics")
_KINDS = ("{} Medical Centre", "{} Family Clinic", "Saint Brigid Hospital {}")
_HOURS = ("09:00", "09:40", "10:20", "11:00", "13:30", "14:10", "14:50", "15:30", "16:10")
DAYS = 14
"""How far ahead doctors can be booked."""


@dataclass(frozen=True, slots=True)
class Clinic:
    """``latitude`` and ``longitude`` in degrees."""

    clinic_id: str
    name: str
    city: City
    latitude: float
    longitude: float
    emergency: bool
    phone: str


@dataclass(frozen=True, slots=True)
class Doctor:
    """``fee`` of a consultation in the currency of the clinic's country."""

    doctor_id: str
    name: str
    clinic: Clinic
    specialty: str
    languages: tuple[str, ...]
    fee: float


@dataclass(frozen=True, slots=True)
class Slot:
    """An hour that a doctor has free, if nobody books it."""

    slot_id: str
    doctor: Doctor
    day: date
    time: str


@cache
def clinics() -> tuple[Clinic, ...]:
    """Two in each city; names are unique."""
    return tuple(_clinic(city, kind) for city in cities() for kind in chance.several(_KINDS, 2, "clinics", city.name))


@cache
def doctors() -> tuple[Doctor, ...]:
    """Two to four in each clinic. Names are unique within a clinic; a busy doctor works in more than one."""
    return tuple(
        _doctor(clinic, place) for clinic in clinics() for place in range(chance.between(2, 4, "doctors", clinic.name))
    )


def clinic_by_id(clinic_id: str) -> Clinic | None:
    """The clinic of that identifier."""
    return next((clinic for clinic in clinics() if clinic.clinic_id == clinic_id), None)


def doctor_by_id(doctor_id: str) -> Doctor | None:
    """The doctor of that identifier."""
    return next((doctor for doctor in doctors() if doctor.doctor_id == doctor_id), None)


def slots(doctor: Doctor, day: date) -> list[Slot]:
    """What a doctor has free on a day, by time; nothing at weekends, today, or later than ``DAYS`` ahead."""
    if day.weekday() > 4 or not TODAY < day <= TODAY + timedelta(days=DAYS):
        return []
    hours = chance.several(_HOURS, chance.between(0, 5, "free", doctor.doctor_id, day), "hours", doctor.doctor_id, day)
    return [Slot(_slot_id(doctor, day, hour), doctor, day, hour) for hour in sorted(hours)]


def slot_by_id(slot_id: str) -> Slot | None:
    """The slot of that identifier, which names its doctor, its day and its time."""
    doctor_id, _, rest = slot_id.rpartition("-")
    doctor = doctor_by_id(doctor_id)
    if doctor is None:
        return None
    days = (TODAY + timedelta(days=ahead) for ahead in range(1, DAYS + 1))
    return next((slot for day in days for slot in slots(doctor, day) if slot.slot_id.endswith(f"-{rest}")), None)


def _slot_id(doctor: Doctor, day: date, hour: str) -> str:
    return f"{doctor.doctor_id}-{day:%m%d}{hour.replace(':', '')}"


def _clinic(city: City, kind: str) -> Clinic:
    name = kind.format(city.name)
    return Clinic(
        clinic_id=_uuid("clinic", name),
        name=name,
        city=city,
        latitude=round(city.latitude + 0.06 * (chance.unit("clat", name) - 0.5), 4),
        longitude=round(city.longitude + 0.06 * (chance.unit("clon", name) - 0.5), 4),
        emergency=chance.between(0, 2, "emergency", name) == 0,
        phone=f"{city.country.calling_code} {chance.between(100, 999, 'p', name)} {chance.between(1000, 9999, 'q', name)}",
    )


def _doctor(clinic: Clinic, place: int) -> Doctor:
    number = chance.number("doctor", clinic.name)
    specialty = (
        "general practice" if place == 0 else chance.several(SPECIALTIES[1:], 3, "fields", clinic.name)[place - 1]
    )
    pounds = (18 if place == 0 else 35) + chance.between(0, 40, "fee", clinic.name, place)
    return Doctor(
        doctor_id=f"dr{chance.identifier(6, 'doctor', clinic.name, place)}",
        name=f"Dr. {full_name('doctors', (number + 7 * place) % 200)}",
        clinic=clinic,
        specialty=specialty,
        languages=clinic.city.country.languages,
        fee=convert(pounds, CURRENCIES["AFP"], CURRENCIES[clinic.city.country.currency]),
    )


def _uuid(*keys: str) -> str:
    digits = chance.identifier(32, *keys)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
