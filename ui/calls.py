"""A call of a run as its events tell it, and the time in which something is under way."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from domain.call_counter import was_call_made
from domain.event import ResponseCompressed
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.tool import ToolId
from ui.language import message

CallState = Literal["planned", "unreached", "running", "waits", "done", "not_made", "failed"]
"""``planned``: nothing is called yet, or at all; ``not_made``: its user did not allow it, or left it out."""

SIGNS: dict[CallState, str] = {
    "planned": "",
    "unreached": "○",
    "running": "…",
    "waits": "⏸",
    "done": "✓",
    "not_made": "–",
    "failed": "✗",
}
SAID: dict[CallState, str] = {
    "planned": message("planned"),
    "unreached": message("not reached"),
    "running": message("running"),
    "waits": message("waits for you"),
    "done": message("done"),
    "not_made": message("not made"),
    "failed": message("failed"),
}
STATUSES = {
    "ok": message("ok"),
    "failed": message("failed"),
    "missing": message("not called"),
    "skipped": message("skipped"),
    "unknown": message("nobody knows how it ended"),
}
"""How a call ended, by the status of its result."""
ORIGINS = {
    "request": message("the request"),
    "step": message("a step"),
    "file": message("your file"),
    "field": message("a field"),
    "prose": message("a text"),
    "default": message("the default"),
    "example": message("an example"),
    "secret": message("a key"),
    "memory": message("memory"),
    "user": message("the user"),
    "computed": message("a computation"),
}
"""Where a value comes from."""


@dataclass
class Call:
    """A call; ``result`` None while it is under way. ``site``: which call of a program it is, if it is one. ``compressed``: how its answer was
    made shorter for a model. ``number``: its place among the calls of the run, from 1: a step may be called several times. ``begun``: it went out,
    as far as was told. ``unanswered``: why its answer is not told, in words.
    """

    subtask: int
    step: int
    tool: ToolId
    arguments: JsonObject
    provenance: tuple[Binding, ...] = ()
    result: StepResult | None = None
    site: str = ""
    compressed: ResponseCompressed | None = None
    number: int = 0
    begun: bool = True
    unanswered: str = ""

    @property
    def not_called(self) -> bool:
        """Whether it did not come as far as its tool, for another reason than its user's."""
        if self.result is None or self.result.status in ("ok", "skipped"):
            return False
        return not (self.begun and was_call_made(self.result))

    @property
    def failed(self) -> bool:
        """Whether it has ended, and not well."""
        return self.result is not None and self.result.status not in ("ok", "skipped")

    @property
    def not_made(self) -> bool:
        """Whether its user did not allow it, or left it out of several."""
        return self.result is not None and self.result.status == "skipped"


@dataclass
class UnderWay:
    """How long at least one of several calls was under way: those that run side by side count once."""

    now: int = 0
    since: datetime | None = None
    seconds: float = 0.0

    def begin(self, at: datetime) -> None:
        """One more."""
        self.since = at if self.now == 0 else self.since
        self.now += 1

    def end(self, at: datetime) -> None:
        """One less."""
        self.now -= 1
        if self.now == 0 and self.since is not None:
            self.seconds += (at - self.since).total_seconds()
            self.since = None
