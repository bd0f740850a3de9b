"""Accounts and invitations as the page needs them, for administrators."""

from datetime import datetime
from urllib.parse import urlencode, urlsplit, urlunsplit

from pydantic import BaseModel

from ui.client import Client, read, read_all
from ui.replies import User

PAGE = 50


class Account(User):
    """Somebody who may log in; ``disabled_at``: who may not, since then."""

    created_at: datetime | None = None
    disabled_at: datetime | None = None


class Invitation(BaseModel):
    """It makes one account of that role. ``secret``: shown once, where it was just made."""

    id: str
    role: str
    note: str = ""
    expires_at: datetime
    used_at: datetime | None = None
    secret: str = ""


class PasswordLink(BaseModel):
    """By which a user sets a new password. ``secret``: shown once."""

    secret: str
    expires_at: datetime


def link(page: str, name: str, secret: str) -> str:
    """The page's address with a secret that it takes up: ``invitation``, ``reset`` or ``answer``."""
    parts = urlsplit(page)
    return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", urlencode({name: secret}), ""))


def password_link(client: Client, account: str) -> PasswordLink:
    """A new one; earlier ones count no more."""
    return read(PasswordLink, client.send("POST", f"/users/{account}/password-link"))


def accounts(client: Client, after: str = "") -> list[Account]:
    """A page of them, in the order they came, those after an id."""
    params: dict[str, str | int] = {"limit": PAGE} | ({"after": after} if after else {})
    return read_all(Account, client.send("GET", "/users", params=params))


def accounts_named(client: Client, prefix: str) -> list[Account]:
    """Those that may log in and whose names begin so."""
    return read_all(Account, client.send("GET", "/user-names", params={"prefix": prefix, "limit": PAGE}))


def give_role(client: Client, account: str, role: str) -> None:
    """It counts at once; where it is a lesser one, runs end. Raises ServerError: nobody would be left who may administer."""
    client.send("PATCH", f"/users/{account}", json={"role": role})


def lock_out(client: Client, account: str, *, out: bool) -> None:
    """Sessions and runs end at once; or let it in again. Raises ServerError: as above."""
    client.send("PATCH", f"/users/{account}", json={"disabled": out})


def end_sessions(client: Client, account: str) -> None:
    """All of them, with those of programs; runs end."""
    client.send("DELETE", f"/users/{account}/sessions")


def invitations(client: Client) -> list[Invitation]:
    """All of them, the newest first."""
    return read_all(Invitation, client.send("GET", "/invitations"))


def invite(client: Client, role: str, note: str, days: int) -> Invitation:
    """A new one that counts so long, with its secret."""
    return read(Invitation, client.send("POST", "/invitations", json={"role": role, "note": note, "days": days}))


def withdraw(client: Client, invitation: str) -> None:
    """It makes no account any more."""
    client.send("DELETE", f"/invitations/{invitation}")
