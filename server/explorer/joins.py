"""What joins two tools, in full: how often it was walked, what else leads out there and how that weighs, and why a field fits a parameter."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel
from pydantic.types import JsonValue

from domain.tool import FINISH, ToolDoc, ToolId
from graph.coupling import Basis, find_basis
from graph.dataflow import FlowStore, add_flows
from graph.entities import ServiceEntities, get_service_key
from graph.lenient_json import read_value
from graph.links import FeedLink
from graph.recordings import RecordingStore
from graph.response_fields import OutputField, output_fields, read_fields
from server.explorer.picture import GraphWalk, walk_of
from server.explorer.reading import Reading
from server.explorer.services import service_with
from wiring.container import Container

_OTHERS = 12
_COUPLINGS = 40
_RECORDED = 20
_SHOWN = 200
"""Characters of an example."""


class OtherWay(BaseModel):
    """A way out of the same tool. ``fit``: how well the tool that it leads to fits the request that was named; None: none was."""

    tool: ToolId
    weight: float
    availability: float | None
    score: float
    mark: str | None
    fit: float | None


class CouplingInFull(BaseModel):
    """``because``: what it rests on: an administrator's word, recorded calls that took it from there (``recorded`` of ``recorded_of``), the ``entity`` of both sides (``form``: what of
    it, as its id; ``spoken``: a description alone says so), or the names of both. ``example``: a value of the field, of an imported call or of its document; empty: none
    is known.
    """

    field: str
    parameter: str
    score: float
    because: Basis
    entity: str
    form: str
    spoken: bool
    recorded: int
    recorded_of: int
    example: str
    example_of: Literal["recorded", "document", ""]


class ForbiddenFeed(BaseModel):
    """An administrator said that this field never fills this parameter."""

    field: str
    parameter: str


class GraphEdge(BaseModel):
    """``walk`` None: nobody went this way. ``place``: of all ``ways`` out of its source, counted from 1 by weight × availability; 0: it was not walked. ``others``: the best of these
    beside it. ``fit``: of the target, where a request was named. ``heard``: when the target was last heard of.
    """

    source: ToolId
    target: ToolId
    walk: GraphWalk | None
    place: int
    ways: int
    others: list[OtherWay]
    fit: float | None
    heard: datetime | None
    couplings: list[CouplingInFull]
    couplings_left_out: int
    forbidden: list[ForbiddenFeed]


async def edge_between(container: Container, source: ToolId, target: ToolId, request: str = "") -> GraphEdge:
    """Both have a document, or the target is the end of a request."""
    reading = Reading(container.graph, container.weights)
    await reading.read([source, target])
    ways = sorted(reading.ways(source).values(), key=lambda way: (-way.rank_score, -way.weight, way.target))
    walk = reading.ways(source).get(target)
    others = [way for way in ways if way.target != target and (way.resolved or way.target == FINISH)]
    fits = await _fits(container, request, [target, *(way.target for way in others[:_OTHERS])])
    feeds = [one for one in reading.known[target].feeds if one.source == source] if target in reading.known else []
    facts = reading.known[target].facts if target in reading.known else None
    giver, taker = reading.known[source].document, reading.known[target].document if facts else None
    couplings = await explained(container, feeds[:_COUPLINGS], giver, taker) if giver and taker else []
    return GraphEdge(
        source=source,
        target=target,
        walk=walk_of(walk) if walk is not None else None,
        place=1 + ways.index(walk) if walk is not None else 0,
        ways=len(ways),
        others=[
            OtherWay(
                tool=way.target,
                weight=way.weight,
                availability=way.availability,
                score=way.rank_score,
                mark=way.edge.mark,
                fit=fits.get(way.target),
            )
            for way in others[:_OTHERS]
        ],
        fit=fits.get(target),
        heard=datetime.fromtimestamp(facts.heard, UTC) if facts and facts.heard else None,
        couplings=couplings,
        couplings_left_out=max(0, len(feeds) - _COUPLINGS),
        forbidden=[
            ForbiddenFeed(field=one.field, parameter=one.parameter)
            for one in (taker.feed_marks if taker else ())
            if one.source == source and not one.fills
        ],
    )


async def _fits(container: Container, request: str, tools: Sequence[ToolId]) -> dict[ToolId, float]:
    """How well tools fit a request, on the scale that a search has; empty without one."""
    if not request.strip():
        return {}
    wanted = [tool for tool in tools if tool != FINISH]
    found = await (await container.open_search()).score_relevance([request], wanted)
    return {tool: fits[0] for tool, fits in found.items()}


async def explained(
    container: Container, feeds: Sequence[FeedLink], giver: ToolDoc, taker: ToolDoc
) -> list[CouplingInFull]:
    """Feeds from one tool into another, with what each rests on."""
    if not feeds:
        return []
    flows: FlowStore = await container.flows()
    known = (await flows.find_flows_into([taker.id])).get(taker.id, [])
    taker = add_flows(taker, known)
    counts = {(one.field, one.parameter): (one.count, one.total) for one in known if one.source == giver.id}
    service = await service_with(container, giver) if get_service_key(giver) == get_service_key(taker) else None
    fields = {one.path: one for one in output_fields(giver)}
    examples = await _examples(await container.recordings(), giver.id)
    return await asyncio.to_thread(
        lambda: [_explained(one, giver, taker, service, fields.get(one.field), counts, examples) for one in feeds]
    )


def _explained(
    feed: FeedLink,
    giver: ToolDoc,
    taker: ToolDoc,
    service: ServiceEntities | None,
    field: OutputField | None,
    counts: dict[tuple[str, str], tuple[int, int]],
    examples: dict[str, JsonValue],
) -> CouplingInFull:
    parameter = next((one for one in taker.parameters if one.name == feed.parameter), None)
    field = field or OutputField(feed.field, feed.field.rpartition(".")[2])
    slot = service.resolve_field(giver, field) if service is not None else None
    because: Basis = find_basis(field, giver, parameter, taker, service) if parameter is not None else "names"
    count, total = counts.get((feed.field, feed.parameter), (0, 0))
    recorded = examples.get(feed.field)
    value = field.example if recorded is None else recorded
    return CouplingInFull(
        field=feed.field,
        parameter=feed.parameter,
        score=feed.score,
        because=because,
        entity=", ".join(sorted(slot.entities)) if slot is not None and because == "entity" else "",
        form=slot.form if slot is not None and because == "entity" else "",
        spoken=slot is not None and because == "entity" and not slot.explicit,
        recorded=count,
        recorded_of=total,
        example="" if value is None else str(value)[:_SHOWN],
        example_of="" if value is None else "document" if recorded is None else "recorded",
    )


async def _examples(recordings: RecordingStore, tool: ToolId) -> dict[str, JsonValue]:
    """Values of the fields of what imported calls of a tool answered, the last that was not empty. What users' own calls answered is not among them."""
    calls = (await recordings.list_calls(tool))[-_RECORDED:]
    found: dict[str, JsonValue] = {}
    for call in calls:
        for one in read_fields(_answer(call.response)) if call.response else ():
            if one.example not in (None, ""):
                found[one.path] = one.example
    return found


def _answer(text: str) -> JsonValue:
    """ToolBench's server wrapped what a tool answered."""
    value = read_value(text)
    wrapped = value.get("response") if isinstance(value, dict) and "error" in value else None
    return read_value(wrapped) if isinstance(wrapped, str) else value
