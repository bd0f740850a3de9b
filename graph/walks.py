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
from graph.entities import Service, service_of
from graph.feed_index import FeedIndex, slim
from graph.fuzzy import asked, is_fuzzy, is_topic, says
from graph.identifiers import words
from graph.links import Feed
from graph.looks import holder_of
from graph.response_fields import OutputField, output_fields
from graph.vocabulary import IDENTITY

MOST_TOOLS = 3
_MOST_WAYS = 4
"""Ways in which one tool may feed another that are followed: by other lists, into other inputs."""

_NAMING = frozenset({"name", "title"})

_PLAIN = frozenset(
    {
        "year", "date", "day", "month", "week", "time", "datetime", "timestamp", "hour", "minute", "count", "price", "amount", "age", "rating",
        "score", "rank", "status", "type", "size", "quantity", "total", "duration", "gender", "value", "percent", "percentage", "weekday",
        "language", "description", "message", "version", "format", "limit", "color",
    }
)  # fmt: skip
"""Words of what many unlike things have: that two share a year says nothing of them."""

_PLACE = frozenset({"latitude", "longitude"})


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
    return Ground(tools).walks(most_tools)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to fill a tool's inputs by what another answers: feeds of one object, ``also`` those of an earlier tool."""

    feeds: tuple[Feed, ...]
    also: tuple[Feed, ...] = ()
    twice: tuple[str, ...] = ()


class Ground:
    """Tools with what is known of them together: services, the fields of their responses, and which feeds which."""

    def __init__(self, tools: Iterable[ToolDoc]) -> None:
        self.tools = {doc.id: doc for doc in sorted(tools, key=lambda doc: doc.id)}
        self.fields = {tool: output_fields(doc) for tool, doc in self.tools.items()}
        members: defaultdict[tuple[str, str], list[tuple[ToolDoc, tuple[OutputField, ...]]]] = defaultdict(list)
        for tool, doc in self.tools.items():
            members[service_of(doc)].append((doc, self.fields[tool]))
        self._services = {home: Service(some) for home, some in members.items()}
        self._feeds: dict[tuple[ToolId, ToolId], list[Feed]] = {}
        self._after: defaultdict[ToolId, list[ToolId]] = defaultdict(list)
        self._couple()

    def _couple(self) -> None:
        index = FeedIndex()
        for doc in self.tools.values():
            index.add(*slim(doc))
        for tool, doc in self.tools.items():
            known = (
                Feed(one.source, tool, one.field, parameter.name, one.score)
                for parameter in doc.parameters
                for one in parameter.filled
                if one.source in self.tools
            )
            for feed in {(f.source, f.field, f.parameter): f for f in (*known, *index.feeds(doc))}.values():
                if self.tools[feed.source].safe and not self._echo(feed):
                    self._feeds.setdefault((feed.source, tool), []).append(feed)
        for source, target in sorted(self._feeds):
            self._after[source].append(target)

    def service(self, tool: ToolDoc) -> Service:
        """What is known of the tools of its service."""
        return self._services[service_of(tool)]

    def _echo(self, feed: Feed) -> bool:
        """Whether a field repeats what its tool has to be asked with: whoever has it there had it before."""
        source = self.tools[feed.source]
        given = self._field(feed)
        if given is None:
            return False
        service = self.service(source)
        if service.given(source, given) is not None:
            return service.echoes(source, given)
        named = words(given.name)
        return any(words(one.name) == named for one in source.required)

    def _field(self, feed: Feed) -> OutputField | None:
        return next((one for one in self.fields[feed.source] if one.path == feed.field), None)

    def walks(self, most_tools: int = MOST_TOOLS) -> Iterator[Walk]:
        """All valid and simple walks, in a stable order: the shorter first."""
        found = [Walk((head,)) for head in self.heads()]
        for length in range(1, most_tools + 1):
            yield from found
            if length < most_tools:
                found = [longer for walk in found for longer in self.onward(walk)]

    def heads(self) -> list[ToolDoc]:
        """The tools that take what users say, in the order of their ids."""
        return [doc for doc in self.tools.values() if is_fuzzy(doc, self.service(doc))]

    def onward(self, walk: Walk) -> Iterator[Walk]:
        """The walks that are one tool longer."""
        last = walk.tail
        if not last.safe:
            return
        for target in self._after[last.id]:
            if target not in walk.path:
                for way in islice(self.ways(walk, self.tools[target]), _MOST_WAYS):
                    yield from self._longer(walk, self.tools[target], way)

    def _longer(self, walk: Walk, target: ToolDoc, way: Way) -> Iterator[Walk]:
        feeds = (*way.feeds, *way.also)
        said = asked(target, self.service(target), frozenset(feed.parameter for feed in feeds))
        if not all(says(one, target, self.service(target)) for one in said):
            return
        more = tuple((target.id, one) for one in said)
        yield Walk((*walk.tools, target), (*walk.feeds, *feeds), (*walk.asked, *more), walk.twice or way.twice)

    def ways(self, walk: Walk, target: ToolDoc) -> Iterator[Way]:
        """How the tail of a walk, with the tools before it, fills what a tool needs: the best first."""
        by_holder: defaultdict[str, list[Feed]] = defaultdict(list)
        for feed in self._feeds[walk.tail.id, target.id]:
            by_holder[holder_of(feed.field)].append(feed)
        found = [way for feeds in by_holder.values() for way in self._of_object(walk, target, feeds)]
        found.sort(key=lambda way: (-min(feed.score for feed in way.feeds), [feed.field for feed in way.feeds]))
        yield from (way for way in found if self._is_simple(walk, target, way))

    def _of_object(self, walk: Walk, target: ToolDoc, feeds: Sequence[Feed]) -> Iterator[Way]:
        """The ways that take from one object of the last answer."""
        best: dict[str, Feed] = {}
        for feed in sorted(feeds, key=lambda one: (-one.score, one.field)):
            best.setdefault(feed.parameter, feed)
        service = self.service(target)
        required = {one.name: one for one in target.required}
        needed = [name for name, one in required.items() if not says(one, target, service) and one.default is None]
        also = [self._earlier(walk, target, name) for name in needed if name not in best]
        if any(feed is None for feed in also):
            return
        earlier = tuple(feed for feed in also if feed is not None)
        taken = [best[name] for name in needed if name in best]
        twice = _twice(taken)
        if twice and len(walk.tools) > 1:
            return
        if taken and not all(_is_plain(one, target) for one in taken):
            yield Way(tuple(taken), earlier, twice)
        elif not taken:
            yield from (Way(some, earlier) for some in self._freely(target, best))

    def _freely(self, target: ToolDoc, best: dict[str, Feed]) -> Iterator[tuple[Feed, ...]]:
        """Feeds into inputs that a user could say: all of an object's where one of them names it, else one by one."""
        open_to = {one.name: one for one in target.parameters if is_topic(one)}
        topics = [feed for name, feed in best.items() if name in open_to and not _is_plain(feed, target)]
        if any(set(words(feed.parameter)) & _NAMING for feed in topics):
            yield tuple(sorted(topics, key=lambda feed: feed.parameter))
        else:
            yield from ((feed,) for feed in topics)

    def _earlier(self, walk: Walk, target: ToolDoc, parameter: str) -> Feed | None:
        """What an answer before the last one gives for an input, the latest first."""
        for tool in reversed(walk.tools[:-1]):
            fit = [one for one in self._feeds.get((tool.id, target.id), ()) if one.parameter == parameter]
            if fit:
                return max(fit, key=lambda one: one.score)
        return None

    def _is_simple(self, walk: Walk, target: ToolDoc, way: Way) -> bool:
        """Whether the last tool is needed: it gives other things than the one before, which could feed the target itself.

        It does not where it is about the very thing that was found before: a field outside of lists, or one of a list that repeats
        what was asked for.
        """
        if len(walk.tools) == 1:
            return True
        before = {feed.parameter for tool in walk.path[:-1] for feed in self._feeds.get((tool, target.id), ())}
        if not {feed.parameter for feed in way.feeds} <= before:
            return True
        return not all(self._same_thing(walk, feed) for feed in way.feeds)

    def known_by_id(self, feeds: Sequence[Feed]) -> set[tuple[str, ...]]:
        """What other tools tell of a thing by its id, where these feeds look for it by its name though the id stands beside it."""
        if not feeds or any(_is_identity(feed) for feed in feeds):
            return set()
        source, target, holder = feeds[0].source, feeds[0].target, holder_of(feeds[0].field)
        by_id = [
            other
            for other in self._after[source]
            if other != target
            and any(_is_identity(one) and holder_of(one.field) == holder for one in self._feeds[source, other])
        ]
        return {words(one.name) for other in by_id for one in self.fields[other] if "[]" not in one.path}

    def _same_thing(self, walk: Walk, feed: Feed) -> bool:
        """Whether a field of the last answer is of the thing that the last tool was asked about."""
        if "[]" not in feed.field:
            given = self._field(feed)
            slot = self.service(walk.tail).given(walk.tail, given) if given else None
            taken = [self.service(walk.tail).taken(walk.tail, one) for one in walk.tail.parameters]
            return slot is None or any(one is not None and one.entities & slot.entities for one in taken)
        asked_with = {words(one.parameter) for one in walk.into(walk.tail.id)} - {(form,) for form in IDENTITY}
        beside = {words(one.name) for one in self.fields[walk.tail.id] if holder_of(one.path) == holder_of(feed.field)}
        return bool(asked_with & beside)


def _is_identity(feed: Feed) -> bool:
    return words(feed.parameter)[-1] in IDENTITY


def _is_plain(feed: Feed, target: ToolDoc) -> bool:
    """Whether an input takes a value that tells no thing: a year, an amount."""
    named = words(feed.parameter)
    if named[-1] in IDENTITY or named[-1] in _PLACE:
        return False
    number = next(one.type in ("integer", "number") for one in target.parameters if one.name == feed.parameter)
    return number or named[-1] in _PLAIN


def _twice(feeds: Sequence[Feed]) -> tuple[str, ...]:
    """The inputs that one and the same field fills."""
    by_field: defaultdict[str, list[str]] = defaultdict(list)
    for feed in feeds:
        by_field[feed.field].append(feed.parameter)
    return next((tuple(several) for several in by_field.values() if len(several) > 1), ())
