"""Walks: sequences of at most three different tools in which each response feeds the next call.

A walk is a solution in the sense of SoAy (definition 2), without the choice of inputs and outputs. It is *valid* if its
first tool takes what users state, and *simple* if no tool is called for a value that was known before. A tool with side
effects can only end a walk.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from domain.tool import Parameter, ToolDoc, ToolId
from graph.entity_vocabulary import IDENTITY, get_parent_path
from graph.feed_graph import FeedGraph, is_plain_value
from graph.fuzzy import is_topic, needs_lookup, select_user_inputs
from graph.identifiers import split_words
from graph.links import FeedLink

MAX_TOOLS = 3
_MAX_CHOICES = 4
"""Maximum number of alternative feeds from one tool into another that are followed, each as a walk of its own."""

_NAMING = frozenset({"name", "title"})


@dataclass(frozen=True, slots=True)
class FeedWalk:
    """A sequence of tools with the feeds between them."""

    tools: tuple[ToolDoc, ...]
    feeds: tuple[FeedLink, ...] = ()
    """Feeds into the second and later tools, in their order."""
    user_inputs: tuple[tuple[ToolId, Parameter], ...] = ()
    """Inputs of the second and later tools that the user gives."""
    repeated_inputs: tuple[str, ...] = ()
    """Inputs of the second tool that are all filled by the same field of the first; empty for the usual single input.

    The first tool is then called once for each of them: a station search, for the two stations of a journey.
    """

    @property
    def head(self) -> ToolDoc:
        """The first tool."""
        return self.tools[0]

    @property
    def tail(self) -> ToolDoc:
        """The last tool."""
        return self.tools[-1]

    @property
    def path(self) -> tuple[ToolId, ...]:
        """The ids of its tools."""
        return tuple(tool.id for tool in self.tools)

    @property
    def changes(self) -> bool:
        """True if the last tool has side effects."""
        return not self.tail.safe

    def list_feeds_into(self, tool: ToolId) -> tuple[FeedLink, ...]:
        """Return the feeds into one of its tools."""
        return tuple(feed for feed in self.feeds if feed.target == tool)


def find_walks(tools: Iterable[ToolDoc], max_tools: int = MAX_TOOLS) -> Iterator[FeedWalk]:
    """Yield all valid and simple walks over these tools in a stable order, shorter ones first.

    Pass as many tools of a service at once as possible: they determine each other's entities.
    """
    return find_walks_over(FeedGraph(tools), max_tools)


def find_walks_over(ground: FeedGraph, max_tools: int = MAX_TOOLS) -> Iterator[FeedWalk]:
    """Yield walks as :func:`find_walks` does, over tools that are already indexed."""
    walker = _WalkFinder(ground)
    current = [FeedWalk((head,)) for head in ground.find_fuzzy_tools()]
    for length in range(1, max_tools + 1):
        yield from current
        if length < max_tools:
            current = [longer for walk in current for longer in walker.extend(walk)]


@dataclass(frozen=True, slots=True)
class FeedChoice:
    """One of several ways to fill a tool's inputs from the responses of a walk."""

    feeds: tuple[FeedLink, ...]
    """Feeds from fields of one object of the last response."""
    earlier_feeds: tuple[FeedLink, ...] = ()
    """Feeds from responses before the last one."""
    repeated_inputs: tuple[str, ...] = ()
    """Inputs that one field fills; see :attr:`FeedWalk.repeated_inputs`."""


class _WalkFinder:
    """Extends walks tool by tool."""

    def __init__(self, ground: FeedGraph) -> None:
        self._ground = ground

    def extend(self, walk: FeedWalk) -> Iterator[FeedWalk]:
        """Yield the walks that are one tool longer; none after a tool with side effects."""
        last = walk.tail
        if not last.safe:
            return
        for target in self._ground.get_successors(last.id):
            if target not in walk.path:
                for way in islice(self.find_feed_choices(walk, self._ground.tools[target]), _MAX_CHOICES):
                    yield self._append(walk, self._ground.tools[target], way)

    def _append(self, walk: FeedWalk, target: ToolDoc, way: FeedChoice) -> FeedWalk:
        """Append a tool to a walk.

        An input that no feed of ``way`` fills takes the field that fed an input of the same name before, or else is
        given by the user.
        """
        feeds = [*way.feeds, *way.earlier_feeds]
        user_inputs: list[tuple[ToolId, Parameter]] = []
        for parameter in select_user_inputs(
            target, self._ground.get_service(target), frozenset(feed.parameter for feed in feeds)
        ):
            earlier_feed = next(
                (feed for feed in walk.feeds if split_words(feed.parameter) == split_words(parameter.name)), None
            )
            if earlier_feed is None:
                user_inputs.append((target.id, parameter))
            else:
                feeds.append(
                    FeedLink(earlier_feed.source, target.id, earlier_feed.field, parameter.name, earlier_feed.score)
                )
        return FeedWalk(
            (*walk.tools, target),
            (*walk.feeds, *feeds),
            (*walk.user_inputs, *user_inputs),
            walk.repeated_inputs or way.repeated_inputs,
        )

    def find_feed_choices(self, walk: FeedWalk, target: ToolDoc) -> Iterator[FeedChoice]:
        """Yield the choices of feeds from the walk's last tool, and earlier ones, into ``target``, best first."""
        by_holder: defaultdict[str, list[FeedLink]] = defaultdict(list)
        head_inputs = {
            split_words(one.name) for one in select_user_inputs(walk.head, self._ground.get_service(walk.head))
        }
        for feed in self._ground.get_feeds(walk.tail.id, target.id):
            # The user gave a value of this name to the first tool. Only a choice from a list may replace it.
            if "[]" not in feed.field and split_words(feed.parameter) in head_inputs:
                continue
            by_holder[get_parent_path(feed.field)].append(feed)
        choices = [way for feeds in by_holder.values() for way in self._find_choices_in_object(walk, target, feeds)]
        choices.sort(key=lambda way: (-min(feed.score for feed in way.feeds), [feed.field for feed in way.feeds]))
        yield from (way for way in choices if self._is_simple(walk, target, way))

    def _find_choices_in_object(
        self, walk: FeedWalk, target: ToolDoc, feeds: Sequence[FeedLink]
    ) -> Iterator[FeedChoice]:
        """Yield the choices whose ``feeds``, all from one object of the last response, fill what ``target`` needs."""
        best: dict[str, FeedLink] = {}
        for feed in sorted(feeds, key=lambda one: (-one.score, one.field)):
            best.setdefault(feed.parameter, feed)
        service = self._ground.get_service(target)
        required = {one.name: one for one in target.required}
        needed = [name for name, one in required.items() if needs_lookup(one, target, service)]
        earlier_feeds = [self._find_earlier_feed(walk, target, name) for name in needed if name not in best]
        if any(feed is None for feed in earlier_feeds):
            return
        earlier = tuple(feed for feed in earlier_feeds if feed is not None)
        chosen = [best[name] for name in needed if name in best]
        twice = _find_repeated_inputs(chosen)
        if (twice and len(walk.tools) > 1) or _has_lone_coordinate([*chosen, *earlier]):
            return
        if chosen and not all(is_plain_value(_find_parameter(target, one)) for one in chosen):
            yield FeedChoice(tuple(chosen), earlier, twice)
        elif not chosen:
            optional_feeds = self._iterate_optional_feeds(target, best)
            yield from (FeedChoice(some, earlier) for some in optional_feeds if not _has_lone_coordinate(some))

    def _iterate_optional_feeds(self, target: ToolDoc, best: dict[str, FeedLink]) -> Iterator[tuple[FeedLink, ...]]:
        """Yield the groups of feeds into optional topics: all together if one of them is a name, else each alone."""
        open_inputs = {one.name: one for one in target.parameters if is_topic(one)}
        topics = [feed for name, feed in best.items() if name in open_inputs and not is_plain_value(open_inputs[name])]
        if any(set(split_words(feed.parameter)) & _NAMING for feed in topics):
            yield tuple(sorted(topics, key=lambda feed: feed.parameter))
        else:
            yield from ((feed,) for feed in topics)

    def _find_earlier_feed(self, walk: FeedWalk, target: ToolDoc, parameter: str) -> FeedLink | None:
        """Return the best feed into an input from a response before the last one, the latest response first."""
        for tool in reversed(walk.tools[:-1]):
            matching = [one for one in self._ground.get_feeds(tool.id, target.id) if one.parameter == parameter]
            if matching:
                return max(matching, key=lambda one: one.score)
        return None

    def _is_simple(self, walk: FeedWalk, target: ToolDoc, choice: FeedChoice) -> bool:
        """Return whether the walk's last tool is needed to feed ``target``.

        It is not if every feed of the choice could have come from the object that fed the last tool itself. A tool that
        lists other things of the same kind is needed nevertheless.
        """
        into = walk.list_feeds_into(walk.tail.id)
        if not into:
            return True
        asked_by = into[0]
        direct = {
            feed.parameter
            for feed in self._ground.get_feeds(asked_by.source, target.id)
            if get_parent_path(feed.field) == get_parent_path(asked_by.field)
        }
        return any(feed.parameter not in direct or self._is_about_others(walk, feed) for feed in choice.feeds)

    def _is_about_others(self, walk: FeedWalk, feed: FeedLink) -> bool:
        """Return whether a field of the last response is about other things than the one that the tool was called for.

        It is if it lies in a list whose items do not repeat the tool's inputs, as the results of a search would.
        """
        asked_with = {split_words(one.parameter) for one in walk.list_feeds_into(walk.tail.id)}
        asked_with = {named for named in asked_with if named[-1] not in IDENTITY}
        return "[]" in feed.field and not asked_with & {
            split_words(one.name) for one in self._ground.list_holder_fields(feed)
        }


def _find_parameter(tool: ToolDoc, feed: FeedLink) -> Parameter:
    return next(one for one in tool.parameters if one.name == feed.parameter)


def _has_lone_coordinate(feeds: Sequence[FeedLink]) -> bool:
    """Return whether latitude or longitude is fed without the other."""
    parameter_words = {word for feed in feeds for word in split_words(feed.parameter)}
    return ("latitude" in parameter_words) != ("longitude" in parameter_words)


def _find_repeated_inputs(feeds: Sequence[FeedLink]) -> tuple[str, ...]:
    """Return the inputs that are filled from one and the same field."""
    by_field: defaultdict[str, list[str]] = defaultdict(list)
    for feed in feeds:
        by_field[feed.field].append(feed.parameter)
    return next((tuple(several) for several in by_field.values() if len(several) > 1), ())
