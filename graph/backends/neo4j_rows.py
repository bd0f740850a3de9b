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

LONGEST = 8_000
"""Largest size of an id or function name in bytes: Neo4j's range index takes at most 8,167, overhead included."""


def document_rows(tools: Iterable[ToolDoc]) -> list[Row]:
    """Return rows of ``PUT_TOOLS``, ordered by id. Of several documents with one id, the last one counts."""
    return [_document_row(tool) for _, tool in sorted({tool.id: tool for tool in tools}.items())]


def _document_row(tool: ToolDoc) -> Row:
    category, toolset, _ = split_tool_id(tool.id)
    return {
        "id": _indexable(tool.id),
        "name": tool.api,
        "category": category,
        "toolset": tool.id.rpartition("/")[0],
        "toolset_name": toolset,
        "document": document_properties(tool) | {"function": _indexable(tool.function)},
    }


def imported_rows(batch: GraphBatch) -> list[Row]:
    """Return rows of ``ADD_IMPORTED_TOOLS``: every node of the batch with its counts, ordered by id."""
    tools = {*batch.nodes, *batch.calls, *batch.successes, *_ends(batch.transitions)}
    return [
        _tool_row(tool) | {"calls": batch.calls[tool], "successes": batch.successes[tool]} for tool in sorted(tools)
    ]


def live_rows(batch: LiveBatch) -> list[Row]:
    """Return rows of ``ADD_LIVE_TOOLS``, ordered by id: each tool of the run with its scores, signs and call evidence.

    A sign is 1 for a successful call and -1 for any other, in the order of the calls.
    """
    called = fold_calls(batch)
    tools = {*_ends(batch.transitions), *called, *(tool for tool, _ in batch.scores)}
    return [
        _tool_row(tool)
        | asdict(called.get(tool, CallEvidence()))
        | {
            "called": tool in called,
            "scores": [float(score) for one, score in batch.scores if one == tool],
            "signs": [1.0 if outcome == "ok" else -1.0 for one, outcome in batch.outcomes if one == tool],
        }
        for tool in sorted(tools)
    ]


def edge_rows(transitions: Mapping[tuple[ToolId, ToolId], int]) -> list[Row]:
    """Return rows of ``ADD_IMPORTED_EDGES``, ordered by (source, target); a count of zero makes no edge."""
    return [
        {"source": source, "target": target, "count": count}
        for (source, target), count in sorted(transitions.items())
        if count
    ]


def walk_rows(batch: LiveBatch) -> tuple[list[Row], list[Row], list[Row]]:
    """Return rows of ``FADE_WALKS``, ``ADD_WALKS`` and ``TAKE_WALKS``, each ordered by (source, target)."""
    fading: list[Row] = []
    added: list[Row] = []
    taken: list[Row] = []
    for source, walks in sorted(fold_walks(batch).items()):
        if walks.retained < 1:
            fading.append({"source": source, "kept": walks.retained})
        for target, gained in sorted(walks.gains.items()):
            row: Row = {"source": source, "target": target, "count": walks.counts.get(target, 0), "gained": gained}
            (taken if gained < 0 else added).append(row)
    return fading, added, taken


def facts_rows(state: GraphState) -> list[Row]:
    """Return rows of ``SET_TOOLS``, ordered by id: nodes with facts; ends of edges and lessons without any."""
    rows: dict[ToolId, Row] = {
        end: _tool_row(end) | {"facts": {}} for edge in state.edges for end in (edge.source, edge.target)
    }
    rows |= {tool: _tool_row(tool) | {"facts": {}} for tool, _ in state.lessons}
    rows |= {tool: _tool_row(tool) | {"facts": asdict(facts)} for tool, facts in state.nodes.items()}
    return [rows[tool] for tool in sorted(rows)]


def count_rows(edges: Iterable[Edge]) -> list[Row]:
    """Return rows of ``SET_EDGES``, ordered by (source, target), of which the last edge each counts."""
    last = {(edge.source, edge.target): asdict(edge) for edge in edges}
    return [last[ends] for ends in sorted(last)]


def lesson_rows(lessons: Iterable[tuple[ToolId, ToolLesson]]) -> list[Row]:
    """Return rows of ``KEEP_LESSONS``, ordered by (tool, run), of which the last lesson each counts."""
    last = {(tool, lesson.run): lesson for tool, lesson in lessons}
    return [
        {"id": tool, "run": run, "at": one.moment, "score": one.score, "outcomes": list(one.outcomes)}
        for (tool, run), one in sorted(last.items())
    ]


def lesson(at: str, run: str, score: float | None, outcomes: list[LiveOutcome]) -> ToolLesson:
    """Build the lesson of a row."""
    return ToolLesson(run, datetime.fromisoformat(at), score, tuple(outcomes))


def neighbour(
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


def substitute(one: ToolId, other: ToolId, score: float, parameters: str) -> SubstituteLink:
    """Build the substitute link of a row."""
    return SubstituteLink(one, other, score, loads(parameters))


def around(tool: ToolId, *found: Any) -> tuple[ToolId, ToolNeighbourhood]:
    """Build the neighbourhood of a row of ``AROUND``, with its tool."""
    *facts, properties, out, into, feeds, substitutes = found
    return tool, ToolNeighbourhood(
        facts=ToolFacts(*facts),
        document=document(properties) if properties else None,
        out=[neighbour(tool, *row) for row in out],
        into=[Edge(source, tool, *counts) for source, *counts in into],
        feeds=[FeedLink(*row) for row in feeds],
        substitutes=[substitute(*row) for row in substitutes],
    )


def link_rows(links: Iterable[ToolLinks]) -> tuple[list[str], list[Row], list[Row]]:
    """Return the ordered ids of the tools, and rows of ``PUT_FEEDS`` and ``PUT_SUBSTITUTES`` without duplicates."""
    one_each = {one.tool: one for one in links}
    feeds = {
        (f.source, f.target, f.parameter, f.field): asdict(f) for tool in sorted(one_each) for f in one_each[tool].feeds
    }
    pairs: dict[tuple[ToolId, ToolId], Row] = {
        (s.one, s.other): {"one": s.one, "other": s.other, "score": s.score, "parameters": dumps(dict(s.parameters))}
        for tool in sorted(one_each)
        for s in one_each[tool].substitutes
    }
    return sorted(one_each), list(feeds.values()), list(pairs.values())


def _ends(transitions: Mapping[tuple[ToolId, ToolId], int]) -> set[ToolId]:
    return {tool for pair in transitions for tool in pair}


def _tool_row(tool: ToolId) -> Row:
    label = "Finish" if tool == FINISH else "Unresolved"
    return {"id": _indexable(tool), "name": unquote(tool.rpartition("/")[2]), "label": label}


def _indexable(name: str) -> str:
    """Return the name; raise ``UsageError`` if it is too long for an index."""
    if (size := len(name.encode())) > LONGEST:
        raise UsageError(f"{name[:60]!r}… has {size} bytes; Neo4j holds names of at most {LONGEST}. Shorten it")
    return name


Properties = dict[str, Any]

_NAMES = {"api": "name"}
"""Property names of fields that are stored under another name."""


def _is_plain(field: FieldInfo) -> bool:
    """Return whether a field is stored as it is: text or bool, and None only if that is the default.

    Every other type (integers, which Neo4j limits to 64 bits, models, tuples, mappings) is stored as JSON text.
    """
    kinds = _kinds(field.annotation)
    return kinds <= {str, bool, type(None)} and (type(None) not in kinds or field.default is None)


def _kinds(annotation: Any) -> set[Any]:
    """Return the types of an annotation's values, with unions, literals and new types resolved."""
    if isinstance(annotation, NewType):
        return _kinds(annotation.__supertype__)
    if get_origin(annotation) is Literal:
        return {type(value) for value in get_args(annotation)}
    if get_origin(annotation) in (Union, UnionType):
        return {kind for one in get_args(annotation) for kind in _kinds(one)}
    return {annotation}


_FIELDS = {name: field for name, field in ToolDoc.model_fields.items() if name != "id"}
_AS_JSON = {
    name: TypeAdapter[Any](field.rebuild_annotation()) for name, field in _FIELDS.items() if not _is_plain(field)
}


def document_properties(tool: ToolDoc) -> Properties:
    """Return all properties of a document but its id.

    A default is returned as None, which removes the property of an earlier document.
    """
    return {_NAMES.get(name, name): _property(name, getattr(tool, name)) for name in _FIELDS}


def _property(name: str, value: Any) -> str | bool | None:
    field = _FIELDS[name]
    if not field.is_required() and value == field.default:
        return None
    return _AS_JSON[name].dump_json(value).decode() if name in _AS_JSON else value


def document(properties: Mapping[str, Any]) -> ToolDoc:
    """Build the document of a node's properties, ignoring the facts among them."""
    found = {name: properties[key] for name in _FIELDS if (key := _NAMES.get(name, name)) in properties}
    parsed = {name: _AS_JSON[name].validate_json(found[name]) for name in _AS_JSON.keys() & found.keys()}
    return ToolDoc.model_validate({**found, **parsed, "id": properties["id"]})
