"""What a user has said may happen without being asked: changes by a tool, and values that go from one host to another."""

from datetime import datetime
from urllib.parse import quote

from pydantic import BaseModel, Field

from domain.tool import ToolId
from ui.client import Client, read_all
from ui.language import message

ORIGINS = {
    "said": message("what you say"),
    "document": message("what its document gives"),
    "field": message("whole fields of an answer"),
}
"""Where values come from, as the server names it, for which leave can hold."""


class AllowedTool(BaseModel):
    """A tool that may change things without asking. ``origins``: of the values for which that holds; ``holds`` False: it is elsewhere now, and asks again."""

    tool: ToolId
    method: str = ""
    address: str = ""
    origins: list[str] = Field(default_factory=list[str])
    created_at: datetime | None = None
    holds: bool | None = None


class HostTransfer(BaseModel):
    """What was said of values of one host's answers that go to another."""

    source: str
    target: str
    allowed: bool = False
    decided_at: datetime | None = None


def allowed_tools(client: Client) -> list[AllowedTool]:
    """All of this user's, by name."""
    return read_all(AllowedTool, client.send("GET", "/me/allowed-tools"))


def allow_tool(client: Client, tool: str) -> None:
    """Let it change things without asking, as it is now."""
    client.send("PUT", f"/me/allowed-tools/{quote(tool, safe='/')}")


def disallow_tool(client: Client, tool: str) -> None:
    """Have it ask again."""
    client.send("DELETE", f"/me/allowed-tools/{quote(tool, safe='/')}")


def host_transfers(client: Client) -> list[HostTransfer]:
    """All that this user has decided."""
    return read_all(HostTransfer, client.send("GET", "/me/host-transfers"))


def forget_transfer(client: Client, one: HostTransfer) -> None:
    """Have it asked again."""
    client.send("DELETE", f"/me/host-transfers/{quote(one.source, safe='')}/{quote(one.target, safe='')}")
