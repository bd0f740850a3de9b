"""The tool library as the page needs it."""

from datetime import datetime
from typing import Literal
from urllib.parse import quote

from pydantic import BaseModel, Field, JsonValue

from domain.model import JsonObject
from domain.tool import ToolId
from ui.client import Client, read, read_all

Word = Literal["pin", "mute", "ban", "reads", "changes", "set", "add", "forbid", "forget", "clear"]


class LibraryTool(BaseModel):
    """One of a list. The scores are there where it was searched for; ``availability`` None: untested. ``tried``: calls that it stands on, None: the server does not tell; ``went_well``: how many of them did."""

    id: ToolId
    api: str = ""
    toolset: str = ""
    category: str = ""
    description: str = ""
    host: str = ""
    effect: str = "reads"
    availability: float | None = None
    tried: int | None = None
    went_well: int = 0
    origin: str = ""
    score: float | None = None
    dense: float | None = None
    lexical: float | None = None
    odds: float | None = None


class ToolPage(BaseModel):
    """``next``: what to go on after; None: that was all."""

    tools: list[LibraryTool]
    next: str | None = None
    total: int = 0


class Toolset(BaseModel):
    toolset: str
    tools: int


class Category(BaseModel):
    """``sets``: its tool sets, where they were asked for."""

    category: str
    tools: int
    sets: list[Toolset] = Field(default_factory=list[Toolset])


class ToolParameter(BaseModel):
    """``takes``: JSON Schema of its values."""

    name: str
    type: str = "string"
    location: str = ""
    required: bool = False
    description: str = ""
    default: JsonValue = None
    example: JsonValue = None
    takes: JsonObject = Field(default_factory=JsonObject)

    @property
    def field(self) -> JsonObject:
        """The schema of a field for it."""
        return {**self.takes, "description": self.description}


class ToolCredential(BaseModel):
    secret: str
    place: str = ""
    name: str = ""
    required: bool = True


class Moment(BaseModel):
    at: datetime
    availability: float


class ToolRecord(BaseModel):
    """How it has answered. ``calls``: imported; the others: of runs of this server."""

    calls: int = 0
    successes: int = 0
    ok: int = 0
    transient: int = 0
    gone: int = 0
    told: list[str] = Field(default_factory=list[str])
    over_time: list[Moment] = Field(default_factory=list[Moment])


class ToolSolution(BaseModel):
    id: str
    pattern: str = ""
    good: int = 0
    bad: int = 0
    suspended: str = ""


class Tool(LibraryTool):
    """All that is known of one."""

    method: str = ""
    url: str = ""
    why: str = ""
    signature: str = ""
    toolset_description: str = ""
    parameters: list[ToolParameter] = Field(default_factory=list[ToolParameter])
    credentials: list[ToolCredential] = Field(default_factory=list[ToolCredential])
    example: str = ""
    record: ToolRecord = Field(default_factory=ToolRecord)
    takes_entities: list[str] = Field(default_factory=list[str])
    gives_entities: list[str] = Field(default_factory=list[str])
    solutions: list[ToolSolution] = Field(default_factory=list[ToolSolution])

    @property
    def changes(self) -> bool:
        """Whether calling it may change something."""
        return self.effect != "reads"


class Walk(BaseModel):
    """A transition; ``tool``: its other end."""

    tool: ToolId
    weight: float = 0.0
    imported: int = 0
    live: int = 0
    strength: float = 0.0
    mark: str | None = None
    availability: float | None = None


class Feed(BaseModel):
    """What one tool answers in ``field`` can fill ``parameter`` of another; ``tool``: the other one."""

    tool: ToolId
    field: str
    parameter: str
    score: float


class Substitute(BaseModel):
    tool: ToolId
    score: float
    parameters: dict[str, str] = Field(default_factory=dict[str, str])


class Neighbours(BaseModel):
    """The heaviest and best of each, and how many there are."""

    after: list[Walk] = Field(default_factory=list[Walk])
    afters: int = 0
    before: list[Walk] = Field(default_factory=list[Walk])
    befores: int = 0
    feeds_in: list[Feed] = Field(default_factory=list[Feed])
    feed_ins: int = 0
    feeds_out: list[Feed] = Field(default_factory=list[Feed])
    feed_outs: int = 0
    substitutes: list[Substitute] = Field(default_factory=list[Substitute])


class Recorded(BaseModel):
    arguments: str
    response: str
    whole: int
    outcome: str


class RecordedCalls(BaseModel):
    calls: list[Recorded]
    total: int = 0


class Try(BaseModel):
    """A call that was tried. ``finished_at`` None: nobody knows how it ended. ``short``: the answer as a model would be shown it."""

    id: str
    arguments: JsonObject = Field(default_factory=JsonObject)
    changes: bool = False
    started_at: datetime
    finished_at: datetime | None = None
    outcome: str | None = None
    http_status: int | None = None
    response: str = ""
    whole: int = 0
    note: str = ""
    milliseconds: int = 0
    short: str = ""


class Said(BaseModel):
    """What an administrator said, and why. ``place``: of which parameter or field; ``field``: of the other tool's answer; ``entity``: what the place is of."""

    tool: ToolId = ToolId("")
    kind: str
    target: ToolId = ToolId("")
    mark: str
    place: str = ""
    field: str = ""
    entity: str = ""
    reason: str = ""
    by: str = ""
    at: datetime

    @property
    def about(self) -> tuple[str, str, str, str, str]:
        """What it is said of: the newest of the same counts."""
        return self.tool, self.kind, self.target, self.place, self.field


class Marks(BaseModel):
    """``tool``: the mark of the tool itself; ``history``: the newest first."""

    tool: str = ""
    reason: str = ""
    history: list[Said] = Field(default_factory=list[Said])


def tools(
    client: Client, query: str = "", category: str = "", toolset: str = "", effect: str = "", after: str = ""
) -> ToolPage:
    """A page of them."""
    wanted = {"query": query, "category": category, "toolset": toolset, "effect": effect, "after": after}
    params: dict[str, str | int] = {name: value for name, value in wanted.items() if value}
    return read(ToolPage, client.send("GET", "/tools", params={**params, "limit": 25}))


def categories(client: Client, category: str = "") -> list[Category]:
    """All of them; or one, with its tool sets."""
    params = {"category": category} if category else {}
    return read_all(Category, client.send("GET", "/tools/categories", params=params))


def tool(client: Client, tool: str) -> Tool:
    """Raises ServerError (404): there is none of this id, or none for this user."""
    return read(Tool, client.send("GET", _of(tool, "about")))


def neighbours(client: Client, tool: str) -> Neighbours:
    """What joins it to others."""
    return read(Neighbours, client.send("GET", _of(tool, "neighbours")))


def recorded(client: Client, tool: str) -> RecordedCalls:
    """Imported calls of it."""
    return read(RecordedCalls, client.send("GET", _of(tool, "recorded")))


def attempt(client: Client, tool: str, arguments: JsonObject, key: str, *, leave: bool) -> Try:
    """Call it once, however often it is sent with this ``key``. Raises ServerError: the arguments do not fit, or it needs leave; nothing was called."""
    body = {"arguments": arguments, "leave": leave, "key": key}
    return read(Try, client.send("POST", _of(tool, "try"), json=body))


def tries(client: Client, tool: str) -> list[Try]:
    """One's own, the last first."""
    return read_all(Try, client.send("GET", _of(tool, "tried")))


def marks(client: Client, tool: str) -> Marks:
    """For administrators."""
    return read(Marks, client.send("GET", _of(tool, "marks")))


def marks_to(client: Client, tool: str, target: str) -> list[Said]:
    """For administrators: of what joins the one to the other, the newest first."""
    return read_all(Said, client.send("GET", _of(tool, "marks-to"), params={"target": target}))


def mark(client: Client, tool: str, kind: str, word: str, reason: str, target: str = "", **more: str) -> None:
    """For administrators. ``more``: place, field and entity, where it is said of these. Raises ServerError: it cannot be said of this."""
    body = {"kind": kind, "mark": word, "reason": reason, "target": target, **more}
    client.send("PUT", _of(tool, "marks"), json=body)


def _of(tool: str, rest: str) -> str:
    """Ids hold escapes of their own, which are to outlive being read as a path."""
    return f"/tools/{quote(tool)}/{rest}"
