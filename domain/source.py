"""Sources of tools: custom APIs and MCP servers, the states that their tools pass, and what the gate found out about them."""

from typing import Literal

from pydantic import Field
from pydantic.types import JsonValue

from domain.model import JsonObject, Model
from domain.side_effect import Said
from domain.tool import ToolId

SourceKind = Literal["form", "openapi", "mcp"]
"""``form``: written by its author by hand; ``openapi``: an OpenAPI or Swagger document; ``mcp``: a server of the Model Context Protocol."""

ToolState = Literal["draft", "tested", "admitted", "quarantined"]
"""``draft``: read and not looked at; ``tested``: the gate has looked; ``admitted``: it is offered to whom the source is for;
``quarantined``: kept out, with a reason.
"""

SOURCE_MARK = "source:"
"""What the ``source`` of a document begins with that a source of tools gave, before the source's id."""


def source_mark(source_id: str) -> str:
    """What stands as ``ToolDoc.source`` in the documents of a source of tools."""
    return f"{SOURCE_MARK}{source_id}"


def source_id_of(mark: str) -> str | None:
    """The id of the source of tools that a document is from; None where an import gave it."""
    return mark.removeprefix(SOURCE_MARK) if mark.startswith(SOURCE_MARK) else None


Visibility = Literal["everybody", "roles", "users"]
KeysOf = Literal["caller", "source"]
"""Whose keys its calls send: those of who asks, or those that were kept with the source."""

CheckName = Literal["document", "address", "name", "auth", "probe", "quality", "findable"]
"""The checks of the gate, in their order: the document itself; where its calls would go; names that others have; keys; a live call;
whether its documents say enough; whether requests made for it find it.
"""
CHECKS: tuple[CheckName, ...] = ("document", "address", "name", "auth", "probe", "quality", "findable")
Verdict = Literal["passed", "warned", "failed", "skipped"]


class Finding(Model):
    """What one check found out about a tool. ``told``: in a sentence; ``advice``: what to do, where it did not pass; ``evidence``: what it saw."""

    check: CheckName
    verdict: Verdict
    told: str
    advice: str = ""
    evidence: JsonObject = Field(default_factory=dict[str, JsonValue])

    @property
    def stops(self) -> bool:
        """Whether a tool with it is not admitted."""
        return self.verdict == "failed"


class Corrections(Model):
    """What an author or administrator says in place of a source's document. They stay when the document is fetched again.

    ``examples``: a value by a parameter's name; ``entities``: by a parameter's name or a response field's path, the entity that it is of.
    """

    description: str | None = None
    side_effect: Said | None = None
    examples: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    entities: dict[str, str] = Field(default_factory=dict[str, str])


ChangeKind = Literal["added", "removed", "schema", "auth", "method", "host", "description"]


class ToolChange(Model):
    """How a tool differs between two readings of its source. ``told``: in a sentence that names the place.

    ``breaks``: calls that were right may now be wrong, or go elsewhere: the tool is kept out until somebody has looked.
    """

    tool: ToolId
    kind: ChangeKind
    told: str
    breaks: bool
