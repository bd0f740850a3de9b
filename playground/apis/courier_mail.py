"""Courier Mail: electronic mail. Wants a bearer token: 401 without one, 403 with one that it does not know."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from playground.apis.service import Service, refusals, refuse
from playground.keys import COURIER_MAIL
from playground.state import record_effect, state_of
from playground.worlds import chance

Address = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$", max_length=200)]
_token = HTTPBearer(
    scheme_name="CourierMailToken",
    auto_error=False,
    description=f"Access token of your mailbox. For tests: `{COURIER_MAIL}`.",
)


def _mailbox(token: Annotated[HTTPAuthorizationCredentials | None, Security(_token)]) -> None:
    if token is None:
        refuse(401, "A bearer token is needed in the header Authorization.", {"WWW-Authenticate": "Bearer"})
    if token.credentials != COURIER_MAIL:
        refuse(403, "This token opens no mailbox.")


router = APIRouter(prefix="/courier-mail", tags=["Communication"], dependencies=[Depends(_mailbox)])
_KEY = refusals(e401="No token was sent.", e403="The token opens no mailbox.")


class Draft(BaseModel):
    """An e-mail to send."""

    to: list[Address] = Field(
        min_length=1, max_length=20, description="Addresses of the recipients.", examples=[["dagny@oskvik.example"]]
    )
    subject: str = Field(min_length=1, max_length=200, description="Subject line.", examples=["Agenda for Monday"])
    body: str = Field(max_length=20_000, description="Plain text of the mail.", examples=["Please find it below."])


class Mail(BaseModel):
    """An e-mail that was sent."""

    mail_id: str = Field(description="Identifier of the mail.", examples=["mail_5f70c3d1"])
    subject: str = Field(description="Subject line.", examples=["Agenda for Monday"])
    recipients: int = Field(description="Number of addresses that it went to.", examples=[1])


class Mailbox(BaseModel):
    """A mailbox."""

    address: str = Field(description="Its address.", examples=["me@courier.example"])
    sent: list[Mail]


@router.post("/send", operation_id="send_email", summary="messages.send", status_code=201, responses=_KEY)
async def send_email(request: Request, draft: Draft) -> Mail:
    """Sends an e-mail immediately. There is no undo. Requires scope `mail.send`."""
    effect = record_effect(request, draft.model_dump())
    mail_id = f"mail_{chance.identifier(8, 'mail', effect.at_seq)}"
    mail = Mail(mail_id=mail_id, subject=draft.subject, recipients=len(draft.to))
    state_of(request).table(Mail)[mail_id] = mail
    return mail


@router.get("/mailbox", operation_id="get_mailbox", summary="mailbox.get", responses=_KEY)
async def get_mailbox(request: Request) -> Mailbox:
    """Your own address and what you have sent. Requires scope `mail.read`."""
    return Mailbox(address="me@courier.example", sent=list(state_of(request).table(Mail).values()))


@router.get(
    "/sent/{mail_id}",
    operation_id="get_sent_email",
    summary="messages.get",
    responses=_KEY | refusals(e404="No mail has this identifier."),
)
async def get_sent_email(
    request: Request,
    mail_id: Annotated[str, Path(description="Identifier of the mail.", examples=["mail_5f70c3d1"])],
) -> Mail:
    """One mail that was sent. Requires scope `mail.read`."""
    mail = state_of(request).table(Mail).get(mail_id)
    if mail is None:
        refuse(404, f"No such mail: {mail_id}.")
    return mail


SERVICE = Service(router, "Courier Mail", "E-mail for programs. Bring your own mailbox token.")
