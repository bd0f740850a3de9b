"""Domain objects to the rows that the Cypher texts take, and back. Pure."""

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
"""Bytes of an id or function name: Neo4j's range index takes no longer ones (8,167 less what it adds)."""


def document_rows(tools: Iterable[ToolDoc]) -> list[Row]:
    """Rows of PUT_TOOLS, ordered by id. Of several documents with one id the last stays."""
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
    """Rows of ADD_IMPORTED_TOOLS: every node that the batch names, with its counts, ordered by id."""
    tools = {*batch.nodes, *batch.calls, *batch.successes, *_ends(batch.transitions)}
    return [
        _tool_row(tool) | {"calls": batch.calls[tool], "successes": batch.successes[tool]} for tool in sorted(tools)
    ]


def live_rows(batch: LiveBatch) -> list[Row]:
    """Rows of ADD_LIVE_TOOLS: every node of the run, with its scores and the signs of its calls in order, and what these come to."""
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
    """Rows of ADD_IMPORTED_EDGES, ordered by (source, target); a count of zero makes no edge."""
    return [
        {"source": source, "target": target, "count": count}
        for (source, target), count in sorted(transitions.items())
        if count
    ]


def walk_rows(batch: LiveBatch) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of FADE_WALKS, ADD_WALKS and TAKE_WALKS, each ordered by (source, target)."""
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
    """Rows of SET_TOOLS: every node with its facts, and the ends of edges, which only have to be there; by id."""
    rows: dict[ToolId, Row] = {
        end: _tool_row(end) | {"facts": {}} for edge in state.edges for end in (edge.source, edge.target)
    }
    rows |= {tool: _tool_row(tool) | {"facts": {}} for tool, _ in state.lessons}
    rows |= {tool: _tool_row(tool) | {"facts": asdict(facts)} for tool, facts in state.nodes.items()}
    return [rows[tool] for tool in sorted(rows)]


def count_rows(edges: Iterable[Edge]) -> list[Row]:
    """Rows of SET_EDGES, ordered by (source, target). Of several with the same ends the last stays."""
    last = {(edge.source, edge.target): asdict(edge) for edge in edges}
    return [last[ends] for ends in sorted(last)]


def lesson_rows(lessons: Iterable[tuple[ToolId, ToolLesson]]) -> list[Row]:
    """Rows of KEEP_LESSONS, ordered by tool and run. Of several of one run about one tool the last stays."""
    last = {(tool, lesson.run): lesson for tool, lesson in lessons}
    return [
        {"id": tool, "run": run, "at": one.moment, "score": one.score, "outcomes": list(one.outcomes)}
        for (tool, run), one in sorted(last.items())
    ]


def lesson(at: str, run: str, score: float | None, outcomes: list[LiveOutcome]) -> ToolLesson:
    """The lesson in a row."""
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
    """An edge out of a tool with its target's facts."""
    return Neighbour(Edge(tool, target, imported, live, mark, strength), ToolFacts(*facts), resolved)


def substitute(one: ToolId, other: ToolId, score: float, parameters: str) -> SubstituteLink:
    """The substitute in a row."""
    return SubstituteLink(one, other, score, loads(parameters))


def around(tool: ToolId, *found: Any) -> tuple[ToolId, ToolNeighbourhood]:
    """A row of AROUND: the facts, the document's properties, and what joins the tool to others."""
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
    """Tools, ordered; rows of PUT_FEEDS and rows of PUT_SUBSTITUTES, each once."""
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
    if (size := len(name.encode())) > LONGEST:
        raise UsageError(f"{name[:60]!r}… has {size} bytes; Neo4j holds names of at most {LONGEST}. Shorten it")
    return name


Properties = dict[str, Any]

_NAMES = {"api": "name"}
"""Fields whose property is called otherwise."""


def _is_plain(field: FieldInfo) -> bool:
    """Whether a property holds the field as it is: text or a yes or no, and None only where that is the default.

    Anything else (integers of any size, models, tuples, mappings) is JSON text.
    """
    kinds = _kinds(field.annotation)
    return kinds <= {str, bool, type(None)} and (type(None) not in kinds or field.default is None)


def _kinds(annotation: Any) -> set[Any]:
    """The types of values that an annotation admits, as far as they are told apart here."""
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
    """All properties of a document but its id. None takes one away that a former document had: what is the default needs none."""
    return {_NAMES.get(name, name): _property(name, getattr(tool, name)) for name in _FIELDS}


def _property(name: str, value: Any) -> str | bool | None:
    field = _FIELDS[name]
    if not field.is_required() and value == field.default:
        return None
    return _AS_JSON[name].dump_json(value).decode() if name in _AS_JSON else value


def document(properties: Mapping[str, Any]) -> ToolDoc:
    """The document in a node's properties, the facts among them left out."""
    found = {name: properties[key] for name in _FIELDS if (key := _NAMES.get(name, name)) in properties}
    parsed = {name: _AS_JSON[name].validate_json(found[name]) for name in _AS_JSON.keys() & found.keys()}
    return ToolDoc.model_validate({**found, **parsed, "id": properties["id"]})
