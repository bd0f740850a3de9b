"""Sources of tools and the steps taken with them, as models and as rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from domain.model import Model
from domain.operations import OperationChoice
from domain.source import Corrections, Finding, KeysOf, SourceKind, ToolChange, ToolState, Visibility
from domain.tool import Credential, ToolDoc, ToolId
from server.storage.accounts import Role
from server.storage.repository import to_model
from server.storage.rows.tools import SourceReadingRow, SourceRow, SourceStepRow, SourceToolRow

StepKind = Literal[
    "added", "changed", "read", "corrected", "checked", "admitted", "quarantined", "undone", "looked", "removed"
]
"""What is done with a source. ``read``: fetched again; ``looked``: its changes were looked at."""


class Source(Model):
    """``author_id``: None once that account is gone, ``author`` then empty. ``version``: the reading that counts, from 1.

    ``notes``: what could not be taken of it, or only in part. ``credentials``: keys that reading it takes, where it is a server (MCP).
    ``changes``: those of its tools that nobody has looked at. ``checking``: the gate is at work; ``check_trouble``: why it last stopped early.
    """

    id: str
    author_id: str | None
    author: str = ""
    name: str
    kind: SourceKind
    category: str
    toolset: str
    address: str = ""
    command: str = ""
    base_url: str = ""
    operations: OperationChoice = Field(default_factory=OperationChoice)
    """Those that are taken from its document (OpenAPI)."""
    visibility: Visibility = "everybody"
    roles: tuple[Role, ...] = ()
    users: tuple[str, ...] = ()
    keys_of: KeysOf = "caller"
    watch_minutes: int = 0
    version: int = 1
    created_at: datetime
    read_at: datetime | None = None
    checked_at: datetime | None = None
    removed_at: datetime | None = None
    trouble: str = ""
    notes: tuple[str, ...] = ()
    credentials: tuple[Credential, ...] = ()
    changes: tuple[ToolChange, ...] = ()
    checking: bool = False
    check_trouble: str = ""
    checked: int = 0
    to_check: int = 0


class ObservedResponses(Model):
    """What a probe saw of a tool's answers: JSON texts, as a tool's document has them."""

    example_response: str | None = None
    learnt_response: str | None = None


class StoredTool(Model):
    """A tool of a source. ``original``: as its source says it. ``looked_at``: digest of what the findings are about.

    ``offer``: exactly what is offered, while it is admitted. ``held``: an administrator keeps it out, and only one lets it in.
    ``gone``: its source does not name it any more. ``version``: counts what has changed in its document.
    """

    tool: ToolId
    state: ToolState = "draft"
    reason: str = ""
    original: ToolDoc
    corrections: Corrections = Field(default_factory=Corrections)
    learnt: ObservedResponses = Field(default_factory=ObservedResponses)
    findings: tuple[Finding, ...] = ()
    looked_at: str = ""
    version: int = 1
    offer: ToolDoc | None = None
    held: bool = False
    gone: bool = False


class SourceReading(Model):
    """What a source said. ``raw``: as it came; None where it is no longer kept."""

    version: int
    digest: str
    documents: tuple[ToolDoc, ...]
    skipped: tuple[str, ...] = ()
    at: datetime
    raw: bytes | None = None


class UndoState(Model):
    """What a step found, for undoing it. A tool that is None was not there."""

    tools: dict[str, StoredTool | None]
    version: int
    changes: tuple[ToolChange, ...]
    operations: OperationChoice | None = None
    """None in steps that were kept before there were choices."""


class SourceStep(Model):
    """Something that was done. ``who``: empty where the server did it by itself. ``undoable``: undoing it brings back what was."""

    id: str
    at: datetime
    user_id: str | None
    who: str
    by_admin: bool
    what: StepKind
    tools: tuple[ToolId, ...]
    reason: str
    undone: bool
    undoable: bool


class Actor(Model):
    """Who does something; ``user_id`` None: the server by itself."""

    user_id: str | None = None
    name: str = ""
    admin: bool = False


SERVER = Actor(admin=True)
"""The server itself: a watch, a refresh that found a change."""


@dataclass(frozen=True, slots=True)
class LockedSource:
    """A source as it is within a transaction. ``last``: the latest step that can be undone, with what it found."""

    source: Source
    tools: Mapping[ToolId, StoredTool]
    last_undoable: tuple[SourceStep, UndoState] | None
    last_reading: int


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What is to be written. ``tools``: those that are others now, by id; None takes one away. ``undoes``: the id of the step that it undoes.

    ``keep``: whether it can be undone; ``told``: whether the history tells of it.
    """

    what: StepKind
    reason: str = ""
    source: Source | None = None
    tools: Mapping[ToolId, StoredTool | None] = field(default_factory=dict[ToolId, "StoredTool | None"])
    named_tools: tuple[ToolId, ...] = ()
    reading: SourceReading | None = None
    undoes: str = ""
    is_undoable: bool = True
    is_recorded: bool = True


@dataclass(frozen=True, slots=True)
class OfferChange:
    """What others have to follow after a step: documents that are offered now, tools that are not any more."""

    source: Source
    offered: tuple[ToolDoc, ...]
    withdrawn: tuple[ToolId, ...]


class SourceOffer(Model):
    """A tool that is offered, and whose it is."""

    source_id: str
    doc: ToolDoc


class SourceAccess(Model):
    """Who may see a source's tools, and whose keys their calls send."""

    id: str
    author_id: str | None
    visibility: Visibility
    roles: tuple[Role, ...]
    users: tuple[str, ...]
    keys_of: KeysOf


StateCounts = dict[str, int]
"""Tools of a source by state."""


_CHANGEABLE = frozenset(Source.model_fields) - {"author", "checking", "id", "author_id", "created_at"}


def to_source(row: SourceRow, author: str | None) -> Source:
    """The source in a row."""
    return to_model(Source, row, author=author or "", checking=row.check_worker is not None)


def write_source(row: SourceRow, source: Source) -> None:
    """Write what a step may change of it. Who checks it is written elsewhere."""
    given = source.model_dump(mode="python", include=set(_CHANGEABLE))
    given["changes"] = [one.model_dump(mode="json") for one in source.changes]
    given["credentials"] = [one.model_dump(mode="json") for one in source.credentials]
    given["operations"] = source.operations.model_dump(mode="json")
    given |= {"roles": list(source.roles), "users": list(source.users), "notes": list(source.notes)}
    for name, value in given.items():
        setattr(row, name, value)


def build_source_row(source: Source) -> SourceRow:
    """A row for a new one."""
    row = SourceRow(id=source.id, author_id=source.author_id, created_at=source.created_at)
    write_source(row, source)
    return row


def write_tool(row: SourceToolRow, tool: StoredTool) -> None:
    """Write all of it."""
    given: dict[str, Any] = tool.model_dump(mode="json", exclude={"tool", "original", "offer"})
    given["original"] = tool.original.model_dump(mode="json", exclude_defaults=True)
    given["offer"] = None if tool.offer is None else tool.offer.model_dump(mode="json", exclude_defaults=True)
    for name, value in given.items():
        setattr(row, name, value)
    row.offered_as = tool.offer.id if tool.offer is not None else None


def build_reading_row(source_id: str, reading: SourceReading) -> SourceReadingRow:
    """A row for a new one."""
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
    """What was done."""
    return to_model(SourceStep, row, undoable=row.before is not None and not row.undone)


def to_undo_state(row: SourceStepRow) -> UndoState | None:
    """What it found."""
    return None if row.before is None else UndoState.model_validate(row.before)
