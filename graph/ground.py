"""Graph of tools that feed one another: the tools with their entities, and the couplings worth following."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from domain.tool import ToolDoc, ToolId
from graph.entities import Service, service_of
from graph.feed_index import FeedIndex, slim
from graph.followed import Followed
from graph.fuzzy import is_fuzzy
from graph.identifiers import words
from graph.links import Feed
from graph.looks import holder_of
from graph.response_fields import OutputField, output_fields
from graph.vocabulary import IDENTITY

_DATA = re.compile(r"\d+|.*\d{4}.*|.*[@^*,|].*")
"""A step of a path that is a value rather than a name: an id or a date under which an example keeps something."""


class Ground:
    """Tools by id, the fields of their responses, and the feeds between them."""

    def __init__(self, tools: Iterable[ToolDoc]) -> None:
        self.tools = {doc.id: doc for doc in sorted(tools, key=lambda doc: doc.id)}
        self.fields = {tool: tuple(filter(_is_named, output_fields(doc))) for tool, doc in self.tools.items()}
        members: defaultdict[tuple[str, str], list[tuple[ToolDoc, tuple[OutputField, ...]]]] = defaultdict(list)
        for tool, doc in self.tools.items():
            members[service_of(doc)].append((doc, self.fields[tool]))
        self._services = {home: Service(some) for home, some in members.items()}
        self._feeds: dict[tuple[ToolId, ToolId], list[Feed]] = {}
        self._after: defaultdict[ToolId, list[ToolId]] = defaultdict(list)
        self._couple()

    def _couple(self) -> None:
        """Collect the stored and the found feeds that are followed."""
        index, followed = FeedIndex(), Followed(self.tools, self.fields, self._services)
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
                if followed.has(feed):
                    self._feeds.setdefault((feed.source, tool), []).append(feed)
        for source, target in sorted(self._feeds):
            self._after[source].append(target)

    # -- access

    def service(self, tool: ToolDoc) -> Service:
        """Return the entities of the tool's service."""
        return self._services[service_of(tool)]

    def heads(self) -> list[ToolDoc]:
        """Return the tools that take only what users state, in the order of their ids."""
        return [doc for doc in self.tools.values() if is_fuzzy(doc, self.service(doc))]

    def after(self, source: ToolId) -> Sequence[ToolId]:
        """Return the tools that a tool feeds."""
        return self._after.get(source, ())

    def feeds(self, source: ToolId, target: ToolId) -> Sequence[Feed]:
        """Return the feeds from one tool into another."""
        return self._feeds.get((source, target), ())

    def field(self, feed: Feed) -> OutputField | None:
        """Return the field that feeds; None if the source's answer is not known to have it."""
        return next((one for one in self.fields[feed.source] if one.path == feed.field), None)

    def beside(self, feed: Feed) -> Iterable[OutputField]:
        """Return the fields of the object whose field feeds."""
        return (one for one in self.fields[feed.source] if holder_of(one.path) == holder_of(feed.field))

    def known_by_id(self, feeds: Sequence[Feed]) -> set[tuple[str, ...]]:
        """Return the names of fields that other tools return by a thing's id, if these feeds look for it by name.

        Empty if one of the feeds is an id, or if no tool takes the id next to the name.
        """
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


def _is_named(field: OutputField) -> bool:
    """Return whether the field has the same name in the next answer, that is, no step of its path is data."""
    return not any(_DATA.fullmatch(step) for step in field.path.replace("[]", "").split("."))


def is_identity(feed: Feed) -> bool:
    """Return whether a feed carries an id."""
    return words(feed.parameter)[-1] in IDENTITY
