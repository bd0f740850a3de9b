"""Domain objects to the rows that the Cypher texts take, and back. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from json import dumps, loads
from typing import Any
from urllib.parse import unquote

from domain.errors import UsageError
from domain.tool import FINISH, ToolDoc, ToolId, tool_id_parts
from graph.backends.neo4j_documents import document, document_properties
from graph.evidence import Calls, calls_of, walks_of
from graph.facts import Edge, GraphBatch, GraphState, Lesson, LiveBatch, LiveOutcome, Mark, Neighbour, ToolFacts
from graph.links import Feed, Neighbourhood, Substitute, ToolLinks

Row = dict[str, Any]

LONGEST = 8_000
"""Bytes of an id or function name: Neo4j's range index takes no longer ones (8,167 less what it adds)."""


def document_rows(tools: Iterable[ToolDoc]) -> list[Row]:
    """Rows of PUT_TOOLS, ordered by id. Of several documents with one id the last stays."""
    return [_document_row(tool) for _, tool in sorted({tool.id: tool for tool in tools}.items())]


def _document_row(tool: ToolDoc) -> Row:
    category, toolset, _ = tool_id_parts(tool.id)
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
    called = calls_of(batch)
    tools = {*_ends(batch.transitions), *called, *(tool for tool, _ in batch.scores)}
    return [
        _tool_row(tool)
        | asdict(called.get(tool, Calls()))
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
    for source, walks in sorted(walks_of(batch).items()):
        if walks.kept < 1:
            fading.append({"source": source, "kept": walks.kept})
        for target, gained in sorted(walks.gained.items()):
            row: Row = {"source": source, "target": target, "count": walks.count.get(target, 0), "gained": gained}
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


def lesson_rows(lessons: Iterable[tuple[ToolId, Lesson]]) -> list[Row]:
    """Rows of KEEP_LESSONS, ordered by tool and run. Of several of one run about one tool the last stays."""
    last = {(tool, lesson.run): lesson for tool, lesson in lessons}
    return [
        {"id": tool, "run": run, "at": one.moment, "score": one.score, "outcomes": list(one.outcomes)}
        for (tool, run), one in sorted(last.items())
    ]


def lesson(at: str, run: str, score: float | None, outcomes: list[LiveOutcome]) -> Lesson:
    """The lesson in a row."""
    return Lesson(run, datetime.fromisoformat(at), score, tuple(outcomes))


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


def substitute(one: ToolId, other: ToolId, score: float, parameters: str) -> Substitute:
    """The substitute in a row."""
    return Substitute(one, other, score, loads(parameters))


def around(tool: ToolId, *found: Any) -> tuple[ToolId, Neighbourhood]:
    """A row of AROUND: the facts, the document's properties, and what joins the tool to others."""
    *facts, properties, out, into, feeds, substitutes = found
    return tool, Neighbourhood(
        facts=ToolFacts(*facts),
        document=document(properties) if properties else None,
        out=[neighbour(tool, *row) for row in out],
        into=[Edge(source, tool, *counts) for source, *counts in into],
        feeds=[Feed(*row) for row in feeds],
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
