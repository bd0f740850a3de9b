"""What joins a tool to others, and how it has answered before."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel

from domain.tool import ToolId
from graph.facts import Mark
from graph.links import FeedLink
from server.dependencies import CurrentServices, CurrentUser
from server.library.neighbours import Walk, beside
from server.problems import problems
from server.routes.library_access import open_tool
from server.routes.me import ToolPath
from server.routes.router import operations
from server.token_scopes import by_token

router = operations("/tools", tag="tools", responses=problems(401, 404))
_RECORDED = 4_000
"""Characters of a recorded call's arguments, and of its answer."""


class ToolWalk(BaseModel):
    """A transition to or from another tool, or to Finish. ``weight``: its share of all out of its source, marks counted in. ``imported``, ``live``: how often it was
    walked; ``strength``: what is left of the live walks, the newer the more. ``availability``: of the tool that it leads to.
    """

    tool: ToolId
    weight: float
    imported: int
    live: int
    strength: float
    mark: Mark | None
    availability: float | None


class ToolFeed(BaseModel):
    """``field`` of what one tool answers can fill ``parameter`` of another; ``tool``: the other one. ``score``: how well, in [0, 1]."""

    tool: ToolId
    field: str
    parameter: str
    score: float


class ToolSubstitute(BaseModel):
    """A tool that can do this one's job. ``parameters``: names of this one's to those of the other that take their values."""

    tool: ToolId
    score: float
    parameters: dict[str, str]


class ToolNeighbours(BaseModel):
    """The heaviest and best of each, and how many there are. Marked transitions come first."""

    after: list[ToolWalk]
    afters: int
    before: list[ToolWalk]
    befores: int
    feeds_in: list[ToolFeed]
    feed_ins: int
    feeds_out: list[ToolFeed]
    feed_outs: int
    substitutes: list[ToolSubstitute]


class RecordedAnswer(BaseModel):
    """A call that was imported with its answer. ``whole``: how many characters the answer has; it is cut where it is long."""

    arguments: str
    response: str
    whole: int
    outcome: str


class RecordedAnswers(BaseModel):
    """The last ones; ``total``: how many there are."""

    calls: list[RecordedAnswer]
    total: int


@router.get(
    "/{tool:path}/neighbours", summary="What comes before and after a tool, what feeds it, and what can stand in"
)
@by_token("read")
async def tool_neighbours(
    tool: ToolPath, _user: CurrentUser, services: CurrentServices, limit: Annotated[int, Query(ge=1, le=100)] = 30
) -> ToolNeighbours:
    doc, container = await open_tool(tool, services), await services.agents.get_container()
    found = await beside(container, doc.id, limit)
    return ToolNeighbours(
        after=[_walk(one) for one in found.after],
        afters=found.afters,
        before=[_walk(one) for one in found.before],
        befores=found.befores,
        feeds_in=[_feed(one, one.source) for one in found.feeds_in],
        feed_ins=found.feed_ins,
        feeds_out=[_feed(one, one.target) for one in found.feeds_out],
        feed_outs=found.feed_outs,
        substitutes=[
            ToolSubstitute(tool=one.other, score=one.score, parameters=dict(one.parameters))
            for one in found.substitutes
        ],
    )


@router.get("/{tool:path}/recorded", summary="Imported calls of a tool with what it answered")
@by_token("read")
async def recorded_calls(
    tool: ToolPath, _user: CurrentUser, services: CurrentServices, limit: Annotated[int, Query(ge=1, le=50)] = 10
) -> RecordedAnswers:
    doc, container = await open_tool(tool, services), await services.agents.get_container()
    calls = await (await container.recordings()).list_calls(doc.id)
    told = [
        RecordedAnswer(
            arguments=one.arguments[:_RECORDED],
            response=one.response[:_RECORDED],
            whole=len(one.response),
            outcome=one.outcome.value,
        )
        for one in reversed(calls[-limit:])
    ]
    return RecordedAnswers(calls=told, total=len(calls))


def _walk(one: Walk) -> ToolWalk:
    told: dict[str, Any] = {"tool": one.other, "weight": one.weight, "imported": one.imported, "live": one.live}
    return ToolWalk(**told, strength=one.strength, mark=one.mark, availability=one.availability)


def _feed(one: FeedLink, other: ToolId) -> ToolFeed:
    return ToolFeed(tool=other, field=one.field, parameter=one.parameter, score=one.score)
