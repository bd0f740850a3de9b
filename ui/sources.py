"""Sources of tools as the page needs them: custom APIs and MCP servers, their tools, and what the gate found out."""

from datetime import datetime
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, Field, JsonValue

from domain.model import JsonObject
from domain.side_effect import DeclaredEffect, SideEffect, determine_side_effect, find_method_override
from domain.tool_source import OperationChoice, OperationOutline
from ui.client import Client, read, read_all
from ui.tool_keys import Flow

_READING = 120.0
"""Seconds that reading a document may take: it is fetched, waits for its turn, and is read."""
TOO_MANY = "too_many_operations"
"""The problem of a document that lists more operations than a source may have."""
AUTHORS = frozenset({"author", "admin"})
"""Roles that may add tools."""


class Counts(BaseModel):
    """How many of its tools are in each state."""

    draft: int = 0
    tested: int = 0
    admitted: int = 0
    quarantined: int = 0

    @property
    def all(self) -> int:
        """How many tools it has."""
        return self.draft + self.tested + self.admitted + self.quarantined


class Change(BaseModel):
    """How a tool differs from when it was last read. ``breaks``: it is kept out until somebody has looked."""

    tool: str
    kind: str = ""
    told: str = ""
    breaks: bool = False


class Source(BaseModel):
    """Where tools come from. ``notes``: what of its document was left out or mended, and why. ``checking``: the gate is at work, ``checked`` of
    ``to_check`` tools are done; ``check_trouble``: why it stopped early.
    """

    id: str
    name: str
    kind: str = "openapi"
    category: str = ""
    toolset: str = ""
    address: str = ""
    command: str = ""
    author: str = ""
    base_url: str = ""
    operations: OperationChoice = Field(default_factory=OperationChoice)
    visibility: str = "everybody"
    roles: list[str] = Field(default_factory=list[str])
    users: list[str] = Field(default_factory=list[str])
    keys_of: str = "caller"
    watch_minutes: int = 0
    version: int = 0
    read_at: datetime | None = None
    checked_at: datetime | None = None
    counts: Counts = Field(default_factory=Counts)
    trouble: str = ""
    notes: list[str] = Field(default_factory=list[str])
    changes: list[Change] = Field(default_factory=list[Change])
    checking: bool = False
    check_trouble: str = ""
    checked: int = 0
    to_check: int = 0


class SentDocument(BaseModel):
    """A document that was sent by itself."""

    id: str


class SourceOutline(OperationOutline):
    """The operations of a source's document."""

    most: int
    """That a source may have."""


class Finding(BaseModel):
    """What one check of the gate found out about a tool."""

    check: str
    verdict: str
    told: str = ""
    advice: str = ""
    evidence: JsonObject = Field(default_factory=dict)


class Input(BaseModel):
    """A parameter of a tool."""

    name: str
    type: str = "string"
    description: str = ""
    required: bool = False
    example: JsonValue = None
    default: JsonValue = None
    enum: list[JsonValue] = Field(default_factory=list[JsonValue])
    location: str = "query"


class Credential(BaseModel):
    """A key that its calls send, by name: where it stands in the call, under which name and after which word."""

    secret: str
    required: bool = True
    place: str = "header"
    name: str = "Authorization"
    prefix: str = ""
    flows: list[Flow] = Field(default_factory=list[Flow])


class Document(BaseModel):
    """What is known of a tool before any call."""

    id: str
    api: str = ""
    function: str = ""
    method: str = "GET"
    url: str = ""
    description: str = ""
    parameters: list[Input] = Field(default_factory=list[Input])
    example_response: str | None = None
    credentials: list[Credential] = Field(default_factory=list[Credential])
    side_effect: DeclaredEffect = ""
    marked: DeclaredEffect = ""

    @property
    def host(self) -> str:
        """Where its calls go; ``http://`` before one that is called unencrypted, as a key has to name it."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return ""
        place = parts.netloc.rpartition("@")[2].lower()
        return f"http://{place}" if place and parts.scheme == "http" else place

    @property
    def effect(self) -> SideEffect:
        """Whether calling it changes something, and by which source that is known."""
        override = find_method_override(one.name for one in self.parameters)
        return determine_side_effect(self.method, self.api, self.side_effect, self.marked, override)


class Corrections(BaseModel):
    """What is said in place of the source's document."""

    description: str | None = None
    side_effect: DeclaredEffect | None = None
    examples: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    entities: dict[str, str] = Field(default_factory=dict[str, str])


class SourceTool(BaseModel):
    """A tool of a source. ``document`` as corrected, ``original`` as it was read; ``called``: the gate has called it, and that did not fail;
    ``offered``: requests can use it now. ``held``: an administrator
    keeps it out; ``gone``: its source does not name it any more. ``links``: ``partly`` while what feeds it is not wholly known.
    """

    tool: str
    function: str = ""
    state: str = "draft"
    reason: str = ""
    document: Document
    original: Document
    corrections: Corrections = Field(default_factory=Corrections)
    findings: list[Finding] = Field(default_factory=list[Finding])
    version: int = 0
    called: bool = False
    offered: bool = False
    held: bool = False
    gone: bool = False
    links: str = ""

    @property
    def name(self) -> str:
        """As it is called on the page: as its source names it, for the name by which programs call it is longer."""
        return self.document.api or self.function or self.tool

    @property
    def stopped(self) -> bool:
        """Whether a check failed, so that it cannot be admitted."""
        return any(one.verdict == "failed" for one in self.findings)


class Past(BaseModel):
    """A line of a source's history. ``who``: empty where the server did it by itself."""

    at: datetime
    who: str = ""
    what: str = ""
    tools: list[str] = Field(default_factory=list[str])
    reason: str = ""
    undone: bool = False
    undoable: bool = False


class Touched(BaseModel):
    """What rests on a tool that has changed. ``others``: how many solutions and templates of others do."""

    tool: str
    change: str = ""
    solutions: list[str] = Field(default_factory=list[str])
    templates: list[str] = Field(default_factory=list[str])
    others: int = 0


class Dropped(BaseModel):
    """A tool whose document was not good enough, and why."""

    tool: str
    reason: str = ""


class QualityRow(BaseModel):
    """How the documents of a category were judged. ``reasons``: why some were dropped."""

    category: str = ""
    kept: int = 0
    dropped: int = 0
    reasons: list[Dropped] = Field(default_factory=list[Dropped])


class Person(BaseModel):
    """Somebody who may be let see a source."""

    id: str
    name: str


def sources(client: Client) -> list[Source]:
    """The author's own; all of them for an administrator."""
    return read_all(Source, client.send("GET", "/sources"))


def source(client: Client, source: str) -> Source:
    """How it stands."""
    return read(Source, client.send("GET", f"/sources/{source}"))


def add_source(client: Client, new: JsonObject) -> Source:
    """Read a new one. Its tools are drafts. Raises ServerError: it says what is wrong with it."""
    return read(Source, client.send("POST", "/sources", json=new, timeout=_READING))


def send_document(client: Client, text: str) -> str:
    """Send a document by itself, and return the id by which a new source, or another reading, names it."""
    sent = client.send("POST", "/sources/documents", content=text.encode(), timeout=_READING)
    return read(SentDocument, sent).id


def outline_document(client: Client, given: JsonObject) -> SourceOutline:
    """List the operations of a document: ``given`` as its text, its address or its id."""
    return read(SourceOutline, client.send("POST", "/sources/outline", json=given, timeout=_READING))


def outline_source(client: Client, source: str) -> SourceOutline:
    """List the operations of a source's document."""
    return read(SourceOutline, client.send("GET", f"/sources/{source}/outline", timeout=_READING))


def choose_operations(client: Client, source: str, choice: OperationChoice) -> None:
    """Have a source take these operations of its document. Raises ServerError: it then stays as it is."""
    client.send("PUT", f"/sources/{source}/operations", json=choice.model_dump(mode="json"), timeout=_READING)


def change_source(client: Client, source: str, changed: JsonObject) -> None:
    """Its name, who may use it, whose keys it uses, how often it is read again."""
    client.send("PATCH", f"/sources/{source}", json=changed)


def remove_source(client: Client, source: str) -> None:
    """With its tools; runs that called them stay."""
    client.send("DELETE", f"/sources/{source}")


def source_tools(client: Client, source: str) -> list[SourceTool]:
    """All of them."""
    return read_all(SourceTool, client.send("GET", f"/sources/{source}/tools"))


def correct_tool(client: Client, source: str, tool: str, said: JsonObject) -> None:
    """Say something in place of the document; of one that is admitted, it goes live at once."""
    client.send("PATCH", f"/sources/{source}/tools/{quote(tool, safe='/')}", json=said)


def check_source(client: Client, source: str, how: JsonObject) -> None:
    """Have the gate look; it goes on whether one follows it or not."""
    client.send("POST", f"/sources/{source}/check", json=how)


def admit_tools(client: Client, source: str, tools: list[str], despite: str = "") -> None:
    """Offer them. ``despite``: why an administrator does, though a check says no."""
    client.send("POST", f"/sources/{source}/admit", json={"tools": tools} | ({"despite": despite} if despite else {}))


def quarantine_tools(client: Client, source: str, tools: list[str], reason: str) -> None:
    """Keep them out."""
    client.send("POST", f"/sources/{source}/quarantine", json={"tools": tools, "reason": reason})


def undo(client: Client, source: str) -> None:
    """Take the last step back."""
    client.send("POST", f"/sources/{source}/undo")


def source_history(client: Client, source: str) -> list[Past]:
    """What was done, by whom, and why."""
    return read_all(Past, client.send("GET", f"/sources/{source}/history"))


def refresh_source(client: Client, source: str, document: JsonObject | None = None) -> None:
    """Read it again and compare. ``document``: the new one, as text or by its id, of a source that has no address."""
    client.send("POST", f"/sources/{source}/refresh", json=document or {}, timeout=_READING)


def rewrite_source(client: Client, source: str, tools: list[JsonObject]) -> Source:
    """Other tools in place of those that were written by hand, compared with them."""
    return read(Source, client.send("POST", f"/sources/{source}/refresh", json={"tools": [*tools]}))


def touched(client: Client, source: str) -> list[Touched]:
    """The changes that nobody has looked at, and what they touch."""
    return read_all(Touched, client.send("GET", f"/sources/{source}/touched"))


def changes_seen(client: Client, source: str) -> None:
    """Somebody has looked at them."""
    client.send("POST", f"/sources/{source}/changes/seen")


def quality_table(client: Client, source: str) -> list[QualityRow]:
    """What the gate said of its documents, by category."""
    return read_all(QualityRow, client.send("GET", f"/sources/{source}/quality"))


def people(client: Client, prefix: str) -> list[Person]:
    """Users whose names begin so."""
    return read_all(Person, client.send("GET", "/user-names", params={"prefix": prefix}))
