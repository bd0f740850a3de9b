"""The ground that walks go over: tools with what is known of them together, and the couplings worth following.

A coupling says that a field *can* fill an input. A walk follows it only where the two are of one thing: by an id, or by a name under which
the thing is looked for. What only narrows a search, like the year that two things share, is not followed.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from domain.tool import Parameter, ToolDoc, ToolId
from graph.coupling import VAGUE, subject
from graph.entities import Service, service_of
from graph.feed_index import FeedIndex, slim
from graph.fuzzy import identifies, is_fuzzy
from graph.identifiers import words
from graph.links import Feed
from graph.looks import holder_of
from graph.response_fields import OutputField, output_fields
from graph.vocabulary import IDENTITY

_LEAST = 0.85
"""The least score of a feed by words: the same words stand on both sides, or what holds the field says what it lacks."""

_PLAIN = frozenset(
    {
        "year", "date", "day", "month", "week", "time", "datetime", "timestamp", "hour", "minute", "count", "price", "amount", "age", "rating",
        "score", "rank", "status", "type", "size", "quantity", "total", "duration", "gender", "value", "percent", "percentage", "weekday",
        "language", "description", "message", "version", "format", "limit", "color", "source", "text", "content", "param", "parameter",
    }
)  # fmt: skip
"""Words of what many unlike things have: that two share a year says nothing of them."""

_PLACE = frozenset({"latitude", "longitude"})

_COLLECTIVE = frozenset(
    {
        "data", "result", "item", "list", "response", "record", "hit", "entry", "row", "content", "body", "payload", "value", "object",
        "element", "node", "edge", "doc", "document", "info", "detail", "attribute", "match", "output", "collection", "embedded", "main", "all",
    }
)  # fmt: skip
"""Words of lists and objects that do not say what is in them."""


class Ground:
    """Tools by id, the fields of their responses, and which feeds which."""

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
                if self._is_followed(feed):
                    self._feeds.setdefault((feed.source, tool), []).append(feed)
        for source, target in sorted(self._feeds):
            self._after[source].append(target)

    # -- what is known of the tools

    def service(self, tool: ToolDoc) -> Service:
        """What is known of the tools of its service."""
        return self._services[service_of(tool)]

    def heads(self) -> list[ToolDoc]:
        """The tools that take what users say, in the order of their ids."""
        return [doc for doc in self.tools.values() if is_fuzzy(doc, self.service(doc))]

    def after(self, source: ToolId) -> Sequence[ToolId]:
        """The tools that a tool feeds."""
        return self._after.get(source, ())

    def feeds(self, source: ToolId, target: ToolId) -> Sequence[Feed]:
        """What of one tool's answer fills inputs of another."""
        return self._feeds.get((source, target), ())

    def field(self, feed: Feed) -> OutputField | None:
        """The field that feeds; None where the source's answer is not known to have it."""
        return next((one for one in self.fields[feed.source] if one.path == feed.field), None)

    def beside(self, feed: Feed) -> Iterable[OutputField]:
        """The fields of the object whose field feeds."""
        return (one for one in self.fields[feed.source] if holder_of(one.path) == holder_of(feed.field))

    def known_by_id(self, feeds: Sequence[Feed]) -> set[tuple[str, ...]]:
        """What other tools tell of a thing by its id, where these feeds look for it by its name though the id stands beside it."""
        if not feeds or any(is_identity(feed) for feed in feeds):
            return set()
        source, target, holder = feeds[0].source, feeds[0].target, holder_of(feeds[0].field)
        by_id = [
            other
            for other in self.after(source)
            if other != target
            and any(is_identity(one) and holder_of(one.field) == holder for one in self.feeds(source, other))
        ]
        return {words(one.name) for other in by_id for one in self.fields[other] if "[]" not in one.path}

    # -- which couplings are followed

    def _is_followed(self, feed: Feed) -> bool:
        source, target = self.tools[feed.source], self.tools[feed.target]
        parameter = next((one for one in target.parameters if one.name == feed.parameter), None)
        given = self.field(feed)
        if parameter is None or given is None or not source.safe or self._echo(source, given):
            return False
        if any(mark.fills and mark.source == source.id and mark.field == feed.field for mark in target.feed_marks):
            return True
        service = self.service(target)
        if identifies(parameter, target, service):
            return self._of_one_thing(source, given, parameter, target, feed)
        if is_plain(parameter):
            return parameter.required
        if set(words(parameter.name)) <= VAGUE or not parameter.required:
            return feed.score >= _LEAST and self._is_looked_for(source, given, parameter, target)
        return feed.score >= _LEAST

    def _of_one_thing(
        self, source: ToolDoc, given: OutputField, parameter: Parameter, target: ToolDoc, feed: Feed
    ) -> bool:
        """Whether an id is of what the input asks for: not where the object that has it goes by a name of its own."""
        taken = self.service(target).taken(target, parameter)
        if taken is None:
            return parameter.required or feed.score >= _LEAST
        if service_of(source) != service_of(target):
            return True
        slot = self.service(source).given(source, given)
        named = words(holder_of(given.path).replace("[]", "").rpartition(".")[2])
        if slot is None or slot.told or len(words(given.name)) > 1 or not named or named[-1] in _COLLECTIVE:
            return True
        return any(named[-1] in entity.split() for entity in taken.entities) or named[-1] in subject(source.api)

    def _is_looked_for(self, source: ToolDoc, given: OutputField, parameter: Parameter, target: ToolDoc) -> bool:
        """Whether a tool finds by this input things of the kind that the field is of: what it lists has the same field."""
        wanted = words(parameter.name)
        if (
            parameter.required is False
            and wanted[-1] not in ("name", "title")
            and not self._is_beside_name(source, given, target)
        ):
            return False
        alike = [one for one in self.fields[target.id] if words(one.name) == wanted]
        own = self.kind_of(source, given)
        return any(own & self.kind_of(target, one) for one in alike)

    def _is_beside_name(self, source: ToolDoc, given: OutputField, target: ToolDoc) -> bool:
        """Whether the object has a name too, by which the target looks for it: what else it has tells it from its namesakes."""
        inputs = {words(one.name) for one in target.parameters}
        return any(
            words(one.name) in inputs and words(one.name)[-1] in ("name", "title")
            for one in self.fields[source.id]
            if holder_of(one.path) == holder_of(given.path) and words(one.name)
        )

    def kind_of(self, tool: ToolDoc, field: OutputField) -> frozenset[str]:
        """What an object is: the entities of its id; without one the last word of its own name, or of its tool's."""
        service = self.service(tool)
        found: frozenset[str] = frozenset()
        for one in self.fields[tool.id]:
            if holder_of(one.path) == holder_of(field.path):
                slot = service.given(tool, one)
                if slot is not None and slot.form in IDENTITY:
                    found |= slot.entities
        named = [
            word
            for word in words(holder_of(field.path).replace("[]", "").rpartition(".")[2])
            if word not in _COLLECTIVE
        ]
        return found or (frozenset(named[-1:]) if named else subject(tool.api))

    def _echo(self, source: ToolDoc, given: OutputField) -> bool:
        """Whether a field repeats what its tool has to be asked with: whoever has it there had it before."""
        service = self.service(source)
        if service.given(source, given) is not None:
            return service.echoes(source, given)
        return any(words(one.name) == words(given.name) for one in source.required)


def is_identity(feed: Feed) -> bool:
    """Whether an id is fed."""
    return words(feed.parameter)[-1] in IDENTITY


def is_plain(parameter: Parameter) -> bool:
    """Whether an input takes a value that tells no thing: a year, an amount."""
    last = words(parameter.name)[-1]
    if last in IDENTITY or last in _PLACE:
        return False
    return parameter.type in ("integer", "number") or last in _PLAIN
