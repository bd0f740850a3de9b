"""Answers that are shared by a link: made, taken back, read."""

from datetime import datetime

from pydantic import BaseModel, Field, SecretStr

from domain.model import JsonObject
from domain.tool import ToolId
from ui.client import Client, read, read_all

DAYS = (1, 7, 30)
"""For so many a link can count."""


class SharedAnswer(BaseModel):
    """One of one's own. ``secret``: of a link that was just made; the server tells it this once."""

    id: str
    run_id: str = ""
    request: str = ""
    with_calls: bool = False
    created_at: datetime | None = None
    expires_at: datetime | None = None
    secret: SecretStr = SecretStr("")


class SharedCall(BaseModel):
    """``arguments`` and ``response``: None where they are not shared."""

    tool: ToolId
    status: str = ""
    arguments: JsonObject | None = None
    response: str | None = None


class ReadAnswer(BaseModel):
    """What a link shows. ``withheld``: so many of its tools are not for the reader, and what rests on them is not told."""

    owner: str
    request: str
    outcome: str | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    answer: str = ""
    programs: list[str] = Field(default_factory=list[str])
    calls: list[SharedCall] = Field(default_factory=list[SharedCall])
    withheld: int = 0


def share(client: Client, run: str, days: int, *, with_calls: bool) -> SharedAnswer:
    """Make a link. Raises ServerError: the run has not ended, or too much is shared."""
    body = {"days": days, "with_calls": with_calls}
    return read(SharedAnswer, client.send("POST", f"/runs/{run}/shared", json=body))


def shared_answers(client: Client) -> list[SharedAnswer]:
    """One's own that count, the newest first."""
    return read_all(SharedAnswer, client.send("GET", "/me/shared"))


def take_back(client: Client, shared: str) -> None:
    """From now on the link leads nowhere."""
    client.send("DELETE", f"/me/shared/{shared}")


def read_shared(client: Client, secret: str) -> ReadAnswer:
    """What somebody shares. Raises ServerError (404): the link leads nowhere any more."""
    return read(ReadAnswer, client.send("GET", f"/shared/{secret}"))
