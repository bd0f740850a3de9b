"""Everything known of one tool: the content of ``show_tool``."""

import asyncio
import difflib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass

from pydantic.types import JsonValue

from domain.errors import AmbiguousNameError, UsageError
from domain.tool import ToolDoc, ToolId
from graph.evidence import seconds
from graph.facts import Edge, Lesson, Mark, ToolFacts
from graph.function_names import standardise
from graph.history import Parts, over_time, parts
from graph.store import GraphStore
from graph.weights import WeightParameters, availability, transition_weights

_LISTED = 30
"""Maximum number of tools of one name that a message lists."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge seen from the described tool."""

    id: ToolId
    """The edge's other end."""
    weight: float
    imported: int
    live: int
    mark: Mark | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the edge as a JSON object, with its mark if it has one."""
        found: dict[str, JsonValue] = {
            "id": self.id,
            "weight": self.weight,
            "imported": self.imported,
            "live": self.live,
        }
        return found | {"mark": self.mark} if self.mark else found


@dataclass(frozen=True, slots=True)
class Description:
    """A tool's document, evidence and edges, and how its availability came about."""

    id: ToolId
    document: ToolDoc | None
    """None for Finish and for unresolved names."""
    availability: float | None
    """None: untested."""
    evidence: ToolFacts
    successors: list[Link]
    """Heaviest first, as are ``predecessors``."""
    predecessors: list[Link]
    runs: list[Lesson]
    """Lessons of runs about the tool, newest first."""
    history: dict[str, float]
    """Availability after each run that called the tool, by the run's key."""
    parts: Parts | None
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
                "runs": [_run(lesson) for lesson in self.runs],
                "history": [_after(lesson, self.history[lesson.run]) for lesson in self.runs if lesson.outcomes],
            },
            "successors": [link.to_json() for link in self.successors],
            "predecessors": [link.to_json() for link in self.predecessors],
        }


async def describe(graph: GraphStore, name: str, parameters: WeightParameters) -> Description:
    """Describe the tool that ``name`` stands for: an id, a function or an API's name.

    Raises:
        AmbiguousNameError: several tools have that name; ``candidates`` are their ids.
        UsageError: nothing has that name; the message suggests near ones.
    """
    tool = await find(graph, name)
    document = (await graph.get_tools([tool])).get(tool)
    facts = (await graph.facts([tool]))[tool]
    successors = [
        _link(w.target, w.weight, w.edge) for w in transition_weights(await graph.out_edges(tool), parameters)
    ]
    lessons, now = await graph.lessons(tool), seconds()
    return Description(
        tool,
        document,
        availability(facts, parameters, now),
        facts,
        _heaviest_first(successors),
        _heaviest_first(await _predecessors(graph, tool, parameters)),
        lessons,
        over_time(facts, lessons, parameters),
        parts(facts, parameters, now),
    )


def _run(lesson: Lesson) -> dict[str, JsonValue]:
    return {"run": lesson.run, "at": lesson.moment, "score": lesson.score, "outcomes": list(lesson.outcomes)}


def _after(lesson: Lesson, availability: float) -> dict[str, JsonValue]:
    return {"run": lesson.run, "at": lesson.moment, "availability": availability}


def _link(end: ToolId, weight: float, edge: Edge) -> Link:
    return Link(end, weight, edge.imported, edge.live, edge.mark)


async def find(graph: GraphStore, name: str) -> ToolId:
    """Return the node that an id, a function name or the name of an API stands for. Errors as :func:`describe`."""
    if await graph.facts([ToolId(name)]):
        return ToolId(name)
    found = await graph.find_function(name) or await graph.find_function(standardise(name))
    found = found or await _of_api(graph, name)
    if len(found) == 1:
        return found[0]
    if found:
        more = f"\n  … and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        listed = "\n  ".join(found[:_LISTED]) + more
        raise AmbiguousNameError(f"{name!r} names {len(found)} tools; give the id of one:\n  {listed}", tuple(found))
    near = await _near_names(graph, name)
    suggestion = "\n  ".join(["; near names:", *near]) if near else ""
    raise UsageError(
        f"no tool is called {name!r}: give an id (category/toolset/api), a function or an API's name{suggestion}"
    )


async def _of_api(graph: GraphStore, name: str) -> list[ToolId]:
    """Return the tools whose API has this name: exactly, or else in another spelling of case and separators."""
    exact: list[ToolId] = []
    alike: list[ToolId] = []
    wanted = standardise(name)
    async for document in graph.documents():
        if document.api == name:
            exact.append(document.id)
        elif wanted and standardise(document.api) == wanted:
            alike.append(document.id)
    return exact or alike


async def _predecessors(graph: GraphStore, tool: ToolId, parameters: WeightParameters) -> list[Link]:
    """Return the edges into a tool, each with its weight among all edges out of its source."""
    links: list[Link] = []
    for edge in await graph.in_edges(tool):
        # The weight of an edge is a share among all edges out of its source.
        weights = transition_weights(await graph.out_edges(edge.source), parameters)
        links += (_link(edge.source, w.weight, edge) for w in weights if w.target == tool)
    return links


async def category_named(graph: GraphStore, name: str) -> str:
    """Return the category of that name, regardless of case; ``name`` itself if there is none.

    Raises:
        UsageError: several categories differ from it only by case, and none is exactly so.
    """
    found = {document.category async for document in graph.documents()}
    alike = sorted(one for one in found if one.casefold() == name.casefold())
    if name in found or not alike:
        return name
    if len(alike) > 1:
        raise UsageError(f"several categories are called {name!r}; write one as it is: {', '.join(alike)}")
    return alike[0]


async def near_ids(graph: GraphStore, name: str, most: int = 5) -> list[ToolId]:
    """Return the tools whose id or function resembles a name, most similar first."""
    known: dict[str, ToolId] = {}
    async for document in graph.documents():
        known.setdefault(document.function.lower(), document.id)
        known[document.id.lower()] = document.id
    near = await asyncio.to_thread(_near, name.lower(), known, 2 * most)
    return list(dict.fromkeys(known[key] for key in near))[:most]


async def _near_names(graph: GraphStore, name: str, most: int = 5) -> list[str]:
    """Return API names, functions and ids that resemble a name, most similar first."""
    known: dict[str, str] = {}
    async for document in graph.documents():
        known[document.api.lower()] = document.api
        known[document.function.lower()] = document.function
        known[document.id.lower()] = document.id
    return [known[key] for key in _near(name.lower(), known, most)]


def _near(wanted: str, known: Collection[str], most: int) -> list[str]:
    """Return the names that resemble ``wanted``, then those that contain it."""
    near = difflib.get_close_matches(wanted, known, n=most, cutoff=0.6)
    holding = sorted((one for one in known if wanted and wanted in one), key=len)
    return list(dict.fromkeys([*near, *holding]))[:most]


def _heaviest_first(links: Iterable[Link]) -> list[Link]:
    return sorted(links, key=lambda link: (-link.weight, link.id))
