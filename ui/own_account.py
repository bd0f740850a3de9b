"""One's own account: its sessions, its password, how it reads the page, its end."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, SecretStr

from domain.model import JsonObject
from ui.client import Client, read, read_all
from ui.replies import User

_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
"""What stands in the ``User-Agent`` of a browser, and its name; the first that is found counts, since most name several."""


class Session(BaseModel):
    """Where one is logged in. ``current``: here; ``program``: by a token that a program has."""

    id: str
    label: str = ""
    created_at: datetime | None = None
    renewed_at: datetime | None = None
    expires_at: datetime | None = None
    current: bool = False
    program: bool = False
    scopes: tuple[str, ...] = ()


class ProgramToken(BaseModel):
    """What a program sends to be let in as this user; told once."""

    token: SecretStr
    expires_at: datetime | None = None


class Share(BaseModel):
    """``most`` None: there is no limit."""

    used: float = 0
    most: float | None = None


class Today(BaseModel):
    """What was used since midnight, UTC."""

    runs: Share = Share()
    tokens: Share = Share()


def used_today(client: Client) -> Today:
    """Of what this user may use in a day."""
    return read(Today, client.send("GET", "/me/usage"))


def sessions(client: Client) -> list[Session]:
    """Those that count, the newest first."""
    return read_all(Session, client.send("GET", "/me/sessions"))


def end_session(client: Client, session: str) -> None:
    """Log out there."""
    client.send("DELETE", f"/me/sessions/{session}")


def end_others(client: Client) -> None:
    """Log out everywhere but here."""
    client.send("DELETE", "/me/sessions")


def make_token(client: Client, label: str, days: int, scopes: Sequence[str]) -> ProgramToken:
    """For a program of this user's; it is ended as a session is."""
    body: JsonObject = {"label": label, "days": days, "scopes": [*scopes]}
    return read(ProgramToken, client.send("POST", "/me/tokens", json=body))


def change_password(client: Client, old: str, new: str) -> None:
    """Other sessions end. Raises ServerError: the old one is wrong, or the new one may not be used."""
    client.send("POST", "/me/password", json={"old": old, "new": new})


def prefer(client: Client, language: str | None) -> None:
    """Keep in which language this user reads the page; None: as each browser says."""
    client.account.user = read(User, client.send("PATCH", "/me", json={"language": language}))


def remove_account(client: Client, password: str) -> None:
    """With all that is this user's. Raises ServerError: the password is wrong, or nobody would be left who may administer."""
    client.send("DELETE", "/me", json={"password": password})


def browser_named(agent: str) -> str:
    """``Firefox on Linux``, out of what a browser says of itself; empty where it says nothing that is known."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    return " on ".join(filter(None, (browser, system)))
