"""Walks: sequences of tools in which each response feeds the next call (SoAy, definition 2).

They are SoAy's solutions without inputs and outputs. A walk has at most three different tools. It is *valid* if its first tool takes what
users say, and *simple* if no tool is called for what is known without it. Tools are joined by typed couplings; a field that only repeats an
input of its own tool feeds nothing. A tool with side effects can end a walk but never feeds another.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from domain.tool import Parameter, ToolDoc, ToolId
from graph.followed import is_plain
from graph.fuzzy import asked, is_topic, must_be_found
from graph.ground import Ground
from graph.identifiers import words
from graph.links import Feed
from graph.looks import holder_of
from graph.vocabulary import IDENTITY

MOST_TOOLS = 3
_MOST_WAYS = 4
"""Maximum number of ways followed in which one tool may feed another: from other lists, into other inputs."""

_NAMING = frozenset({"name", "title"})


@dataclass(frozen=True, slots=True)
class Walk:
    """A sequence of tools with what feeds them."""

    tools: tuple[ToolDoc, ...]
    feeds: tuple[Feed, ...] = ()
    """What fills inputs of the second and later tools, in their order."""
    asked: tuple[tuple[ToolId, Parameter], ...] = ()
    """Inputs of the second and later tools that a user gives."""
    twice: tuple[str, ...] = ()
    """Inputs of the second tool that one field of the first fills.

    The first tool is called once for each of them, as for the two stations of a journey.
    """

    @property
    def head(self) -> ToolDoc:
        return self.tools[0]

    @property
    def tail(self) -> ToolDoc:
        return self.tools[-1]

    @property
    def path(self) -> tuple[ToolId, ...]:
        """The ids of its tools."""
        return tuple(tool.id for tool in self.tools)

    @property
    def changes(self) -> bool:
        """True if the last tool has side effects."""
        return not self.tail.safe

    def into(self, tool: ToolId) -> tuple[Feed, ...]:
        """Return the feeds into one of its tools."""
        return tuple(feed for feed in self.feeds if feed.target == tool)


def walks(tools: Iterable[ToolDoc], most_tools: int = MOST_TOOLS) -> Iterator[Walk]:
    """Yield all valid and simple walks over these tools in a stable order, shorter ones first.

    Pass as many tools of a service at once as possible: they determine each other's entities.
    """
    return walks_over(Ground(tools), most_tools)


def walks_over(ground: Ground, most_tools: int = MOST_TOOLS) -> Iterator[Walk]:
    """Yield walks as :func:`walks` does, over tools that are already indexed."""
    walker = _Walker(ground)
    found = [Walk((head,)) for head in ground.heads()]
    for length in range(1, most_tools + 1):
        yield from found
        if length < most_tools:
            found = [longer for walk in found for longer in walker.onward(walk)]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to fill a tool's inputs from the last response."""

    feeds: tuple[Feed, ...]
    """Feeds from fields of one object."""
    also: tuple[Feed, ...] = ()
    """Feeds from the response of an earlier tool."""
    twice: tuple[str, ...] = ()
    """Inputs that one field fills; see :attr:`Walk.twice`."""


class _Walker:
    """Extends walks tool by tool."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def onward(self, walk: Walk) -> Iterator[Walk]:
        """Yield the walks that are one tool longer."""
        last = walk.tail
        if not last.safe:
            return
        for target in self._ground.after(last.id):
            if target not in walk.path:
                for way in islice(self.ways(walk, self._ground.tools[target]), _MOST_WAYS):
                    yield self._longer(walk, self._ground.tools[target], way)

    def _longer(self, walk: Walk, target: ToolDoc, way: Way) -> Walk:
        """Append a tool to a walk.

        Inputs named like one that was already fed take the same field; the others are given by the user.
        """
        feeds = [*way.feeds, *way.also]
        said: list[tuple[ToolId, Parameter]] = []
        for one in asked(target, self._ground.service(target), frozenset(feed.parameter for feed in feeds)):
            before = next((feed for feed in walk.feeds if words(feed.parameter) == words(one.name)), None)
            if before is None:
                said.append((target.id, one))
            else:
                feeds.append(Feed(before.source, target.id, before.field, one.name, before.score))
        return Walk((*walk.tools, target), (*walk.feeds, *feeds), (*walk.asked, *said), walk.twice or way.twice)

    def ways(self, walk: Walk, target: ToolDoc) -> Iterator[Way]:
        """Yield the ways in which the walk's last tool, with earlier ones, fills what ``target`` needs, best first."""
        by_holder: defaultdict[str, list[Feed]] = defaultdict(list)
        given = {words(one.name) for one in asked(walk.head, self._ground.service(walk.head))}
        for feed in self._ground.feeds(walk.tail.id, target.id):
            if "[]" not in feed.field and words(feed.parameter) in given:
                continue
            by_holder[holder_of(feed.field)].append(feed)
        found = [way for feeds in by_holder.values() for way in self._of_object(walk, target, feeds)]
        found.sort(key=lambda way: (-min(feed.score for feed in way.feeds), [feed.field for feed in way.feeds]))
        yield from (way for way in found if self._is_simple(walk, target, way))

    def _of_object(self, walk: Walk, target: ToolDoc, feeds: Sequence[Feed]) -> Iterator[Way]:
        """Yield the ways that use fields of one object of the last response."""
        best: dict[str, Feed] = {}
        for feed in sorted(feeds, key=lambda one: (-one.score, one.field)):
            best.setdefault(feed.parameter, feed)
        service = self._ground.service(target)
        required = {one.name: one for one in target.required}
        needed = [name for name, one in required.items() if must_be_found(one, target, service)]
        also = [self._earlier(walk, target, name) for name in needed if name not in best]
        if any(feed is None for feed in also):
            return
        earlier = tuple(feed for feed in also if feed is not None)
        taken = [best[name] for name in needed if name in best]
        twice = _twice(taken)
        if (twice and len(walk.tools) > 1) or _is_half_a_place([*taken, *earlier]):
            return
        if taken and not all(is_plain(_input(target, one)) for one in taken):
            yield Way(tuple(taken), earlier, twice)
        elif not taken:
            freely = self._freely(target, best)
            yield from (Way(some, earlier) for some in freely if not _is_half_a_place(some))

    def _freely(self, target: ToolDoc, best: dict[str, Feed]) -> Iterator[tuple[Feed, ...]]:
        """Yield feeds into inputs that a user could give: all of an object's if one of them names it, else one by one."""
        open_to = {one.name: one for one in target.parameters if is_topic(one)}
        topics = [feed for name, feed in best.items() if name in open_to and not is_plain(open_to[name])]
        if any(set(words(feed.parameter)) & _NAMING for feed in topics):
            yield tuple(sorted(topics, key=lambda feed: feed.parameter))
        else:
            yield from ((feed,) for feed in topics)

    def _earlier(self, walk: Walk, target: ToolDoc, parameter: str) -> Feed | None:
        """Return the best feed into an input from a response before the last one, the latest response first."""
        for tool in reversed(walk.tools[:-1]):
            fit = [one for one in self._ground.feeds(tool.id, target.id) if one.parameter == parameter]
            if fit:
                return max(fit, key=lambda one: one.score)
        return None

    def _is_simple(self, walk: Walk, target: ToolDoc, way: Way) -> bool:
        """Return whether the last tool is needed.

        It is unless its own input could have fed the target directly; a tool that lists other things of the kind is needed, too.
        """
        into = walk.into(walk.tail.id)
        if not into:
            return True
        asked_by = into[0]
        direct = {
            feed.parameter
            for feed in self._ground.feeds(asked_by.source, target.id)
            if holder_of(feed.field) == holder_of(asked_by.field)
        }
        return any(feed.parameter not in direct or self._is_of_others(walk, feed) for feed in way.feeds)

    def _is_of_others(self, walk: Walk, feed: Feed) -> bool:
        """Return whether a field of the last response is about other things than the tool was asked about.

        That is the case for a list that is not a search for its input.
        """
        asked_with = {words(one.parameter) for one in walk.into(walk.tail.id)}
        asked_with = {named for named in asked_with if named[-1] not in IDENTITY}
        return "[]" in feed.field and not asked_with & {words(one.name) for one in self._ground.beside(feed)}


def _input(tool: ToolDoc, feed: Feed) -> Parameter:
    return next(one for one in tool.parameters if one.name == feed.parameter)


def _is_half_a_place(feeds: Sequence[Feed]) -> bool:
    """Return whether only one of two coordinates is fed."""
    named = {word for feed in feeds for word in words(feed.parameter)}
    return ("latitude" in named) != ("longitude" in named)


def _twice(feeds: Sequence[Feed]) -> tuple[str, ...]:
    """Return the inputs that are filled from one and the same field."""
    by_field: defaultdict[str, list[str]] = defaultdict(list)
    for feed in feeds:
        by_field[feed.field].append(feed.parameter)
    return next((tuple(several) for several in by_field.values() if len(several) > 1), ())
