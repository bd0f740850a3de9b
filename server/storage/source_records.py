"""Sources of tools and the steps taken with them: their models, and how these are written to rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from domain.tool import Credential, ToolDoc, ToolId
from domain.tool_source import (
    Corrections,
    Finding,
    KeyOwner,
    OperationChoice,
    SourceKind,
    ToolChange,
    ToolState,
    Visibility,
)
from server.storage.accounts import Role
from server.storage.repository import StoredModel, to_model
from server.storage.rows.tools import SourceReadingRow, SourceRow, SourceStepRow, SourceToolRow

StepKind = Literal[
    "added", "changed", "read", "corrected", "checked", "admitted", "quarantined", "undone", "looked", "removed"
]
"""``read``: fetched again; ``looked``: its changes were acknowledged."""


class Source(StoredModel):
    """A source of tools."""

    id: str
    author_id: str | None
    """None once that account was deleted; ``author`` is empty then."""
    author: str = ""
    name: str
    kind: SourceKind
    category: str
    toolset: str
    address: str = ""
    command: str = ""
    base_url: str = ""
    operations: OperationChoice = Field(default_factory=OperationChoice)
    """The operations that are taken from its OpenAPI document."""
    visibility: Visibility = "everybody"
    roles: tuple[Role, ...] = ()
    users: tuple[str, ...] = ()
    keys_of: KeyOwner = "caller"
    watch_minutes: int = 0
    version: int = 1
    """The number of the reading in use, from 1."""
    created_at: datetime
    read_at: datetime | None = None
    checked_at: datetime | None = None
    removed_at: datetime | None = None
    trouble: str = ""
    notes: tuple[str, ...] = ()
    """Parts that could not be taken from it, or only partly."""
    credentials: tuple[Credential, ...] = ()
    """Keys that reading it takes, where it is an MCP server."""
    changes: tuple[ToolChange, ...] = ()
    """Changes of its tools that nobody has acknowledged yet."""
    checking: bool = False
    """The admission check is running."""
    check_trouble: str = ""
    """Why the last check stopped early."""
    checked: int = 0
    to_check: int = 0


class ObservedResponses(StoredModel):
    """Responses of a tool as a probe saw them: JSON texts, as in a tool's document."""

    example_response: str | None = None
    learnt_response: str | None = None


class StoredTool(StoredModel):
    """A tool of a source."""

    tool: ToolId
    state: ToolState = "draft"
    reason: str = ""
    original: ToolDoc
    """As its source describes it."""
    corrections: Corrections = Field(default_factory=Corrections)
    learnt: ObservedResponses = Field(default_factory=ObservedResponses)
    findings: tuple[Finding, ...] = ()
    looked_at: str = ""
    """The digest of the document that the findings are about."""
    version: int = 1
    """Counts the changes of its document."""
    offer: ToolDoc | None = None
    """The document that is offered, while the tool is admitted."""
    held: bool = False
    """An administrator keeps it out, and only an administrator may admit it."""
    gone: bool = False
    """Its source no longer names it."""


class SourceReading(StoredModel):
    """The tools that a source listed at a time."""

    version: int
    digest: str
    documents: tuple[ToolDoc, ...]
    skipped: tuple[str, ...] = ()
    at: datetime
    raw: bytes | None = None
    """The bytes as they came; None where they are no longer stored."""


class UndoState(StoredModel):
    """The state before a step, for undoing it."""

    tools: dict[str, StoredTool | None]
    """None for a tool that did not exist."""
    version: int
    changes: tuple[ToolChange, ...]
    operations: OperationChoice | None = None
    """None in steps that were stored before operations could be chosen."""


class SourceStep(StoredModel):
    """A step that was taken with a source."""

    id: str
    at: datetime
    user_id: str | None
    who: str
    """The user's name at that time; empty for the server itself."""
    by_admin: bool
    what: StepKind
    tools: tuple[ToolId, ...]
    reason: str
    undone: bool
    undoable: bool
    """Undoing the step is still possible."""


class Actor(StoredModel):
    """The user, or the server itself, that takes a step."""

    user_id: str | None = None
    """None for the server itself."""
    name: str = ""
    admin: bool = False


SERVER = Actor(admin=True)
"""The server itself, where a watch or a refresh found a change."""


@dataclass(frozen=True, slots=True)
class LockedSource:
    """A source as it is within the transaction of a step."""

    source: Source
    tools: Mapping[ToolId, StoredTool]
    last_undoable: tuple[SourceStep, UndoState] | None
    """The latest step that can be undone, with the state before it."""
    last_reading: int
    """The number of the latest reading."""


@dataclass(frozen=True, slots=True)
class SourceChange:
    """The rows that a step writes."""

    what: StepKind
    reason: str = ""
    source: Source | None = None
    tools: Mapping[ToolId, StoredTool | None] = field(default_factory=dict[ToolId, "StoredTool | None"])
    """The tools that change, by id; None deletes one."""
    named_tools: tuple[ToolId, ...] = ()
    """The tools that the history names, where these are not the changed ones."""
    reading: SourceReading | None = None
    undoes: str = ""
    """The id of the step that this one undoes."""
    is_undoable: bool = True
    """The state before the step is stored."""
    is_recorded: bool = True
    """The step appears in the history."""


@dataclass(frozen=True, slots=True)
class OfferChange:
    """How a step changed what is offered: the graph must follow it."""

    source: Source
    offered: tuple[ToolDoc, ...]
    """Documents that are new or changed."""
    withdrawn: tuple[ToolId, ...]
    """Tools that are no longer offered."""


class SourceOffer(StoredModel):
    """A tool that is offered, and its source."""

    source_id: str
    doc: ToolDoc


class SourceAccess(StoredModel):
    """The users who may see a source's tools, and whose keys their calls send."""

    id: str
    author_id: str | None
    visibility: Visibility
    roles: tuple[Role, ...]
    users: tuple[str, ...]
    keys_of: KeyOwner


StateCounts = dict[str, int]
"""Numbers of a source's tools by state."""


_CHANGEABLE = frozenset(Source.model_fields) - {"author", "checking", "id", "author_id", "created_at"}


def to_source(row: SourceRow, author: str | None) -> Source:
    """Build the source of a row."""
    return to_model(Source, row, author=author or "", checking=row.check_worker is not None)


def write_source(row: SourceRow, source: Source) -> None:
    """Write everything that a step may change; the state of a check is written by :class:`server.storage.sources.SourceChecks`."""
    values = source.model_dump(mode="python", include=set(_CHANGEABLE))
    values["changes"] = [model.model_dump(mode="json") for model in source.changes]
    values["credentials"] = [model.model_dump(mode="json") for model in source.credentials]
    values["operations"] = source.operations.model_dump(mode="json")
    values |= {"roles": list(source.roles), "users": list(source.users), "notes": list(source.notes)}
    for name, value in values.items():
        setattr(row, name, value)


def build_source_row(source: Source) -> SourceRow:
    """Build the row of a new source."""
    row = SourceRow(id=source.id, author_id=source.author_id, created_at=source.created_at)
    write_source(row, source)
    return row


def write_tool(row: SourceToolRow, tool: StoredTool) -> None:
    """Write a tool to its row."""
    values: dict[str, Any] = tool.model_dump(mode="json", exclude={"tool", "original", "offer"})
    values["original"] = tool.original.model_dump(mode="json", exclude_defaults=True)
    values["offer"] = None if tool.offer is None else tool.offer.model_dump(mode="json", exclude_defaults=True)
    for name, value in values.items():
        setattr(row, name, value)
    row.offered_as = tool.offer.id if tool.offer is not None else None


def build_reading_row(source_id: str, reading: SourceReading) -> SourceReadingRow:
    """Build the row of a new reading."""
    return SourceReadingRow(
        source_id=source_id,
        version=reading.version,
        digest=reading.digest,
        raw=reading.raw,
        documents=[doc.model_dump(mode="json", exclude_defaults=True) for doc in reading.documents],
        skipped=list(reading.skipped),
        at=reading.at,
    )


def to_step(row: SourceStepRow) -> SourceStep:
    """Build the step of a row."""
    return to_model(SourceStep, row, undoable=row.before is not None and not row.undone)


def to_undo_state(row: SourceStepRow) -> UndoState | None:
    """Return the state before a step; None where it is not stored."""
    return None if row.before is None else UndoState.model_validate(row.before)
