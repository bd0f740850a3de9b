"""Links in dictionaries: the reference that every other back end is compared with."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from domain.tool import ToolId
from graph.links import Feed, LinkCounts, LinkState, Substitute, ToolLinks, check_known, check_links


class MemoryLinks:
    """A ``LinkStore`` beside the nodes of a graph."""

    def __init__(self, nodes: Collection[ToolId]) -> None:
        self._nodes = nodes
        self._states: dict[ToolId, LinkState] = {}
        self._feeds: dict[ToolId, dict[tuple[ToolId, str, str], Feed]] = {}
        self._substitutes: dict[ToolId, dict[ToolId, Substitute]] = {}

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        further = set(also)
        check_known({*digests, *further}, self._nodes)
        for tool in further:
            self._states[tool] = LinkState(self._digest(tool), pending=True)
        self._states |= {tool: LinkState(digest, pending=True) for tool, digest in digests.items()}

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        check_links(links, self._nodes)
        for one in links:
            self._feeds[one.tool] = {(feed.source, feed.parameter, feed.field): feed for feed in one.feeds}
            self._substitutes[one.tool] = {pair.other: pair for pair in one.substitutes}
            self._states[one.tool] = LinkState(self._digest(one.tool), pending=False)

    def drop_links(self, tools: Collection[ToolId]) -> None:
        """Forget all links from, into and between tools, and that there were any."""
        for tool in tools:
            self._states.pop(tool, None)
        for feeds in self._feeds.values():
            for key in [key for key, feed in feeds.items() if feed.source in tools or feed.target in tools]:
                del feeds[key]
        for pairs in self._substitutes.values():
            for other in [other for other, pair in pairs.items() if pair.one in tools or other in tools]:
                del pairs[other]

    def _digest(self, tool: ToolId) -> str:
        known = self._states.get(tool)
        return known.digest if known else ""

    async def link_states(self) -> dict[ToolId, LinkState]:
        return dict(self._states)

    async def linked_to(self, tools: Iterable[ToolId]) -> set[ToolId]:
        wanted = set(tools)
        fed = {tool for tool, feeds in self._feeds.items() if any(source in wanted for source, _, _ in feeds)}
        return fed | {tool for tool, pairs in self._substitutes.items() if not wanted.isdisjoint(pairs)}

    async def feeds_out(self, tool: ToolId) -> list[Feed]:
        found = [feed for feeds in self._feeds.values() for feed in feeds.values() if feed.source == tool]
        return sorted(found, key=lambda feed: (-feed.score, feed.target, feed.parameter, feed.field))

    async def feeds_into(self, tool: ToolId) -> list[Feed]:
        found = self._feeds.get(tool, {}).values()
        return sorted(found, key=lambda feed: (-feed.score, feed.source, feed.parameter, feed.field))

    async def substitutes(self, tool: ToolId) -> list[Substitute]:
        return sorted(self._substitutes.get(tool, {}).values(), key=lambda pair: (-pair.score, pair.other))

    async def link_counts(self) -> LinkCounts:
        return LinkCounts(
            sum(map(len, self._feeds.values())),
            sum(map(len, self._substitutes.values())),
            sum(state.pending for state in self._states.values()),
        )
