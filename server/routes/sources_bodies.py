"""What is sent about sources of tools, and what is answered."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, StringConstraints, model_validator

from domain.model import JsonObject
from domain.side_effect import DeclaredEffect
from domain.tool import ToolDoc, ToolId
from domain.tool_source import (
    Corrections,
    Finding,
    KeyOwner,
    Operation,
    OperationChoice,
    SourceKind,
    TagCount,
    ToolChange,
    ToolState,
    Visibility,
)
from server.routes.texts import Plain, RowId, ToolName
from server.sources.documents import offered_document
from server.sources.forms import FormCredential, FormParameter, Method
from server.sources.states import called
from server.storage.accounts import Role
from server.storage.source_records import Source, SourceStep, StepKind, StoredTool

Name = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True), Plain]
Address = Annotated[str, StringConstraints(max_length=2000, strip_whitespace=True), Plain]
LongText = Annotated[str, StringConstraints(max_length=20_000), Plain]
Reason = Annotated[str, StringConstraints(max_length=1000, strip_whitespace=True), Plain]
GivenReason = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True), Plain]
Minutes = Annotated[int, Field(ge=0, le=525_600, description="How often it is read again; 0: never by itself.")]
Users = Annotated[list[RowId], Field(max_length=200)]
Requests = Annotated[list[Annotated[str, StringConstraints(max_length=1000), Plain]], Field(max_length=20)]
Tools = Annotated[list[ToolName], Field(max_length=10_000)]


class FormParameterBody(FormParameter):
    name: Name
    description: LongText = ""
    enum: tuple[JsonValue, ...] = Field(default=(), max_length=500)


class FormCredentialBody(FormCredential):
    secret: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_.-]+$")]
    name: Annotated[str, StringConstraints(max_length=200, pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")] = "Authorization"
    prefix: Annotated[str, StringConstraints(max_length=50, pattern=r"^[ -~]*$")] = ""


class FormToolBody(BaseModel):
    """A tool that is written by hand. ``url``: whole, or from a slash on where there is a ``base_url``; ``{name}`` in it is an input."""

    name: Name
    method: Method = "GET"
    url: Annotated[str, StringConstraints(min_length=1, max_length=2000, strip_whitespace=True), Plain]
    description: LongText = ""
    parameters: tuple[FormParameterBody, ...] = Field(default=(), max_length=200)
    example_response: LongText = ""
    credentials: tuple[FormCredentialBody, ...] = Field(default=(), max_length=10)
    side_effect: DeclaredEffect = ""


Tag = Annotated[str, StringConstraints(max_length=200), Plain]
Label = Annotated[str, StringConstraints(min_length=1, max_length=500), Plain]


class OperationsBody(OperationChoice):
    """Which operations a source takes of its document: those of these ``tags`` (``""``: without a tag), under these ``paths`` (``/repos`` covers
    ``/repos/{id}``), or with these ``names`` (an ``operationId``, or ``GET /path``); of them only those called by one of ``methods``, where
    some are named. All of them, where nothing is named.
    """

    tags: Annotated[tuple[Tag, ...], Field(max_length=1000)] = ()
    paths: Annotated[tuple[Label, ...], Field(max_length=100)] = ()
    methods: Annotated[tuple[Label, ...], Field(max_length=20)] = ()
    names: Annotated[tuple[Label, ...], Field(max_length=5000)] = ()


class SentDocument(BaseModel):
    """A document that was sent by itself. ``id``: what a new source, or another reading, names as its ``document_id``."""

    id: str
    bytes: int


class OutlineBody(BaseModel):
    """The document whose operations are listed: its text, its address, or the id under which it was sent."""

    document: Annotated[str, Plain] = ""
    document_id: RowId | None = None
    address: Address = ""

    @model_validator(mode="after")
    def _is_one(self) -> "OutlineBody":
        if sum(map(bool, (self.document, self.document_id, self.address))) != 1:
            raise ValueError("give one of document, document_id and address")
        return self


class ShownOutline(BaseModel):
    """The operations that a document lists. ``total``: of the whole document, of which ``operations`` names the first; ``most``: that a source
    may have. ``tags``: how many operations have each, the largest first; ``""``: none.
    """

    title: str
    total: int
    most: int
    operations: list[Operation]
    tags: list[TagCount]


class NewSource(BaseModel):
    """``form``: with ``tools``; ``openapi``: with the text of a ``document``, the ``document_id`` of one that was sent before, or its
    ``address``; ``mcp``: with the server's ``address``, or the name of a ``command`` that this server may start.
    """

    name: Name
    kind: SourceKind
    category: Name
    toolset: Annotated[str, StringConstraints(max_length=100, strip_whitespace=True), Plain] = ""
    document: Annotated[str, Plain] | None = None
    document_id: RowId | None = None
    address: Address = ""
    command: Annotated[str, StringConstraints(max_length=100, strip_whitespace=True), Plain] = ""
    tools: list[FormToolBody] = Field(default_factory=list[FormToolBody], max_length=500)
    base_url: Address = ""
    operations: OperationsBody = Field(default_factory=OperationsBody)
    credentials: list[FormCredentialBody] = Field(
        default_factory=list[FormCredentialBody], max_length=10, description="Keys that an MCP server is asked with."
    )
    visibility: Visibility = "everybody"
    roles: list[Role] = Field(default_factory=list[Role], max_length=3)
    users: Users = Field(default_factory=list[str])
    keys_of: KeyOwner = "caller"
    watch_minutes: Minutes = 0

    @model_validator(mode="after")
    def _goes_together(self) -> "NewSource":
        given = {name for name in ("document", "document_id", "address", "command", "tools") if getattr(self, name)}
        wanted = {
            "form": [{"tools"}],
            "openapi": [{"document"}, {"address"}, {"document_id"}],
            "mcp": [{"address"}, {"command"}],
        }[self.kind]
        if given not in wanted:
            said = " or ".join(next(iter(one)) for one in wanted)
            raise ValueError(
                f"a source of kind {self.kind} needs {said}, and nothing else of document, document_id, address, command and tools"
            )
        if self.kind != "openapi" and not self.operations.is_empty:
            raise ValueError("operations are chosen of an OpenAPI document only; leave them out")
        return self


class SourceBody(BaseModel):
    """What is left out stays as it is. ``address`` and ``base_url`` count when the source is read again."""

    name: Name | None = None
    address: Address | None = None
    base_url: Address | None = None
    visibility: Visibility | None = None
    roles: Annotated[list[Role], Field(max_length=3)] | None = None
    users: Users | None = None
    keys_of: KeyOwner | None = None
    watch_minutes: Minutes | None = None


class ToolCounts(BaseModel):
    """Tools of a source by state."""

    draft: int = 0
    tested: int = 0
    admitted: int = 0
    quarantined: int = 0


class ShownSource(BaseModel):
    """``author``: empty once that account is gone. ``trouble``: why it could not be read last; ``notes``: what could not be taken of it; ``changes``: of its tools, which nobody has looked
    at; ``checked`` of ``to_check``: tools that the gate has looked at, while it is ``checking``; ``check_trouble``: why it stopped early.
    """

    id: str
    name: str
    kind: SourceKind
    category: str
    toolset: str
    address: str
    command: str
    author_id: str | None
    author: str
    base_url: str
    operations: OperationChoice
    visibility: Visibility
    roles: list[Role]
    users: list[str]
    keys_of: KeyOwner
    watch_minutes: int
    version: int
    created_at: datetime
    read_at: datetime | None
    checked_at: datetime | None
    counts: ToolCounts
    trouble: str
    notes: list[str]
    changes: list[ToolChange]
    checking: bool
    check_trouble: str
    checked: int
    to_check: int


class SourceTool(BaseModel):
    """``document``: as it is offered, or would be; ``original``: as its source says it. ``reason``: why it is in its state. ``called``: the gate has
    called it as its document is now, and that did not fail. ``held``: an administrator keeps it out. ``gone``: its source does not name it any more. ``links``: whether what feeds it, and what it feeds, is known ``fully_linked``, or
    only ``partly``, as in a large store right after it was admitted: half a minute after the last change it is computed whole, or by the next build.
    """

    tool: str
    function: str
    state: ToolState
    reason: str
    document: ToolDoc
    original: ToolDoc
    corrections: Corrections
    findings: list[Finding]
    version: int
    called: bool
    offered: bool
    held: bool
    gone: bool
    links: Literal["", "partly", "wholly"]


class CorrectionsBody(Corrections):
    """All of them: what is left out is as the source's document says."""

    description: LongText | None = None
    examples: dict[Name, JsonValue] = Field(default_factory=dict[str, JsonValue], max_length=200)
    entities: dict[Name, Name] = Field(default_factory=dict[str, str], max_length=200)
    reason: Reason = ""


class AdmitBody(BaseModel):
    """``tools``: empty for all that passed: that the gate has looked at and called (``called``). What it did not call, as what changes something, is
    admitted only by name. ``despite``: an administrator's reason to admit some whose quality or findability did not pass.
    """

    tools: Tools = Field(default_factory=list[str])
    despite: Reason = ""


class QuarantineBody(BaseModel):
    tools: Annotated[list[ToolName], Field(min_length=1, max_length=10_000)]
    reason: GivenReason


class CheckBody(BaseModel):
    """``tools``: empty for all. ``requests``: by tool, how people would ask for it; ``arguments``: by tool, those of its live call.
    ``allow_changes``: tools that change something are called as well, with an account for tests, which ``account_note`` names.
    """

    tools: Tools = Field(default_factory=list[str])
    requests: Annotated[dict[ToolName, Requests], Field(max_length=1000)] = Field(default_factory=dict[str, list[str]])
    arguments: Annotated[dict[ToolName, JsonObject], Field(max_length=1000)] = Field(
        default_factory=dict[str, JsonObject]
    )
    allow_changes: bool = False
    account_note: Reason = ""


class ReadAgainBody(BaseModel):
    """``document``, or the ``document_id`` of one that was sent: in place of what stands at the source's address; ``tools``: of a source that is written by hand."""

    document: Annotated[str, Plain] | None = None
    document_id: RowId | None = None
    tools: Annotated[list[FormToolBody], Field(min_length=1, max_length=500)] | None = None


class ReasonOfTool(BaseModel):
    tool: str
    reason: str


class QualityRow(BaseModel):
    """Of one category: how many tools have documents that say enough, how many do not, and why."""

    category: str
    kept: int
    dropped: int
    reasons: list[ReasonOfTool]


class ShownTouched(BaseModel):
    """A tool that has changed, and what rests on it. ``others``: solutions and templates of others, which are not named."""

    tool: str
    change: str
    solutions: list[str]
    templates: list[str]
    others: int


class ShownStep(BaseModel):
    """``who``: empty where the server did it by itself. ``undoable``: it can be undone, once those after it are."""

    id: str
    at: datetime
    who: str
    what: StepKind
    tools: list[str]
    reason: str
    undone: bool
    undoable: bool


class UserName(BaseModel):
    id: str
    name: str
    role: Role


_OWN = set(ShownSource.model_fields) - {"counts", "changes"}


def shown_source(source: Source, counts: dict[str, int]) -> ShownSource:
    """As it is answered."""
    own = source.model_dump(include=_OWN)
    return ShownSource(**own, counts=ToolCounts(**counts), changes=list(source.changes))


def shown_tool(kept: StoredTool, source_id: str, partly: Collection[ToolId] = ()) -> SourceTool:
    """As it is answered. ``partly``: tools whose links are not whole yet."""
    links = "partly" if kept.tool in partly else "wholly"
    return SourceTool(
        tool=kept.tool,
        function=kept.original.function,
        state=kept.state,
        reason=kept.reason,
        document=kept.offer or offered_document(kept, source_id),
        original=kept.original,
        corrections=kept.corrections,
        findings=list(kept.findings),
        version=kept.version,
        called=called(kept),
        offered=kept.offer is not None,
        held=kept.held,
        gone=kept.gone,
        links=links if kept.offer is not None else "",
    )


def shown_step(step: SourceStep) -> ShownStep:
    """As it is answered."""
    return ShownStep(**step.model_dump(include=set(ShownStep.model_fields)))
