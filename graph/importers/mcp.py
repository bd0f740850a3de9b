"""Import of an MCP server's tool listing. A server's statements about its own tools are not trusted."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from domain.side_effect import MCP, DeclaredEffect
from domain.tool import Credential, Hint, ToolDoc, ToolId, make_tool_id
from graph.function_names import build_function_name
from graph.importers.mcp_inputs import MAX_NAME, read_inputs
from graph.importers.openapi_nodes import Schema, to_mapping
from graph.importers.openapi_parameters import to_single_line
from graph.importers.openapi_responses import render_schema
from graph.importers.openapi_schema import SchemaResolver, UnsupportedError

MAX_TOOLS = 500
"""Tools read from one server; the others are reported as left out."""
MAX_TOOL = 131_072
"""Characters of one tool of a listing, as JSON."""
MAX_DESCRIPTION = 4_000
MAX_VISITS = 300_000
"""Schemas visited for one listing."""
_MAX_SKIPPED = 100
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
class McpListing:
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


def read_listing(tools: Iterable[object], source: McpSource) -> McpListing:
    """Read the tools of a listing in order; a tool that cannot be called is reported in ``skipped``.

    No annotation makes a tool count as read-only. :attr:`ToolDoc.hints` keeps the annotations for an author, who may
    confirm them.
    """
    docs: dict[ToolId, ToolDoc] = {}
    skipped: list[str] = []
    budget = _VisitBudget()
    excess = 0
    for entry in tools:
        if len(docs) >= MAX_TOOLS:
            excess += 1
            continue
        try:
            doc, notes = _build_doc(to_mapping(entry), source, budget)
            if doc.id in docs:
                raise UnsupportedError("another tool of the server has the same name")
        except UnsupportedError as error:
            skipped.append(f"{_format_name(entry)} is left out: {error}")
            continue
        docs[doc.id] = doc
        skipped += [f"{_format_name(entry)}: {note}" for note in notes]
    if excess:
        skipped.append(f"{excess} more tools are left out: of one server {MAX_TOOLS} are read")
    return McpListing(tuple(docs.values()), _cap_skipped(skipped))


def _cap_skipped(skipped: Sequence[str]) -> tuple[str, ...]:
    """Cut the list of reasons, and say how many are missing."""
    excess = len(skipped) - _MAX_SKIPPED
    return (*skipped[:_MAX_SKIPPED], f"{excess} more are left out") if excess > 0 else tuple(skipped)


def _format_name(entry: object) -> str:
    return to_single_line(to_mapping(entry).get("name"), MAX_NAME) or "a tool without a name"


def _build_doc(entry: Schema, source: McpSource, budget: "_VisitBudget") -> tuple[ToolDoc, tuple[str, ...]]:
    """Return the document of a tool, and notes on the parts of its input that are not imported."""
    name = entry.get("name")
    if not isinstance(name, str) or not name or len(name) > MAX_NAME or not name.isprintable():
        raise UnsupportedError(f"its name must be 1 to {MAX_NAME} printable characters")
    if _measure_size(entry) > MAX_TOOL:
        raise UnsupportedError(f"its document is longer than {MAX_TOOL} characters")
    if to_mapping(entry.get("execution")).get("taskSupport") == "required":
        raise UnsupportedError("it can be called as a task only, and tasks are not supported")
    hints = read_hints(entry)
    inputs = budget.read_schema(entry.get("inputSchema"), read_inputs)
    doc = ToolDoc(
        id=make_tool_id(source.category, source.toolset, name),
        category=source.category,
        toolset=source.toolset,
        api=name,
        function=build_function_name(name, source.toolset),
        method=MCP,
        url=source.url,
        description=_build_description(entry),
        toolset_description=to_single_line(source.about, MAX_DESCRIPTION),
        parameters=inputs.parameters,
        response_schema=budget.read_schema(entry.get("outputSchema"), _read_response_schema),
        source=f"mcp:{source.name or source.toolset}",
        credentials=source.credentials,
        side_effect=_infer_side_effect(hints),
        hints=hints,
    )
    return doc, inputs.notes


def read_hints(entry: Schema) -> tuple[Hint, ...]:
    """Return the hints that a tool's annotations give, in a fixed order. Annotations with other values give none."""
    annotations = to_mapping(entry.get("annotations"))
    return tuple(
        hint for (name, value), hint in _HINTS.items() if annotations.get(name) is value
    )  # fmt: skip


def _infer_side_effect(hints: Sequence[Hint]) -> DeclaredEffect:
    """Return ``changes`` if the server says that the tool changes something. No other statement is believed."""
    return "changes" if {"changes", "destroys"} & set(hints) else ""


def _build_description(entry: Schema) -> str:
    title = entry.get("title") or to_mapping(entry.get("annotations")).get("title")
    parts = (to_single_line(title, MAX_NAME), to_single_line(entry.get("description"), MAX_DESCRIPTION))
    return ". ".join(part for part in parts if part)[:MAX_DESCRIPTION]


T = TypeVar("T")


class _VisitBudget:
    """Budget of schema visits that all schemas of one listing share, each of which is a document of its own."""

    def __init__(self) -> None:
        self._remaining = MAX_VISITS

    def read_schema(self, value: object, read: Callable[[SchemaResolver, Schema], T]) -> T:
        """Read something from a schema; once the budget is spent, at less depth."""
        schema = to_mapping(value)
        schemas = SchemaResolver(schema, self._remaining)
        try:
            return read(schemas, schema)
        finally:
            self._remaining = schemas.remaining_visits


def _read_response_schema(schemas: SchemaResolver, schema: Schema) -> str | None:
    """Return the shape of the tool's answers; None for an unreadable schema, since a call does not need it."""
    if not schema:
        return None
    try:
        return render_schema(schemas, schema)
    except UnsupportedError:
        return None


def _measure_size(value: Any) -> int:
    try:
        return len(orjson.dumps(value))
    except orjson.JSONEncodeError as error:
        raise UnsupportedError("its document is no JSON that can be kept") from error
