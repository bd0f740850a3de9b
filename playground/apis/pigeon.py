"""Pigeon: an address book, and short messages to those in it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.state import record_effect, state_of
from playground.worlds import chance
from playground.worlds.contacts import Contact, contact_by_id, contacts_named

router = APIRouter(prefix="/pigeon", tags=["Communication"])
_CONTACT = refusals(e404="No contact has this identifier.")


class ContactHit(BaseModel):
    """A contact in a list."""

    contact_id: str = Field(description="Identifier of the contact.", examples=["con_8d20e4b7"])
    full_name: str = Field(description="Name.", examples=["Dagny Iversholt"])


class ContactCard(ContactHit):
    """A contact."""

    phone_number: str = Field(description="Telephone number.", examples=["+801 5550123"])
    email_address: str = Field(description="E-mail address.", examples=["dagny@oskvik.example"])
    home_city: str = Field(description="City where the contact lives.", examples=["Oskvik"])
    employer: str = Field(description="Organisation the contact works for.", examples=["University of Oskvik"])


class Outgoing(BaseModel):
    """A message to send."""

    contact_id: str = Field(description="Whom to send it to.", examples=["con_8d20e4b7"])
    text: str = Field(min_length=1, max_length=500, description="The message.", examples=["See you at nine."])


class SentMessage(BaseModel):
    """A message."""

    message_id: str = Field(description="Identifier of the message.", examples=["msg_31c8aa02"])
    to_name: str = Field(description="Whom it was sent to.", examples=["Dagny Iversholt"])
    delivery: Literal["queued", "delivered"] = Field(description="How far it is.", examples=["queued"])
    segments: int = Field(description="Number of parts of 160 characters.", examples=[1])


@router.get("/contacts", operation_id="find_contact", summary="Search contacts")
async def find_contact(
    name: Annotated[str, Query(min_length=2, description="Name, or part of it.", examples=["Dagny Iversholt"])],
) -> list[ContactHit]:
    """Find people in your address book by name."""
    return [ContactHit(contact_id=one.contact_id, full_name=one.name) for one in contacts_named(name)[:10]]


@router.get("/contacts/{contact_id}", operation_id="get_contact", summary="Contact card", responses=_CONTACT)
async def get_contact(
    contact_id: Annotated[str, Path(description="Identifier of the contact.", examples=["con_8d20e4b7"])],
) -> ContactCard:
    """The card of a contact: telephone number, e-mail address, home city, employer."""
    contact = _contact(contact_id)
    return ContactCard(
        contact_id=contact_id,
        full_name=contact.name,
        phone_number=contact.phone,
        email_address=contact.person.email,
        home_city=contact.person.organization.city.name,
        employer=contact.person.organization.name,
    )


@router.post("/messages", operation_id="send_message", summary="Send a message", status_code=202, responses=_CONTACT)
async def send_message(request: Request, message: Outgoing) -> SentMessage:
    """Send a short text message to one of your contacts."""
    contact = _contact(message.contact_id)
    effect = record_effect(request, message.model_dump())
    sent = SentMessage(
        message_id=f"msg_{chance.identifier(8, 'message', effect.at_seq)}",
        to_name=contact.name,
        delivery="queued",
        segments=-(-len(message.text) // 160),
    )
    state_of(request).table(SentMessage)[sent.message_id] = sent
    return sent


@router.get(
    "/messages/{message_id}",
    operation_id="get_message_status",
    summary="Delivery status",
    responses=refusals(e404="No message has this identifier."),
)
async def get_message_status(
    request: Request,
    message_id: Annotated[str, Path(description="Identifier of the message.", examples=["msg_31c8aa02"])],
) -> SentMessage:
    """Whether a message has been delivered."""
    sent = state_of(request).table(SentMessage).get(message_id)
    if sent is None:
        refuse(404, f"No such message: {message_id}.")
    return sent.model_copy(update={"delivery": "delivered"})


def _contact(contact_id: str) -> Contact:
    found = contact_by_id(contact_id)
    if found is None:
        refuse(404, f"No such contact: {contact_id}.")
    return found


SERVICE = Service(router, "Pigeon", "Contacts and text messages.")
