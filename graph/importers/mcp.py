"""Import of an MCP server's tool listing, given as plain JSON. A server's statements about its tools are not trusted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from domain.side_effect import MCP, Said
from domain.tool import Credential, Hint, ToolDoc, ToolId, tool_id
from graph.function_names import function_name
from graph.importers.mcp_inputs import MAX_NAME, read_inputs
from graph.importers.openapi_nodes import Schema, mapping
from graph.importers.openapi_parameters import line
from graph.importers.openapi_responses import schema_text
from graph.importers.openapi_schema import Schemas, UnsupportedError

MOST_TOOLS = 500
"""Tools read from one server; the others are reported as left out."""
MAX_TOOL = 131_072
"""Characters of one tool of a listing, as JSON."""
MAX_DESCRIPTION = 4_000
MAX_VISITS = 300_000
"""Schemas visited for one listing."""
_MOST_TOLD = 100
_HINTS: dict[tuple[str, bool], Hint] = {
    ("readOnlyHint", True): "reads",
    ("readOnlyHint", False): "changes",
    ("destructiveHint", True): "destroys",
    ("destructiveHint", False): "adds",
    ("idempotentHint", True): "repeats",
    ("openWorldHint", True): "open",
    ("openWorldHint", False): "closed",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """Tools of an MCP server."""

    docs: tuple[ToolDoc, ...] = ()
    skipped: tuple[str, ...] = ()
    """Parts of the listing or of a tool's input that were left out, each with its reason."""


@dataclass(frozen=True, slots=True)
class McpSource:
    """MCP server whose tools are read."""

    url: str
    """The server's address, or ``stdio:NAME``."""
    category: str
    toolset: str
    about: str = ""
    """The server's description of itself."""
    credentials: tuple[Credential, ...] = ()
    name: str = ""


def read_listing(tools: Iterable[object], source: McpSource) -> Listing:
    """Read the tools of a listing in order; a tool that cannot be called is reported in ``skipped``.

    No annotation makes a tool count as read-only. :attr:`ToolDoc.hints` keeps the annotations for an author, who may confirm them.
    """
    docs: dict[ToolId, ToolDoc] = {}
    skipped: list[str] = []
    visits = _Visits()
    beyond = 0
    for given in tools:
        if len(docs) >= MOST_TOOLS:
            beyond += 1
            continue
        try:
            doc, notes = _doc(mapping(given), source, visits)
            if doc.id in docs:
                raise UnsupportedError("another tool of the server has the same name")
        except UnsupportedError as error:
            skipped.append(f"{_shown_name(given)} is left out: {error}")
            continue
        docs[doc.id] = doc
        skipped += [f"{_shown_name(given)}: {note}" for note in notes]
    if beyond:
        skipped.append(f"{beyond} more tools are left out: of one server {MOST_TOOLS} are read")
    return Listing(tuple(docs.values()), _bounded(skipped))


def _bounded(skipped: Sequence[str]) -> tuple[str, ...]:
    """Cut the list of reasons, and say how many are missing."""
    more = len(skipped) - _MOST_TOLD
    return (*skipped[:_MOST_TOLD], f"{more} more are left out") if more > 0 else tuple(skipped)


def _shown_name(given: object) -> str:
    return line(mapping(given).get("name"), MAX_NAME) or "a tool without a name"


def _doc(given: Schema, source: McpSource, visits: "_Visits") -> tuple[ToolDoc, tuple[str, ...]]:
    """Return the document of a tool, and notes on the parts of its input that are not imported."""
    name = given.get("name")
    if not isinstance(name, str) or not name or len(name) > MAX_NAME or not name.isprintable():
        raise UnsupportedError(f"its name must be 1 to {MAX_NAME} printable characters")
    if _size(given) > MAX_TOOL:
        raise UnsupportedError(f"its document is longer than {MAX_TOOL} characters")
    if mapping(given.get("execution")).get("taskSupport") == "required":
        raise UnsupportedError("it can be called as a task only, and tasks are not supported")
    hints = hints_of(given)
    inputs = visits.of(given.get("inputSchema"), read_inputs)
    doc = ToolDoc(
        id=tool_id(source.category, source.toolset, name),
        category=source.category,
        toolset=source.toolset,
        api=name,
        function=function_name(name, source.toolset),
        method=MCP,
        url=source.url,
        description=_description(given),
        toolset_description=line(source.about, MAX_DESCRIPTION),
        parameters=inputs.parameters,
        response_schema=visits.of(given.get("outputSchema"), _response),
        source=f"mcp:{source.name or source.toolset}",
        credentials=source.credentials,
        side_effect=_said(hints),
        hints=hints,
    )
    return doc, inputs.notes


def hints_of(given: Schema) -> tuple[Hint, ...]:
    """Return the hints that a tool's annotations give, in a fixed order. Annotations with other values give none."""
    annotations = mapping(given.get("annotations"))
    return tuple(
        hint for (name, value), hint in _HINTS.items() if annotations.get(name) is value
    )  # fmt: skip


def _said(hints: Sequence[Hint]) -> Said:
    """Return ``changes`` if the server says that the tool changes something. No other statement is believed."""
    return "changes" if {"changes", "destroys"} & set(hints) else ""


def _description(given: Schema) -> str:
    title = given.get("title") or mapping(given.get("annotations")).get("title")
    parts = (line(title, MAX_NAME), line(given.get("description"), MAX_DESCRIPTION))
    return ". ".join(part for part in parts if part)[:MAX_DESCRIPTION]


T = TypeVar("T")


class _Visits:
    """Budget of schema visits shared by all schemas of one listing, which are documents of their own and may be many."""

    def __init__(self) -> None:
        self._left = MAX_VISITS

    def of(self, given: object, read: Callable[[Schemas, Schema], T]) -> T:
        """Read something from a schema; once the budget is spent, at less depth."""
        schema = mapping(given)
        schemas = Schemas(schema, self._left)
        try:
            return read(schemas, schema)
        finally:
            self._left = schemas.left


def _response(schemas: Schemas, schema: Schema) -> str | None:
    """Return the shape of the tool's answers; None for an unreadable schema, since a call does not need it."""
    if not schema:
        return None
    try:
        return schema_text(schemas, schema)
    except UnsupportedError:
        return None


def _size(given: Any) -> int:
    try:
        return len(orjson.dumps(given))
    except orjson.JSONEncodeError as error:
        raise UnsupportedError("its document is no JSON that can be kept") from error
