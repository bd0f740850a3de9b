"""Description of one tool, as ``show_tool`` prints it, and search for tools by name."""

import asyncio
import difflib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

from pydantic.types import JsonValue

from domain.errors import AmbiguousNameError, UsageError
from domain.tool import ToolDoc, ToolId
from graph.availability_history import AvailabilityParts, replay_availability, split_availability
from graph.evidence import to_timestamp
from graph.facts import Edge, Mark, ToolFacts, ToolLesson
from graph.function_names import standardise
from graph.store import GraphStore
from graph.weights import WeightParameters, compute_availability, compute_transition_weights

_MAX_LISTED = 30
"""Maximum number of tools of one name that a message lists."""


@dataclass(frozen=True, slots=True)
class DescribedEdge:
    """An edge seen from the described tool."""

    id: ToolId
    """The edge's other end."""
    weight: float
    imported: int
    live: int
    mark: Mark | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the edge as a JSON object, with its mark if it has one."""
        content: dict[str, JsonValue] = {
            "id": self.id,
            "weight": self.weight,
            "imported": self.imported,
            "live": self.live,
        }
        return content | {"mark": self.mark} if self.mark else content


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool's document, evidence and edges, and how its availability came about."""

    id: ToolId
    document: ToolDoc | None
    """None for Finish and for unresolved names."""
    availability: float | None
    """None: untested."""
    evidence: ToolFacts
    successors: list[DescribedEdge]
    """Heaviest first, as are ``predecessors``."""
    predecessors: list[DescribedEdge]
    runs: list[ToolLesson]
    """Lessons of runs about the tool, newest first."""
    history: dict[str, float]
    """Availability after each run that called the tool, by the run's key."""
    parts: AvailabilityParts | None
    """Parts of the availability."""

    def to_json(self) -> dict[str, JsonValue]:
        """Return the object that ``show_tool --json`` prints."""
        return {
            "id": self.id,
            "document": None if self.document is None else self.document.model_dump(mode="json"),
            "side_effect": None if self.document is None else dict(self.document.effect._asdict()),
            "availability": self.availability,
            "evidence": {
                **asdict(self.evidence),
                "parts": None if self.parts is None else asdict(self.parts),
                "runs": [_lesson_to_json(lesson) for lesson in self.runs],
                "history": [
                    _availability_to_json(lesson, self.history[lesson.run]) for lesson in self.runs if lesson.outcomes
                ],
            },
            "successors": [link.to_json() for link in self.successors],
            "predecessors": [link.to_json() for link in self.predecessors],
        }


async def describe_tool(graph: GraphStore, name: str, parameters: WeightParameters) -> ToolDescription:
    """Describe the tool that ``name`` stands for: an id, a function or an API's name.

    Raises:
        AmbiguousNameError: several tools have that name; ``candidates`` are their ids.
        UsageError: nothing has that name; the message suggests near ones.
    """
    tool = await find_tool(graph, name)
    document = (await graph.get_tools([tool])).get(tool)
    facts = (await graph.get_facts([tool]))[tool]
    successors = [
        _build_edge(w.target, w.weight, w.edge)
        for w in compute_transition_weights(await graph.get_out_edges(tool), parameters)
    ]
    lessons, now = await graph.get_lessons(tool), to_timestamp()
    return ToolDescription(
        tool,
        document,
        compute_availability(facts, parameters, now),
        facts,
        _sort_by_weight(successors),
        _sort_by_weight(await _find_predecessors(graph, tool, parameters)),
        lessons,
        replay_availability(facts, lessons, parameters),
        split_availability(facts, parameters, now),
    )


def _lesson_to_json(lesson: ToolLesson) -> dict[str, JsonValue]:
    return {"run": lesson.run, "at": lesson.moment, "score": lesson.score, "outcomes": list(lesson.outcomes)}


def _availability_to_json(lesson: ToolLesson, availability: float) -> dict[str, JsonValue]:
    return {"run": lesson.run, "at": lesson.moment, "availability": availability}


def _build_edge(end: ToolId, weight: float, edge: Edge) -> DescribedEdge:
    return DescribedEdge(end, weight, edge.imported, edge.live, edge.mark)


async def find_tool(graph: GraphStore, name: str) -> ToolId:
    """Return the node that an id, a function name or the name of an API stands for. Errors as :func:`describe_tool`."""
    if await graph.get_facts([ToolId(name)]):
        return ToolId(name)
    candidates = await graph.find_function(name) or await graph.find_function(standardise(name))
    candidates = candidates or await _find_by_api(graph, name)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        more = f"\n  … and {len(candidates) - _MAX_LISTED} more" if len(candidates) > _MAX_LISTED else ""
        listed = "\n  ".join(candidates[:_MAX_LISTED]) + more
        raise AmbiguousNameError(
            f"{name!r} names {len(candidates)} tools; give the id of one:\n  {listed}", tuple(candidates)
        )
    near_names = await _find_similar_names(graph, name)
    suggestion = "\n  ".join(["; near names:", *near_names]) if near_names else ""
    raise UsageError(
        f"no tool is called {name!r}: give an id (category/toolset/api), a function or an API's name{suggestion}"
    )


async def _find_by_api(graph: GraphStore, name: str) -> list[ToolId]:
    """Return the tools whose API has this name: exactly, or else in another spelling of case and separators."""
    exact: list[ToolId] = []
    alike: list[ToolId] = []
    standardised = standardise(name)
    async for document in graph.stream_documents():
        if document.api == name:
            exact.append(document.id)
        elif standardised and standardise(document.api) == standardised:
            alike.append(document.id)
    return exact or alike


async def _find_predecessors(graph: GraphStore, tool: ToolId, parameters: WeightParameters) -> list[DescribedEdge]:
    """Return the edges into a tool, each with its weight among all edges out of its source."""
    links: list[DescribedEdge] = []
    for edge in await graph.get_in_edges(tool):
        # The weight of an edge is a share among all edges out of its source.
        weights = compute_transition_weights(await graph.get_out_edges(edge.source), parameters)
        links += (_build_edge(edge.source, w.weight, edge) for w in weights if w.target == tool)
    return links


async def find_category(graph: GraphStore, name: str) -> str:
    """Return the category of that name, regardless of case; ``name`` itself if there is none.

    Raises:
        UsageError: several categories differ from it only by case, and none is exactly so.
    """
    categories = {document.category async for document in graph.stream_documents()}
    alike = sorted(category for category in categories if category.casefold() == name.casefold())
    if name in categories or not alike:
        return name
    if len(alike) > 1:
        raise UsageError(f"several categories are called {name!r}; write one as it is: {', '.join(alike)}")
    return alike[0]


async def find_similar_ids(graph: GraphStore, name: str, limit: int = 5) -> list[ToolId]:
    """Return the tools whose id or function resembles a name, most similar first."""
    ids_by_name: dict[str, ToolId] = {}
    async for document in graph.stream_documents():
        ids_by_name.setdefault(document.function.lower(), document.id)
        ids_by_name[document.id.lower()] = document.id
    near = await asyncio.to_thread(_find_similar, name.lower(), ids_by_name, 2 * limit)
    return list(dict.fromkeys(ids_by_name[key] for key in near))[:limit]


async def _find_similar_names(graph: GraphStore, name: str, limit: int = 5) -> list[str]:
    """Return API names, functions and ids that resemble a name, most similar first."""
    names: dict[str, str] = {}
    async for document in graph.stream_documents():
        names[document.api.lower()] = document.api
        names[document.function.lower()] = document.function
        names[document.id.lower()] = document.id
    return [names[key] for key in _find_similar(name.lower(), names, limit)]


def _find_similar(name: str, names: Collection[str], limit: int) -> list[str]:
    """Return the names that resemble ``name``, then those that contain it."""
    near = difflib.get_close_matches(name, names, n=limit, cutoff=0.6)
    containing = sorted((candidate for candidate in names if name and name in candidate), key=len)
    return list(dict.fromkeys([*near, *containing]))[:limit]


def _sort_by_weight(links: Iterable[DescribedEdge]) -> list[DescribedEdge]:
    return sorted(links, key=lambda link: (-link.weight, link.id))
