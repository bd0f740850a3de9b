"""Walks: ways through tools of which each gives what the next one needs (SoAy, definition 2: solutions without their inputs and outputs).

A walk has at most three tools, none twice. It is *valid*: its head takes what users say. It is *simple*: no tool is called for what is
known without it. What feeds what are typed couplings; a field that only repeats what its tool was asked with feeds nothing. A tool that
changes something ends a walk, never feeds one.
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
"""Ways in which one tool may feed another that are followed: by other lists, into other inputs."""

_NAMING = frozenset({"name", "title"})


@dataclass(frozen=True, slots=True)
class Walk:
    """``feeds``: what fills inputs of the second tool and of those after it, in their order. ``asked``: what a user says for them besides.

    ``twice``: inputs of the second tool that are filled by one field of the head, which is called once for each: the stations of a journey.
    """

    tools: tuple[ToolDoc, ...]
    feeds: tuple[Feed, ...] = ()
    asked: tuple[tuple[ToolId, Parameter], ...] = ()
    twice: tuple[str, ...] = ()

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
        """Whether its tail changes something."""
        return not self.tail.safe

    def into(self, tool: ToolId) -> tuple[Feed, ...]:
        """What fills inputs of one of its tools."""
        return tuple(feed for feed in self.feeds if feed.target == tool)


def walks(tools: Iterable[ToolDoc], most_tools: int = MOST_TOOLS) -> Iterator[Walk]:
    """All valid and simple walks over tools, in a stable order: the shorter first.

    The more tools of a service are given at once, the better: they tell each other's entities.
    """
    return walks_over(Ground(tools), most_tools)


def walks_over(ground: Ground, most_tools: int = MOST_TOOLS) -> Iterator[Walk]:
    """As :func:`walks`, of tools that are known together already."""
    walker = _Walker(ground)
    found = [Walk((head,)) for head in ground.heads()]
    for length in range(1, most_tools + 1):
        yield from found
        if length < most_tools:
            found = [longer for walk in found for longer in walker.onward(walk)]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to fill a tool's inputs by what another answers: feeds of one object, ``also`` those of an earlier tool."""

    feeds: tuple[Feed, ...]
    also: tuple[Feed, ...] = ()
    twice: tuple[str, ...] = ()


class _Walker:
    """Goes from tool to tool."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def onward(self, walk: Walk) -> Iterator[Walk]:
        """The walks that are one tool longer."""
        last = walk.tail
        if not last.safe:
            return
        for target in self._ground.after(last.id):
            if target not in walk.path:
                for way in islice(self.ways(walk, self._ground.tools[target]), _MOST_WAYS):
                    yield self._longer(walk, self._ground.tools[target], way)

    def _longer(self, walk: Walk, target: ToolDoc, way: Way) -> Walk:
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
        """How the tail of a walk, with the tools before it, fills what a tool needs: the best first."""
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
        """The ways that take from one object of the last answer."""
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
        """Feeds into inputs that a user could say: all of an object's where one of them names it, else one by one."""
        open_to = {one.name: one for one in target.parameters if is_topic(one)}
        topics = [feed for name, feed in best.items() if name in open_to and not is_plain(open_to[name])]
        if any(set(words(feed.parameter)) & _NAMING for feed in topics):
            yield tuple(sorted(topics, key=lambda feed: feed.parameter))
        else:
            yield from ((feed,) for feed in topics)

    def _earlier(self, walk: Walk, target: ToolDoc, parameter: str) -> Feed | None:
        """What an answer before the last one gives for an input, the latest first."""
        for tool in reversed(walk.tools[:-1]):
            fit = [one for one in self._ground.feeds(tool.id, target.id) if one.parameter == parameter]
            if fit:
                return max(fit, key=lambda one: one.score)
        return None

    def _is_simple(self, walk: Walk, target: ToolDoc, way: Way) -> bool:
        """Whether the last tool is needed: what it was asked about could not have fed the target itself, or it gives others of the kind."""
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
        """Whether a field of the last answer is of other things than the last tool was asked about: of a list that does not look for them."""
        asked_with = {words(one.parameter) for one in walk.into(walk.tail.id)}
        asked_with = {named for named in asked_with if named[-1] not in IDENTITY}
        return "[]" in feed.field and not asked_with & {words(one.name) for one in self._ground.beside(feed)}


def _input(tool: ToolDoc, feed: Feed) -> Parameter:
    return next(one for one in tool.parameters if one.name == feed.parameter)


def _is_half_a_place(feeds: Sequence[Feed]) -> bool:
    """Whether one coordinate is fed without the other."""
    named = {word for feed in feeds for word in words(feed.parameter)}
    return ("latitude" in named) != ("longitude" in named)


def _twice(feeds: Sequence[Feed]) -> tuple[str, ...]:
    """The inputs that one and the same field fills."""
    by_field: defaultdict[str, list[str]] = defaultdict(list)
    for feed in feeds:
        by_field[feed.field].append(feed.parameter)
    return next((tuple(several) for several in by_field.values() if len(several) > 1), ())
