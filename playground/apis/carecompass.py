"""CareCompass: clinics near a place, their doctors, and appointments with them."""

from datetime import date
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from playground.apis.service import Service, refusals, refuse
from playground.apis.shapes import CamelBody
from playground.state import record_effect, state_of
from playground.worlds import clinics
from playground.worlds.distance import great_circle

router = APIRouter(prefix="/carecompass", tags=["Health"])
Specialty = Literal[
    "general practice", "dentistry", "cardiology", "dermatology", "ophthalmology", "paediatrics"
]  # fmt: skip
"""``clinics.SPECIALTIES``, written out for the OpenAPI document (a test compares them)."""


class NearbyClinic(CamelBody):
    """A clinic and how far it is."""

    clinic_id: str = Field(description="UUID of the clinic.", examples=["5f0c2b1e-77aa-41de-9c41-d7e23f1c09aa"])
    name: str = Field(examples=["Velmora Medical Centre"])
    city: str = Field(examples=["Velmora"])
    distance_km: float = Field(description="Distance from the given point.", examples=[2.4])
    has_emergency_room: bool = Field(examples=[False])
    phone_number: str = Field(examples=["+801 555 1234"])


class NearbyClinics(CamelBody):
    """Clinics around a point, the nearest first."""

    total: int = Field(examples=[2])
    clinics: list[NearbyClinic]


class DoctorEntry(CamelBody):
    """A doctor of a clinic."""

    doctor_id: str = Field(description="Identifier of the doctor.", examples=["dr440c8b"])
    full_name: str = Field(examples=["Dr. Dagny Aldermoor"])
    specialty: str = Field(examples=["dentistry"])
    languages: list[str] = Field(examples=[["Veldanian"]])
    consultation_fee: float = Field(description="Price of a consultation.", examples=[412.5])
    currency: str = Field(examples=["VDK"])


class FreeSlot(CamelBody):
    """When a doctor is free."""

    slot_id: str = Field(description="Identifier to book the slot with.", examples=["dr440c8b-05061020"])
    starts_at: str = Field(description="Local time of the clinic.", examples=["2026-05-06T10:20"])


class FreeSlots(CamelBody):
    """The free slots of a doctor on a day."""

    doctor_id: str = Field(examples=["dr440c8b"])
    date: str = Field(examples=["2026-05-06"])
    slots: list[FreeSlot]


class AppointmentRequest(CamelBody):
    """Who comes when, and why."""

    slot_id: str = Field(description="Slot to be booked.", examples=["dr440c8b-05061020"])
    patient_name: str = Field(min_length=3, description="Full name of the patient.", examples=["Ileana Rosenthorn"])
    reason: str | None = Field(default=None, max_length=200, description="Reason for the visit.", examples=["check-up"])


class Appointment(CamelBody):
    """A booked appointment."""

    appointment_id: str = Field(description="Identifier of the appointment.", examples=["APT-00001"])
    status: str = Field(description="booked or cancelled", examples=["booked"])
    slot_id: str = Field(examples=["dr440c8b-05061020"])
    doctor_name: str = Field(examples=["Dr. Dagny Aldermoor"])
    clinic_name: str = Field(examples=["Velmora Medical Centre"])
    patient_name: str = Field(examples=["Ileana Rosenthorn"])
    starts_at: str = Field(examples=["2026-05-06T10:20"])


@router.get("/clinics/nearby", operation_id="clinicsNearby", summary="Clinics near a location")
async def clinics_nearby(
    lat: Annotated[float, Query(ge=-90, le=90, description="Latitude (WGS84)", examples=[58.2])],
    lng: Annotated[float, Query(ge=-180, le=180, description="Longitude (WGS84)", examples=[11.6])],
    radius_km: Annotated[float, Query(alias="radiusKm", gt=0, le=200, description="Search radius in kilometres")] = 15,
    specialty: Annotated[Specialty | None, Query(description="Only clinics with such a doctor")] = None,
) -> NearbyClinics:
    """Find hospitals and clinics around a coordinate, sorted by distance."""
    found = [
        (round(great_circle(lat, lng, clinic.latitude, clinic.longitude), 1), clinic)
        for clinic in clinics.clinics()
        if specialty is None or any(one.clinic is clinic and one.specialty == specialty for one in clinics.doctors())
    ]
    near = sorted((pair for pair in found if pair[0] <= radius_km), key=lambda pair: pair[0])
    return NearbyClinics(total=len(near), clinics=[_nearby(distance, clinic) for distance, clinic in near])


@router.get(
    "/clinics/{clinicId}/doctors",
    operation_id="clinicDoctors",
    summary="Doctors of a clinic",
    responses=refusals(e404="Clinic not found"),
)
async def clinic_doctors(
    clinic_id: Annotated[
        str, Path(alias="clinicId", description="Clinic UUID", examples=["5f0c2b1e-77aa-41de-9c41-d7e23f1c09aa"])
    ],
    specialty: Annotated[Specialty | None, Query(description="Only doctors of this specialty")] = None,
) -> list[DoctorEntry]:
    """List the physicians practising at a clinic with specialty, languages and consultation fee."""
    clinic = clinics.clinic_by_id(clinic_id)
    if clinic is None:
        refuse(404, f"Clinic not found: {clinic_id}.")
    return [_entry(one) for one in clinics.doctors() if one.clinic is clinic and specialty in (None, one.specialty)]


@router.get(
    "/doctors/{doctorId}/slots",
    operation_id="doctorSlots",
    summary="Open appointment slots",
    responses=refusals(e404="Doctor not found"),
)
async def doctor_slots(
    request: Request,
    doctor_id: Annotated[str, Path(alias="doctorId", description="Doctor identifier", examples=["dr440c8b"])],
    day: Annotated[date, Query(alias="date", description="Day of the visit (ISO 8601)", examples=["2026-05-06"])],
) -> FreeSlots:
    """Open appointment slots of a doctor on a given day, up to two weeks ahead. Booked slots disappear."""
    doctor = clinics.doctor_by_id(doctor_id)
    if doctor is None:
        refuse(404, f"Doctor not found: {doctor_id}.")
    taken = {one.slot_id for one in state_of(request).table(Appointment).values() if one.status == "booked"}
    free = [
        FreeSlot(slot_id=slot.slot_id, starts_at=_moment(slot))
        for slot in clinics.slots(doctor, day)
        if slot.slot_id not in taken
    ]
    return FreeSlots(doctor_id=doctor_id, date=day.isoformat(), slots=free)


@router.post(
    "/appointments",
    operation_id="bookAppointment",
    summary="Book an appointment",
    responses=refusals(e404="Slot not found", e409="Slot already taken"),
)
async def book_appointment(request: Request, wanted: AppointmentRequest) -> Appointment:
    """Book an open slot for a patient. The clinic is notified immediately."""
    slot = clinics.slot_by_id(wanted.slot_id)
    if slot is None:
        refuse(404, f"Slot not found: {wanted.slot_id}.")
    kept = state_of(request).table(Appointment)
    if any(one.slot_id == slot.slot_id and one.status == "booked" for one in kept.values()):
        refuse(409, f"Slot {slot.slot_id} is already taken. Choose another one.")
    effect = record_effect(request, wanted.model_dump(mode="json", by_alias=True))
    appointment = Appointment(
        appointment_id=f"APT-{effect.at_seq:05}",
        status="booked",
        slot_id=slot.slot_id,
        doctor_name=slot.doctor.name,
        clinic_name=slot.doctor.clinic.name,
        patient_name=wanted.patient_name,
        starts_at=_moment(slot),
    )
    kept[appointment.appointment_id] = appointment
    return appointment


@router.delete(
    "/appointments/{appointmentId}",
    operation_id="cancelAppointment",
    summary="Cancel an appointment",
    responses=refusals(e404="Appointment not found", e409="Appointment was cancelled before"),
)
async def cancel_appointment(
    request: Request,
    appointment_id: Annotated[
        str, Path(alias="appointmentId", description="Appointment identifier", examples=["APT-00001"])
    ],
) -> Appointment:
    """Cancel a booked appointment and release its slot."""
    kept = state_of(request).table(Appointment)
    appointment = kept.get(appointment_id)
    if appointment is None:
        refuse(404, f"Appointment not found: {appointment_id}.")
    if appointment.status == "cancelled":
        refuse(409, f"Appointment {appointment_id} was cancelled before.")
    record_effect(request, {"appointmentId": appointment_id})
    kept[appointment_id] = appointment.model_copy(update={"status": "cancelled"})
    return kept[appointment_id]


def _nearby(distance: float, clinic: clinics.Clinic) -> NearbyClinic:
    return NearbyClinic(
        clinic_id=clinic.clinic_id,
        name=clinic.name,
        city=clinic.city.name,
        distance_km=distance,
        has_emergency_room=clinic.emergency,
        phone_number=clinic.phone,
    )


def _entry(doctor: clinics.Doctor) -> DoctorEntry:
    return DoctorEntry(
        doctor_id=doctor.doctor_id,
        full_name=doctor.name,
        specialty=doctor.specialty,
        languages=list(doctor.languages),
        consultation_fee=doctor.fee,
        currency=doctor.clinic.city.country.currency,
    )


def _moment(slot: clinics.Slot) -> str:
    return f"{slot.day.isoformat()}T{slot.time}"


SERVICE = Service(router, "CareCompass", "Find care close to you: clinics, doctors and appointments.")
