"""A small film service and an order in which a retriever would find its tools, over a real graph store in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.offer.offer_maker import OfferMaker
from domain.tool import Parameter, ToolDoc, ToolId, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.links import FeedLink, SubstituteLink, ToolLinks
from retriever.experience import Precedent


@dataclass(frozen=True)
class Hit:
    """As a search gives it."""

    id: ToolId
    score: float = 0.5
    odds: float | None = None
    alike: tuple[ToolId, ...] = ()


class FixedSearch:
    """Finds the same tools for every request; stands in for an encoder. ``count_tools``: how many tools it says there are."""

    def __init__(self, found: Sequence[ToolId], size: int | None = None) -> None:
        self.found = [Hit(tool) for tool in found]
        self.many = len(found) if size is None else size
        self.asked: list[int] = []

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> Sequence[Sequence[Hit]]:
        self.asked.append(limit)
        return [self.found[:limit] for _ in requests]

    async def count_tools(self) -> int:
        return self.many


class FixedPrecedents:
    """One request that was served before."""

    def __init__(self, *tools: ToolId) -> None:
        self.tools = tools

    async def find_precedents(self, request: str, limit: int) -> Sequence[Precedent]:
        del request
        return [Precedent(self.tools, 0.9)][:limit]


def tool(api: str, path: str, *parameters: Parameter, toolset: str = "films") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", toolset, api), category="c", toolset=toolset, api=api, function=api,
        url=f"https://{toolset}.test{path}", parameters=parameters,
    )  # fmt: skip


FILM, PERSON = Parameter(name="film_id", required=True), Parameter(name="person_id", required=True)
SEARCH = tool("findFilm", "/search", Parameter(name="query", required=True))
DETAIL = tool("filmDetails", "/film/{film_id}", FILM)
POSTERS = tool("posters", "/film/{film_id}/posters", FILM)
CAST = tool("castOf", "/film/{film_id}/cast", FILM)
PORTRAIT = tool("portrait", "/person/{person_id}/portrait", PERSON)
NEWS = tool("news", "/news")
FILMS = (SEARCH, DETAIL, POSTERS, CAST, PORTRAIT, NEWS)


def links() -> list[ToolLinks]:
    """The search gives what tools of a film need, its cast what those of a person need."""
    films = [ToolLinks(one.id, [FeedLink(SEARCH.id, one.id, "results[].id", "film_id", 0.95)]) for one in (DETAIL, POSTERS, CAST)]  # fmt: skip
    return [*films, ToolLinks(PORTRAIT.id, [FeedLink(CAST.id, PORTRAIT.id, "cast[].id", "person_id", 0.95)])]


async def graph_of(*documents: ToolDoc, linked: Sequence[ToolLinks] = ()) -> InMemoryGraph:
    graph = InMemoryGraph()
    await graph.setup()
    await graph.put_tools(documents)
    if linked:
        await graph.put_links(linked)
    return graph


async def films(*found: ToolDoc, precedents: FixedPrecedents | None = None) -> OfferMaker:
    """Offers of the film service, whose search finds these tools in this order and no others."""
    graph = await graph_of(*FILMS, linked=links())
    return OfferMaker(FixedSearch([one.id for one in found]), graph, precedents)


def equals(one: ToolDoc, other: ToolDoc, score: float = 1.0) -> list[ToolLinks]:
    """Each can do the job of the other."""
    there = ToolLinks(one.id, (), [SubstituteLink(one.id, other.id, score)])
    return [there, ToolLinks(other.id, (), [SubstituteLink(other.id, one.id, score)])]
