"""The tool graph as the page explores it: asked of the server."""

from datetime import datetime
from urllib.parse import quote

from pydantic import BaseModel, Field

from domain.tool import ToolId
from ui.client import Client, read


class GraphTool(BaseModel):
    """``beyond``: neighbours that are known and not in the picture."""

    id: ToolId
    category: str = ""
    toolset: str = ""
    api: str = ""
    effect: str = "reads"
    availability: float | None = None
    tried: int = 0
    depth: int = 0
    beyond: int = 0
    banned: bool = False


class GraphWalk(BaseModel):
    """A transition; ``score``: weight × availability."""

    source: ToolId
    target: ToolId
    weight: float = 0.0
    imported: int = 0
    live: int = 0
    strength: float = 0.0
    mark: str | None = None
    availability: float | None = None
    score: float = 0.0


class Coupled(BaseModel):
    field: str
    parameter: str
    score: float


class GraphFeed(BaseModel):
    """The best couplings from one tool into another, of ``many``."""

    source: ToolId
    target: ToolId
    score: float = 0.0
    couplings: list[Coupled] = Field(default_factory=list[Coupled])
    many: int = 0


class GraphPicture(BaseModel):
    centre: ToolId
    ends: float = 0.0
    tools: list[GraphTool] = Field(default_factory=list[GraphTool])
    walks: list[GraphWalk] = Field(default_factory=list[GraphWalk])
    feeds: list[GraphFeed] = Field(default_factory=list[GraphFeed])
    left_out: int = 0
    edges_left_out: int = 0


class GraphSet(BaseModel):
    """A tool set, by what the ids of its tools begin with."""

    id: str
    category: str = ""
    toolset: str = ""
    tools: int = 0
    walked: int = 0
    inside: int = 0


class SetJoin(BaseModel):
    source: str
    target: str
    walked: int = 0
    coupled: int = 0


class BusyTool(BaseModel):
    id: ToolId
    walked: int = 0


class GraphOverview(BaseModel):
    sets: list[GraphSet] = Field(default_factory=list[GraphSet])
    toolsets: int = 0
    tools: int = 0
    joins: list[SetJoin] = Field(default_factory=list[SetJoin])
    joins_left_out: int = 0
    counted_whole: bool = True
    busiest: list[BusyTool] = Field(default_factory=list[BusyTool])


class OtherWay(BaseModel):
    tool: ToolId
    weight: float = 0.0
    availability: float | None = None
    score: float = 0.0
    mark: str | None = None
    fit: float | None = None


class Coupling(Coupled):
    """``because``: said, recorded, entity or names."""

    because: str = "names"
    entity: str = ""
    form: str = ""
    spoken: bool = False
    recorded: int = 0
    recorded_of: int = 0
    example: str = ""
    example_of: str = ""


class ForbiddenFeed(BaseModel):
    field: str
    parameter: str


class GraphEdge(BaseModel):
    """``place``: among all ``ways`` out of its source, by weight × availability."""

    source: ToolId
    target: ToolId
    walk: GraphWalk | None = None
    place: int = 0
    ways: int = 0
    others: list[OtherWay] = Field(default_factory=list[OtherWay])
    fit: float | None = None
    heard: datetime | None = None
    couplings: list[Coupling] = Field(default_factory=list[Coupling])
    couplings_left_out: int = 0
    forbidden: list[ForbiddenFeed] = Field(default_factory=list[ForbiddenFeed])


class PathStep(BaseModel):
    source: ToolId
    target: ToolId
    walk: GraphWalk | None = None
    feed: GraphFeed | None = None


class GraphPath(BaseModel):
    score: float = 0.0
    steps: list[PathStep] = Field(default_factory=list[PathStep])


class GraphPaths(BaseModel):
    paths: list[GraphPath] = Field(default_factory=list[GraphPath])
    left_out: int = 0


class PlaceEntity(BaseModel):
    """A parameter, or a ``field`` of the answer; ``said``: people said what it is of."""

    place: str
    field: bool = False
    entity: str = ""
    form: str = ""
    said: bool = False


class ToolEntities(BaseModel):
    places: list[PlaceEntity] = Field(default_factory=list[PlaceEntity])
    left_out: int = 0
    of_source: str | None = None


def from_afar(client: Client) -> GraphOverview:
    """Tool sets, and what joins them."""
    return read(GraphOverview, client.send("GET", "/graph"))


def around(client: Client, tool: str, wanted: dict[str, str | int | float]) -> GraphPicture:
    """Raises ServerError (404): there is no such tool, or none for this user."""
    return read(GraphPicture, client.send("GET", _of(tool, "around"), params=wanted))


def edge(client: Client, source: str, target: str, request: str = "") -> GraphEdge:
    """All that joins one tool to another."""
    params = {"target": target} | ({"request": request} if request else {})
    return read(GraphEdge, client.send("GET", _of(source, "edge"), params=params))


def paths(client: Client, source: str, target: str) -> GraphPaths:
    """The surest ways first."""
    return read(GraphPaths, client.send("GET", _of(source, "paths"), params={"target": target}))


def entities(client: Client, tool: str) -> ToolEntities:
    """What its inputs and fields are of."""
    return read(ToolEntities, client.send("GET", _of(tool, "entities")))


def _of(tool: str, rest: str) -> str:
    return f"/tools/{quote(tool)}/{rest}"
