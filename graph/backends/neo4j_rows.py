"""Conversion between domain objects and the rows of the graph's Cypher statements. Performs no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from json import dumps, loads
from types import UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin
from urllib.parse import unquote

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from domain.errors import UsageError
from domain.tool import FINISH, ToolDoc, ToolId, split_tool_id
from graph.evidence import CallEvidence, fold_calls, fold_walks
from graph.facts import Edge, GraphBatch, GraphState, LiveBatch, LiveOutcome, Mark, Neighbour, ToolFacts, ToolLesson
from graph.links import FeedLink, SubstituteLink, ToolLinks, ToolNeighbourhood

Row = dict[str, Any]

MAX_NAME_BYTES = 8_000
"""Largest size of an id or function name in bytes: Neo4j's range index takes at most 8,167, overhead included."""


def build_document_rows(tools: Iterable[ToolDoc]) -> list[Row]:
    """Return rows of ``PUT_TOOLS``, ordered by id. Of several documents with one id, the last one counts."""
    return [_build_document_row(tool) for _, tool in sorted({tool.id: tool for tool in tools}.items())]


def _build_document_row(tool: ToolDoc) -> Row:
    category, toolset, _ = split_tool_id(tool.id)
    return {
        "id": _check_indexable(tool.id),
        "name": tool.api,
        "category": category,
        "toolset": tool.id.rpartition("/")[0],
        "toolset_name": toolset,
        "document": build_properties(tool) | {"function": _check_indexable(tool.function)},
    }


def build_imported_rows(batch: GraphBatch) -> list[Row]:
    """Return rows of ``ADD_IMPORTED_TOOLS``: every node of the batch with its counts, ordered by id."""
    tools = {*batch.nodes, *batch.calls, *batch.successes, *_collect_ends(batch.transitions)}
    return [
        _build_tool_row(tool) | {"calls": batch.calls[tool], "successes": batch.successes[tool]}
        for tool in sorted(tools)
    ]


def build_live_rows(batch: LiveBatch) -> list[Row]:
    """Return rows of ``ADD_LIVE_TOOLS``, ordered by id: each tool of the run with its scores, signs and call evidence.

    A sign is 1 for a successful call and -1 for any other, in the order of the calls.
    """
    calls_by_tool = fold_calls(batch)
    tools = {*_collect_ends(batch.transitions), *calls_by_tool, *(tool for tool, _ in batch.scores)}
    return [
        _build_tool_row(tool)
        | asdict(calls_by_tool.get(tool, CallEvidence()))
        | {
            "called": tool in calls_by_tool,
            "scores": [float(score) for scored_tool, score in batch.scores if scored_tool == tool],
            "signs": [
                1.0 if outcome == "ok" else -1.0 for scored_tool, outcome in batch.outcomes if scored_tool == tool
            ],
        }
        for tool in sorted(tools)
    ]


def build_imported_edge_rows(transitions: Mapping[tuple[ToolId, ToolId], int]) -> list[Row]:
    """Return rows of ``ADD_IMPORTED_EDGES``, ordered by (source, target); a count of zero makes no edge."""
    return [
        {"source": source, "target": target, "count": count}
        for (source, target), count in sorted(transitions.items())
        if count
    ]


def build_walk_rows(batch: LiveBatch) -> tuple[list[Row], list[Row], list[Row]]:
    """Return rows of ``FADE_WALKS``, ``ADD_WALKS`` and ``TAKE_WALKS``, each ordered by (source, target)."""
    fading: list[Row] = []
    added: list[Row] = []
    weakened: list[Row] = []
    for source, walks in sorted(fold_walks(batch).items()):
        if walks.retained < 1:
            fading.append({"source": source, "kept": walks.retained})
        for target, gained in sorted(walks.gains.items()):
            row: Row = {"source": source, "target": target, "count": walks.counts.get(target, 0), "gained": gained}
            (weakened if gained < 0 else added).append(row)
    return fading, added, weakened


def build_facts_rows(state: GraphState) -> list[Row]:
    """Return rows of ``SET_TOOLS``, ordered by id: nodes with facts; ends of edges and lessons without any."""
    rows: dict[ToolId, Row] = {
        end: _build_tool_row(end) | {"facts": {}} for edge in state.edges for end in (edge.source, edge.target)
    }
    rows |= {tool: _build_tool_row(tool) | {"facts": {}} for tool, _ in state.lessons}
    rows |= {tool: _build_tool_row(tool) | {"facts": asdict(facts)} for tool, facts in state.nodes.items()}
    return [rows[tool] for tool in sorted(rows)]


def build_edge_rows(edges: Iterable[Edge]) -> list[Row]:
    """Return rows of ``SET_EDGES``, ordered by (source, target), of which the last edge each counts."""
    last_edges = {(edge.source, edge.target): asdict(edge) for edge in edges}
    return [last_edges[ends] for ends in sorted(last_edges)]


def build_lesson_rows(lessons: Iterable[tuple[ToolId, ToolLesson]]) -> list[Row]:
    """Return rows of ``KEEP_LESSONS``, ordered by (tool, run), of which the last lesson each counts."""
    last_lessons = {(tool, lesson.run): lesson for tool, lesson in lessons}
    return [
        {
            "id": tool,
            "run": run,
            "at": tool_lesson.moment,
            "score": tool_lesson.score,
            "outcomes": list(tool_lesson.outcomes),
        }
        for (tool, run), tool_lesson in sorted(last_lessons.items())
    ]


def to_lesson(at: str, run: str, score: float | None, outcomes: list[LiveOutcome]) -> ToolLesson:
    """Build the lesson of a row."""
    return ToolLesson(run, datetime.fromisoformat(at), score, tuple(outcomes))


def to_neighbour(
    tool: ToolId,
    target: ToolId,
    imported: int,
    live: int,
    mark: Mark | None,
    strength: float,
    resolved: bool,
    *facts: Any,
) -> Neighbour:
    """Build the neighbour of a row: an edge out of ``tool`` with the facts of its target."""
    return Neighbour(Edge(tool, target, imported, live, mark, strength), ToolFacts(*facts), resolved)


def to_substitute(tool: ToolId, other: ToolId, score: float, parameters: str) -> SubstituteLink:
    """Build the substitute link of a row."""
    return SubstituteLink(tool, other, score, loads(parameters))


def to_neighbourhood(tool: ToolId, *columns: Any) -> tuple[ToolId, ToolNeighbourhood]:
    """Build the neighbourhood of a row of ``AROUND``, with its tool."""
    *facts, properties, out, into, feeds, substitutes = columns
    return tool, ToolNeighbourhood(
        facts=ToolFacts(*facts),
        document=to_tool_doc(properties) if properties else None,
        out=[to_neighbour(tool, *row) for row in out],
        into=[Edge(source, tool, *counts) for source, *counts in into],
        feeds=[FeedLink(*row) for row in feeds],
        substitutes=[to_substitute(*row) for row in substitutes],
    )


def build_link_rows(links: Iterable[ToolLinks]) -> tuple[list[str], list[Row], list[Row]]:
    """Return the ordered ids of the tools, and rows of ``PUT_FEEDS`` and ``PUT_SUBSTITUTES`` without duplicates."""
    links_by_tool = {tool_links.tool: tool_links for tool_links in links}
    feeds = {
        (feed.source, feed.target, feed.parameter, feed.field): asdict(feed)
        for tool in sorted(links_by_tool)
        for feed in links_by_tool[tool].feeds
    }
    pairs: dict[tuple[ToolId, ToolId], Row] = {
        (pair.one, pair.other): {
            "one": pair.one,
            "other": pair.other,
            "score": pair.score,
            "parameters": dumps(dict(pair.parameters)),
        }
        for tool in sorted(links_by_tool)
        for pair in links_by_tool[tool].substitutes
    }
    return sorted(links_by_tool), list(feeds.values()), list(pairs.values())


def _collect_ends(transitions: Mapping[tuple[ToolId, ToolId], int]) -> set[ToolId]:
    return {tool for pair in transitions for tool in pair}


def _build_tool_row(tool: ToolId) -> Row:
    label = "Finish" if tool == FINISH else "Unresolved"
    return {"id": _check_indexable(tool), "name": unquote(tool.rpartition("/")[2]), "label": label}


def _check_indexable(name: str) -> str:
    """Return the name; raise ``UsageError`` if it is too long for an index."""
    if (size := len(name.encode())) > MAX_NAME_BYTES:
        raise UsageError(f"{name[:60]!r}… has {size} bytes; Neo4j holds names of at most {MAX_NAME_BYTES}. Shorten it")
    return name


Properties = dict[str, Any]

_PROPERTY_NAMES = {"api": "name"}
"""Property names of fields that are stored under another name."""


def _is_plain(field: FieldInfo) -> bool:
    """Return whether a field is stored as it is: text or bool, and None only if that is the default.

    Every other type (integers, which Neo4j limits to 64 bits, models, tuples, mappings) is stored as JSON text.
    """
    value_types = _collect_types(field.annotation)
    return value_types <= {str, bool, type(None)} and (type(None) not in value_types or field.default is None)


def _collect_types(annotation: Any) -> set[Any]:
    """Return the types of an annotation's values, with unions, literals and new types resolved."""
    if isinstance(annotation, NewType):
        return _collect_types(annotation.__supertype__)
    if get_origin(annotation) is Literal:
        return {type(value) for value in get_args(annotation)}
    if get_origin(annotation) in (Union, UnionType):
        return {kind for member in get_args(annotation) for kind in _collect_types(member)}
    return {annotation}


_DOCUMENT_FIELDS = {name: field for name, field in ToolDoc.model_fields.items() if name != "id"}
_JSON_ADAPTERS = {
    name: TypeAdapter[Any](field.rebuild_annotation())
    for name, field in _DOCUMENT_FIELDS.items()
    if not _is_plain(field)
}


def build_properties(tool: ToolDoc) -> Properties:
    """Return all properties of a document but its id.

    A default is returned as None, which removes the property of an earlier document.
    """
    return {_PROPERTY_NAMES.get(name, name): _to_property(name, getattr(tool, name)) for name in _DOCUMENT_FIELDS}


def _to_property(name: str, value: Any) -> str | bool | None:
    field = _DOCUMENT_FIELDS[name]
    if not field.is_required() and value == field.default:
        return None
    return _JSON_ADAPTERS[name].dump_json(value).decode() if name in _JSON_ADAPTERS else value


def to_tool_doc(properties: Mapping[str, Any]) -> ToolDoc:
    """Build the document of a node's properties, ignoring the facts among them."""
    values = {
        name: properties[key] for name in _DOCUMENT_FIELDS if (key := _PROPERTY_NAMES.get(name, name)) in properties
    }
    parsed = {name: _JSON_ADAPTERS[name].validate_json(values[name]) for name in _JSON_ADAPTERS.keys() & values.keys()}
    return ToolDoc.model_validate({**values, **parsed, "id": properties["id"]})
