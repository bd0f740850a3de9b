"""The tool library: the tools of this server, browsed by category and tool set, or found as runs find them."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from agent.text import clean_text
from domain.tool import ToolId
from domain.tool_source import parse_source_id
from graph.facts import ToolFacts
from server.dependencies import CurrentServices, CurrentUser
from server.library.catalogue import CategoryCount
from server.library.listing import Effect, Listed, Wanted, listed
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import Plain, RowId, ShortText
from server.services import Services
from server.token_scopes import by_token

router = operations("/tools", tag="tools", responses=problems(401))
_DESCRIPTION = 400
_SETS = 2_000
"""Tool sets of a category that are told."""

Named = Annotated[ShortText, Query(description="Its whole name, as GET /tools/categories tells it.")]


class LibraryTool(BaseModel):
    """``effect``: what calling it does; ``unknown`` is treated as ``changes``. ``availability``: the chance that a call succeeds, None: untested.
    ``tried``: calls of known end that it stands on, imported and live; ``went_well``: how many of them went well.
    ``origin``: what brought it in; ``source``: the source of tools, where it is one.

    Where it was searched for: ``score`` is what ``dense`` (nearness in meaning) and ``lexical`` (shared words) make together, each in [0, 1]; ``odds``: the
    re-ranker's judgement, by which the tools are ordered where there is one. ``alike``: the same API in other spellings, found further down.
    """

    id: ToolId
    function: str
    category: str
    toolset: str
    api: str
    description: str
    host: str
    effect: Effect
    availability: float | None
    tried: int
    went_well: int
    origin: str
    source: str | None
    score: float | None = None
    dense: float | None = None
    lexical: float | None = None
    odds: float | None = None
    alike: list[ToolId] = []


class ToolPage(BaseModel):
    """``next``: give it as ``after`` to go on; None: that was all. ``total``: how many there are, before ``effect`` is looked at; of a search at most 200."""

    tools: list[LibraryTool]
    next: str | None
    total: int


class ShownToolset(BaseModel):
    toolset: str
    tools: int


class ShownCategory(BaseModel):
    """``toolsets``: how many there are; ``sets``: of the category that was asked for, by name, the first 2,000 of them."""

    category: str
    tools: int
    toolsets: int
    sets: list[ShownToolset]


@router.get("", summary="The tools of this server, browsed or searched", responses=problems(400))
@by_token("read")
async def library(
    _user: CurrentUser,
    services: CurrentServices,
    query: Annotated[
        str, Query(max_length=4000, description="What to find tools for, in words: the best first."), Plain
    ] = "",
    category: Named = "",
    toolset: Named = "",
    source: Annotated[RowId | None, Query(description="Only those of this source of tools.")] = None,
    effect: Annotated[Effect | None, Query(description="Only those that do this.")] = None,
    after: Annotated[str, Query(max_length=600, description="What the page before gave as next."), Plain] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> ToolPage:
    """Without a query in the order of their ids. With one, those that a run would be offered first, at most 200, whatever the page."""
    wanted = Wanted(query, category, toolset, effect, source)
    page = await listed(await services.agents.get_container(), wanted, after, limit)
    return ToolPage(tools=[shown(one) for one in page.tools], next=page.next, total=page.total)


@router.get("/categories", summary="The categories of tools, and how many tools each has")
@by_token("read")
async def categories(
    _user: CurrentUser,
    services: CurrentServices,
    category: Annotated[ShortText, Query(description="Only this one, with its tool sets.")] = "",
) -> list[ShownCategory]:
    found = [one for one in await _counted(services) if category in ("", one.category)]
    return [_category(one, whole=bool(category)) for one in found]


async def _counted(services: Services) -> list[CategoryCount]:
    whole = await services.agents.get_full_container()
    return await services.catalogue.of(await whole.list_searched_tools(), await services.agents.find_hidden_tools())


def _category(one: CategoryCount, *, whole: bool) -> ShownCategory:
    sets = [ShownToolset(toolset=each.toolset, tools=each.tools) for each in one.toolsets[:_SETS]] if whole else []
    return ShownCategory(category=one.category, tools=one.tools, toolsets=len(one.toolsets), sets=sets)


def shown(one: Listed) -> LibraryTool:
    """A tool of a list."""
    doc, hit, known = one.doc, one.hit, one.facts or ToolFacts()
    return LibraryTool(
        id=doc.id,
        function=doc.function,
        category=doc.category,
        toolset=doc.toolset,
        api=doc.api,
        description=clean_text(doc.description, _DESCRIPTION),
        host=doc.host,
        effect=doc.effect.kind,
        availability=one.availability,
        tried=known.calls + known.ok + known.transient + known.gone,
        went_well=known.successes + known.ok,
        origin=doc.source,
        source=parse_source_id(doc.source),
        score=hit and hit.score,
        dense=hit and hit.dense,
        lexical=hit and hit.lexical,
        odds=hit and hit.odds,
        alike=list(hit.alike) if hit else [],
    )
