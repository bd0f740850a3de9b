"""The audit log as the page needs it, for administrators."""

from datetime import UTC, date, datetime, time, timedelta

from pydantic import BaseModel, Field, JsonValue

from domain.model import JsonObject
from ui.client import Client, read, read_all
from ui.language import message, say

PAGE = 50
VIA = {
    "session": message("logged in"),
    "token": message("a program's token"),
    "command": message("a command on the server"),
}
_CHANGE = "change_user"
_STATES = frozenset({"disabled", "enabled", "online", "shared"})
"""Of these a no is told, too: it is what was changed."""


class Entry(BaseModel):
    """One change. ``status`` None: nobody knows how it ended."""

    id: str
    at: datetime
    name: str = ""
    role: str = ""
    via: str = ""
    label: str = ""
    operation: str = ""
    about: str = ""
    path: str = ""
    said: JsonObject = Field(default_factory=JsonObject)
    status: int | None = None

    @property
    def who(self) -> str:
        """A name, and by what it came where that was no person who had logged in."""
        via = say(VIA.get(self.via, self.via))
        by = "" if self.via == "session" else say("{what}: {text}", what=via, text=self.label) if self.label else via
        return " · ".join(part for part in (self.name, by) if part)

    @property
    def ended(self) -> str:
        """How it ended, in words."""
        if self.status is None:
            return say("nobody knows how it ended")
        return say("done") if self.status < 400 else say("refused ({status})", status=self.status)

    @property
    def what(self) -> str:
        """What was done. Of an account one operation changes two things: which of them it was."""
        out = self.said.get("disabled")
        if self.operation != _CHANGE:
            return self.about
        return say("Lock out") if out else say("Give a role") if out is None else say("Let in again")

    @property
    def details(self) -> str:
        """What is told of it, each with its name; nothing of what was left empty or not chosen."""
        hidden = {"disabled"} if self.operation == _CHANGE else set[str]()
        told = {name: _value(name, value) for name, value in self.said.items() if name not in hidden}
        return ", ".join(
            f"{name.replace('_', ' ')}: {value}" for name, value in told.items() if value and not name.endswith("_id")
        )


def _value(name: str, value: JsonValue) -> str:
    if isinstance(value, bool):
        return say("yes") if value else say("no") if name in _STATES else ""
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return "" if value is None or value == {} else str(value)


class EntryPage(BaseModel):
    entries: list[Entry]
    next: str | None = None


class Operation(BaseModel):
    operation: str
    about: str = ""


def entries(
    client: Client, name: str = "", operation: str = "", via: str = "", day: date | None = None, before: str = ""
) -> EntryPage:
    """The newest first; of one ``day`` (UTC) where it is given."""
    chosen = {"name": name, "operation": operation, "via": via, "before": before, "limit": str(PAGE)}
    if day is not None:
        begins = datetime.combine(day, time(), UTC)
        chosen |= {"since": begins.isoformat(), "until": (begins + timedelta(days=1)).isoformat()}
    return read(EntryPage, client.send("GET", "/audit", params={key: value for key, value in chosen.items() if value}))


def operations(client: Client) -> dict[str, str]:
    """Those that there are entries of, with what they do."""
    return {one.operation: one.about for one in read_all(Operation, client.send("GET", "/audit/operations"))}
