"""A user's runs over all conversations, as the server lists them: the newest first, found by what was asked and what became of it."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from pydantic import BaseModel

from ui.client import Client, read, read_all
from ui.language import message
from ui.replies import Run
from ui.run_state import Refused

ROUTE = "/runs"
ENDS = {
    "queued": message("Waits for its turn"),
    "running": message("Goes on"),
    "waiting": message("Waits for you"),
}
"""How a run stands that has not ended, by the server's names."""
_AT_ONCE = 200


class PastRun(Run):
    """A run in the list. ``calls`` None: it has not ended. ``refused``: what its user did not allow, where it ended for that."""

    policy: str = ""
    model: str = ""
    conversation_title: str = ""
    calls: int | None = None
    refused: Refused | None = None


class _Page(BaseModel):
    runs: list[PastRun]
    next: str | None = None


class ToolUse(BaseModel):
    """A tool, and how many runs have called it."""

    tool: str
    runs: int


@dataclass(frozen=True)
class Wanted:
    """What is looked for; what is empty chooses nothing. ``end``: an outcome, or the status of a run that has not ended. ``since`` and ``until``:
    days (UTC), both of them taken in.
    """

    search: str = ""
    end: str = ""
    conversation: str = ""
    planner: str = ""
    policy: str = ""
    model: str = ""
    tool: str = ""
    verdict: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def params(self) -> dict[str, str]:
        """As the server is asked."""
        chosen = {
            "search": self.search,
            "status" if self.end in ENDS else "outcome": self.end,
            "conversation": self.conversation,
            "planner": self.planner,
            "policy": self.policy,
            "model": self.model,
            "tool": self.tool,
            "verdict": self.verdict,
            "since": _begins(self.since) if self.since else "",
            "until": _begins(self.until + timedelta(days=1)) if self.until else "",
        }
        return {name: value for name, value in chosen.items() if value}


def past_runs(client: Client, wanted: Wanted, most: int) -> tuple[list[PastRun], bool]:
    """The newest so many, and whether there are more."""
    found: list[PastRun] = []
    before: str | None = ""
    while before is not None and len(found) < most:
        limit = str(min(_AT_ONCE, most - len(found)))
        params = {**wanted.params, "limit": limit} | ({"before": before} if before else {})
        page = read(_Page, client.send("GET", ROUTE, params=params))
        found += page.runs
        before = page.next
    return found, before is not None


def called_tools(client: Client) -> list[ToolUse]:
    """Those that one's runs have called, most runs first."""
    return read_all(ToolUse, client.send("GET", f"{ROUTE}/tools"))


def _begins(day: date) -> str:
    return datetime.combine(day, time(), UTC).isoformat()
