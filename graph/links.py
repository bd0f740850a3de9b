"""Links: what joins two tools besides having been walked. Responses that feed parameters, and tools that do the same job."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from domain.errors import UsageError
from domain.tool import Filled, ToolDoc, ToolId
from graph.facts import Edge, Neighbour, ToolFacts, record
from graph.store import GraphStore


@record
class Feed:
    """A field (its path) of the response of ``source`` can fill ``parameter`` of ``target``. ``score`` of ``graph.coupling``, in [0, 1]."""

    source: ToolId
    target: ToolId
    field: str
    parameter: str
    score: float


@dataclass(frozen=True, slots=True)
class Substitute:
    """``other`` can do the job of ``one``. ``parameters``: the names of one's parameters to those of ``other`` that take their values."""

    one: ToolId
    other: ToolId
    score: float
    parameters: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)


@dataclass(frozen=True, slots=True)
class ToolLinks:
    """What is computed for one tool: the feeds into it, and its substitutes (of which it is the ``one``)."""

    tool: ToolId
    feeds: Sequence[Feed] = ()
    substitutes: Sequence[Substitute] = ()


@record
class LinkState:
    """``digest``: what the tool was like when its links were last asked for. ``pending``: they have not been computed since."""

    digest: str
    pending: bool


@record
class LinkCounts:
    """How many there are. ``pending``: tools whose links have still to be computed."""

    feeds: int
    substitutes: int
    pending: int


class LinkStore(Protocol):
    """Links of tools, kept where the graph is. All methods may raise ``UnavailableError``; writes are atomic."""

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        """Note that tools are new or have changed: their links, and those of the tools ``also``, become pending.

        Links that are there stay until they are replaced. ``UsageError`` where a tool is no node.
        """
        ...

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        """Replace the feeds into these tools and their substitutes; they are pending no more.

        ``UsageError`` where an end is no node, or a link belongs to another tool.
        """
        ...

    async def link_states(self) -> dict[ToolId, LinkState]:
        """Every tool whose links were ever expected or put."""
        ...

    async def linked_to(self, tools: Iterable[ToolId]) -> set[ToolId]:
        """The tools that one of these feeds or substitutes: whose links rest on it."""
        ...

    async def feeds_out(self, tool: ToolId) -> list[Feed]:
        """What a tool's response can fill, best first; ties by target, parameter, field."""
        ...

    async def feeds_into(self, tool: ToolId) -> list[Feed]:
        """What can fill a tool's parameters, best first; ties by source, parameter, field."""
        ...

    async def substitutes(self, tool: ToolId) -> list[Substitute]:
        """What can do a tool's job, best first; ties by id."""
        ...

    async def link_counts(self) -> LinkCounts:
        """Sizes."""
        ...


class LinkedGraph(GraphStore, LinkStore, Protocol):
    """A graph store that keeps links too, as all of them do."""


def named_tools(links: Sequence[ToolLinks]) -> set[ToolId]:
    """All tools that links name."""
    ends = {end for one in links for feed in one.feeds for end in (feed.source, feed.target)}
    ends |= {end for one in links for pair in one.substitutes for end in (pair.one, pair.other)}
    return ends | {one.tool for one in links}


def check_links(links: Sequence[ToolLinks], nodes: Collection[ToolId]) -> None:
    """Raise ``UsageError`` for a link whose ends are not among ``nodes``, or that belongs to another tool, or scores outside [0, 1]."""
    for one in links:
        if any(feed.target != one.tool for feed in one.feeds) or any(p.one != one.tool for p in one.substitutes):
            raise UsageError(f"links of {one.tool!r}: feeds lead into the tool, and substitutes are of it")
        if any(not 0 <= link.score <= 1 for link in (*one.feeds, *one.substitutes)):
            raise UsageError(f"links of {one.tool!r}: scores lie in [0, 1]")
    check_known(named_tools(links), nodes)


def check_known(tools: Iterable[ToolId], nodes: Collection[ToolId]) -> None:
    """Raise ``UsageError`` for a tool that is not among ``nodes``."""
    lost = min((tool for tool in tools if tool not in nodes), default=None)
    if lost is not None:
        raise UsageError(f"{lost!r} is no node of this graph: put its document first")


def with_feeds(tool: ToolDoc, feeds: Iterable[Feed]) -> ToolDoc:
    """The document with what is known of what can fill its parameters."""
    by_parameter: dict[str, list[Filled]] = {}
    for feed in feeds:
        by_parameter.setdefault(feed.parameter, []).append(
            Filled(source=feed.source, field=feed.field, score=feed.score)
        )
    if not by_parameter:
        return tool
    parameters = tuple(
        parameter.model_copy(update={"filled": tuple(by_parameter.get(parameter.name, ()))})
        for parameter in tool.parameters
    )
    return tool.model_copy(update={"parameters": parameters})


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A node with what joins it to others; see the methods of a store that give one of these alone.

    ``document``: None where it has none. ``out``: the edges out of it, by target. ``into``: those into it, by source. ``feeds``: what can
    fill its parameters. ``substitutes``: what can do its job. The last two are best first.
    """

    facts: ToolFacts
    document: ToolDoc | None = None
    out: Sequence[Neighbour] = ()
    into: Sequence[Edge] = ()
    feeds: Sequence[Feed] = ()
    substitutes: Sequence[Substitute] = ()
