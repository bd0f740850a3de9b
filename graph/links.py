"""Links between tools other than transitions: feeds from response fields into parameters, and substitutes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from domain.errors import UsageError
from domain.tool import Filled, ToolDoc, ToolId
from graph.facts import Edge, Neighbour, ToolFacts, record
from graph.store import GraphStore


@record
class FeedLink:
    """A response field of one tool that can fill a parameter of another."""

    source: ToolId
    target: ToolId
    field: str
    """Path of the field in the response of ``source``."""
    parameter: str
    """Name of the parameter of ``target``."""
    score: float
    """Coupling score in [0, 1]; see ``graph.coupling``."""


@dataclass(frozen=True, slots=True)
class SubstituteLink:
    """A tool that can do the job of another."""

    one: ToolId
    """The tool to be replaced."""
    other: ToolId
    """The tool that can replace it."""
    score: float
    """Fitness in [0, 1]; see ``graph.substitution``."""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    """Parameter names of ``one``, mapped to those of ``other`` that take their values."""


@dataclass(frozen=True, slots=True)
class ToolLinks:
    """All links computed for one tool."""

    tool: ToolId
    feeds: Sequence[FeedLink] = ()
    """Feeds into the tool."""
    substitutes: Sequence[SubstituteLink] = ()
    """Substitutes of the tool; it is the ``one`` of each."""


@record
class LinkState:
    """How up to date the links of a tool are."""

    digest: str
    """Digest that the tool had when its links were last marked as pending."""
    pending: bool
    """Whether the links have yet to be computed."""


@record
class LinkCounts:
    """Number of links in a store."""

    feeds: int
    substitutes: int
    pending: int
    """Tools whose links have yet to be computed."""


class LinkStore(Protocol):
    """Storage of links, next to the graph. All methods may raise ``UnavailableError``; writes are atomic."""

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        """Mark the links of new or changed tools, and those of the tools in ``also``, as pending.

        Existing links stay until they are replaced. Raises ``UsageError`` if a tool is not a node.
        """
        ...

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        """Replace the feeds into these tools and their substitutes; the tools are no longer pending.

        Raises ``UsageError`` if an end is not a node, or a link belongs to another tool.
        """
        ...

    async def get_link_states(self) -> dict[ToolId, LinkState]:
        """Return the state of every tool whose links were ever expected or put."""
        ...

    async def find_linked_tools(self, tools: Iterable[ToolId]) -> set[ToolId]:
        """Return the tools that one of ``tools`` feeds or substitutes, so whose links depend on it."""
        ...

    async def get_feeds_out(self, tool: ToolId) -> list[FeedLink]:
        """Return the feeds out of a tool, best first; ties by target, parameter, field."""
        ...

    async def get_feeds_into(self, tool: ToolId) -> list[FeedLink]:
        """Return the feeds into a tool's parameters, best first; ties by source, parameter, field."""
        ...

    async def get_substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        """Return the substitutes of a tool, best first; ties by id."""
        ...

    async def count_links(self) -> LinkCounts:
        """Return the number of links and of pending tools."""
        ...


class LinkedGraph(GraphStore, LinkStore, Protocol):
    """A graph store that also stores links, as all implementations do."""


def collect_tool_ids(links: Sequence[ToolLinks]) -> set[ToolId]:
    """Return the ids of all tools that occur in these links."""
    ends = {end for one in links for feed in one.feeds for end in (feed.source, feed.target)}
    ends |= {end for one in links for pair in one.substitutes for end in (pair.one, pair.other)}
    return ends | {one.tool for one in links}


def check_links(links: Sequence[ToolLinks], nodes: Collection[ToolId]) -> None:
    """Raise ``UsageError`` for an invalid link.

    Invalid is an end that is not in ``nodes``, a link listed under a tool that is not its own, and a score
    outside [0, 1].
    """
    for tool_links in links:
        if any(feed.target != tool_links.tool for feed in tool_links.feeds) or any(
            p.one != tool_links.tool for p in tool_links.substitutes
        ):
            raise UsageError(f"links of {tool_links.tool!r}: feeds lead into the tool, and substitutes are of it")
        if any(not 0 <= link.score <= 1 for link in (*tool_links.feeds, *tool_links.substitutes)):
            raise UsageError(f"links of {tool_links.tool!r}: scores lie in [0, 1]")
    check_tools_exist(collect_tool_ids(links), nodes)


def check_tools_exist(tools: Iterable[ToolId], nodes: Collection[ToolId]) -> None:
    """Raise ``UsageError`` for a tool that is not among ``nodes``."""
    missing = min((tool for tool in tools if tool not in nodes), default=None)
    if missing is not None:
        raise UsageError(f"{missing!r} is no node of this graph: put its document first")


def attach_feeds(tool: ToolDoc, feeds: Iterable[FeedLink]) -> ToolDoc:
    """Return the document with these feeds added to the parameters that they can fill."""
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
class ToolNeighbourhood:
    """A node with everything that joins it to others; see the store methods that return one of these parts alone."""

    facts: ToolFacts
    document: ToolDoc | None = None
    """None if the node has no document."""
    out: Sequence[Neighbour] = ()
    """Edges out of the node, by target."""
    into: Sequence[Edge] = ()
    """Edges into the node, by source."""
    feeds: Sequence[FeedLink] = ()
    """Feeds into its parameters, best first."""
    substitutes: Sequence[SubstituteLink] = ()
    """Tools that can do its job, best first."""
