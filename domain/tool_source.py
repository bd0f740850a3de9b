"""Tool sources: custom APIs and MCP servers.

Here are the operations that a source takes from its document, the states of its tools, and the findings of the
admission gate.
"""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field
from pydantic.types import JsonValue

from domain.model import JsonObject, Model
from domain.side_effect import DeclaredEffect
from domain.tool import ToolId

SourceKind = Literal["form", "openapi", "mcp"]
"""Kind of a tool source.

``form``: entered by hand; ``openapi``: an OpenAPI or Swagger document; ``mcp``: a server of the Model Context Protocol.
"""

ToolState = Literal["draft", "tested", "admitted", "quarantined"]
"""How far a tool of a source has come.

``draft``: read but not checked; ``tested``: checked by the gate; ``admitted``: offered to the source's users;
``quarantined``: blocked, for a stated reason.
"""

SOURCE_MARK = "source:"
"""Prefix of ``ToolDoc.source`` in documents from a tool source, followed by the source's id."""


def make_source_mark(source_id: str) -> str:
    """Return the value of ``ToolDoc.source`` in documents of a tool source."""
    return f"{SOURCE_MARK}{source_id}"


def parse_source_id(mark: str) -> str | None:
    """Return the id of the tool source that a document is from; None if it was imported."""
    return mark.removeprefix(SOURCE_MARK) if mark.startswith(SOURCE_MARK) else None


Visibility = Literal["everybody", "roles", "users"]
KeyOwner = Literal["caller", "source"]
"""Whose keys calls send: those of the person who asks, or those stored with the source."""

CheckName = Literal["document", "address", "name", "auth", "probe", "quality", "findable"]
"""The checks of the gate, in their order.

``document``: the document itself; ``address``: where its calls would go; ``name``: names that others have; ``auth``:
keys; ``probe``: a live call; ``quality``: whether the documents say enough; ``findable``: whether requests made up
for a tool find it.
"""
CHECKS: tuple[CheckName, ...] = ("document", "address", "name", "auth", "probe", "quality", "findable")
CheckVerdict = Literal["passed", "warned", "failed", "skipped"]


class Finding(Model):
    """The result of one check of a tool."""

    check: CheckName
    verdict: CheckVerdict
    told: str
    """The result in a sentence."""
    advice: str = ""
    """What to do, if the check did not pass."""
    evidence: JsonObject = Field(default_factory=dict[str, JsonValue])
    """What the check observed."""

    @property
    def is_blocking(self) -> bool:
        """True if it prevents the tool from being admitted."""
        return self.verdict == "failed"


class Corrections(Model):
    """Statements of an author or administrator that override a source's document.

    They stay when the document is fetched again.
    """

    description: str | None = None
    side_effect: DeclaredEffect | None = None
    examples: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Values by parameter name."""
    entities: dict[str, str] = Field(default_factory=dict[str, str])
    """The entity of a parameter, by name, or of a response field, by path."""


ChangeKind = Literal["added", "removed", "schema", "auth", "method", "host", "description"]


class ToolChange(Model):
    """A difference of a tool between two readings of its source."""

    tool: ToolId
    kind: ChangeKind
    told: str
    """The difference in a sentence that names the place."""
    breaks: bool
    """Calls that were right may now be wrong or go elsewhere, so the tool is blocked until someone has reviewed it."""


NO_TAG = ""
"""Among the tags of a choice, stands for operations without a tag."""


class Operation(Model):
    """One operation as its document lists it."""

    method: str
    """In upper case."""
    path: str
    """As it is written in the document, with ``{name}`` for its parameters."""
    name: str = ""
    """Its ``operationId``; empty where it has none."""
    tags: tuple[str, ...] = ()
    summary: str = ""
    deprecated: bool = False

    @property
    def label(self) -> str:
        """The text that selects this operation alone: its name, or ``METHOD /path``."""
        return self.name or f"{self.method} {self.path}"


class OperationChoice(Model):
    """The operations that a source takes from its document.

    An operation is taken when its tag, its path or its name is chosen, and its method is one of ``methods``. An empty ``methods`` allows
    every method; with ``tags``, ``paths`` and ``names`` all empty, only the method decides. An empty choice takes everything.
    """

    tags: tuple[str, ...] = ()
    """:data:`NO_TAG` stands for operations without a tag."""
    paths: tuple[str, ...] = ()
    """Beginnings of paths, in whole segments: ``/repos`` covers ``/repos`` and ``/repos/{id}``, not ``/reposts``."""
    methods: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Single operations, by :attr:`Operation.label` or ``METHOD /path``."""

    @property
    def is_empty(self) -> bool:
        """True if nothing is chosen, so that every operation is taken."""
        return not (self.tags or self.paths or self.methods or self.names)

    def select(self, operations: Iterable[Operation]) -> list[Operation]:
        """Return the operations that are taken, in their order."""
        tags, names = frozenset(self.tags), frozenset(self.names)
        methods = frozenset(method.upper() for method in self.methods)
        # A slash at the end of both keeps ``/repos`` from covering ``/reposts``.
        prefixes = tuple(path.rstrip("/") + "/" for path in self.paths)
        is_unrestricted = not (tags or names or prefixes)
        return [
            operation
            for operation in operations
            if (not methods or operation.method in methods)
            and (
                is_unrestricted
                or not tags.isdisjoint(operation.tags or (NO_TAG,))
                or (operation.path + "/").startswith(prefixes)
                or operation.name in names
                or f"{operation.method} {operation.path}" in names
            )
        ]


class TagCount(Model):
    """A tag with the number of operations that have it."""

    tag: str
    count: int


class OperationOutline(Model):
    """The operations that a document lists, to choose from."""

    title: str
    total: int
    """Number of operations in the document; ``operations`` is cut if there are very many."""
    operations: tuple[Operation, ...]
    tags: tuple[TagCount, ...]
    """Tags of the most operations first."""
