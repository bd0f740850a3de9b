"""Intents: what exactly is asked of a combination.

SoAy's combination says what is known and what is wanted, but leaves open which items of a list are meant. An intent
settles whether the next tool is called for the first item or for each, and whether of the last list the answer is all
of it, its first item, its length, the item with the most or the least of a number, or the items whose field has a
value that the user states.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.execution.things import tells_apart
from domain.tool import ToolDoc, ToolId
from graph.identifiers import words
from graph.links import Feed
from graph.response_fields import OutputField, output_fields
from graph.walks import Walk
from synthesis.combinations import Combination, Said
from synthesis.documents import beside, called, named_by

Taken = Literal["one", "first", "each"]
"""Part of a response that the next call takes: a single value, one of a list's first item, or one of each item."""
Asked = Literal["all", "first", "count", "most", "least", "where"]
"""Which part of the last response is asked for."""

MOST_CONDITIONS = 3
"""Fields of one list by which its items are chosen; each makes an intent of its own."""
_NUMBERS = ("integer", "number")


@dataclass(frozen=True, slots=True)
class Course:
    """A combination that only reads, as it is followed call by call."""

    combination: Combination

    @property
    def walk(self) -> Walk:
        """The walk of the combination."""
        return self.combination.walk

    def said(self, tool: ToolId, role: str = "") -> tuple[Said, ...]:
        """List the inputs that a user states for a call of one of the tools.

        ``role``: the role of the call, where the first tool is called twice.
        """
        return tuple(one for one in self.combination.inputs if one.goes_to(tool) and one.role == role)

    @property
    def output(self) -> str:
        """Path of the requested field in the last tool's response; empty if there is none."""
        return self.combination.output.path if self.combination.output is not None else ""

    def single(self, number: int = 0) -> bool:
        """Return whether the inputs of the ``number``-th tool name one thing.

        The first item that the tool finds is then the one that is meant.
        """
        return self._named(number) is not None

    def looks_up(self, number: int, path: str) -> bool:
        """Return whether a path goes through the list of a look-up.

        Its first item is the thing that was looked for. ``number``: index of the tool whose response the path is in.
        """
        named = self._named(number)
        return named is not None and "[]" in named.path and path.startswith(named.path.partition("[]")[0] + "[]")

    def within(self, number: int, path: str) -> str:
        """Return a path of the ``number``-th response within the one thing that was looked up, if it looks one up."""
        return after_one(path) if self.looks_up(number, path) else path

    def _named(self, number: int) -> OutputField | None:
        tool = self.walk.tools[number]
        given = [feed.parameter for feed in self.walk.into(tool.id)]
        given += [one.parameter.name for one in self.combination.inputs if one.goes_to(tool.id)]
        return named_by(tool, [*dict.fromkeys(given)])

    def fed_by(self, number: int) -> tuple[Feed, ...]:
        """Return the values that the tool before the ``number``-th one (from 0) gives it; all are of one object."""
        before, tool = self.walk.path[number - 1 : number + 1]
        return tuple(feed for feed in self.walk.into(tool) if feed.source == before)


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that may be asked of a combination."""

    course: Course
    taken: tuple[Taken, ...]
    """Modes in which each tool after the first takes values of the response before it."""
    asked: Asked
    by: str = ""
    """Path of the field that is compared, in the last response; empty for kinds that compare nothing."""

    @property
    def last(self) -> ToolDoc:
        """The tool whose response has the answer."""
        return self.course.walk.tail

    @property
    def many(self) -> bool:
        """True if the last tool is called for each item of a list."""
        return "each" in self.taken


def after_one(path: str) -> str:
    """Return the part of a path within the first item of its outermost list; the path itself without a list."""
    before, brackets, rest = path.partition("[]")
    return rest.removeprefix(".") if brackets else before


def role_of(parameter: str, roles: Sequence[str]) -> str:
    """Return the role that an input goes with: ``from_lng`` with ``from_lat`` rather than with ``to_lat``."""
    own = set(words(parameter))
    return max(roles, key=lambda role: (role == parameter, len(own & set(words(role)))))


def intents(course: Course) -> Iterator[Intent]:
    """Yield everything that can be asked of a combination, the plainest first."""
    for taken in _ways(course):
        yield from _of_last(course, taken)


def _ways(course: Course) -> Iterator[tuple[Taken, ...]]:
    """Yield what each call may take of the response before it.

    Of a list that is the first item or each; nothing is called for each item of a list of first items.
    """

    def further(number: int, before: tuple[Taken, ...]) -> Iterator[tuple[Taken, ...]]:
        if number == len(course.walk.tools):
            yield before
            return
        # The first tool is called twice, with one thing for each role: there is nothing to choose between.
        if number == 1 and course.walk.twice:
            yield from further(2, ("one",))
            return
        if "[]" not in course.within(number - 1, course.fed_by(number)[0].field):
            yield from further(number + 1, (*before, "one"))
            return
        yield from further(number + 1, (*before, "each"))
        if "each" not in before and "first" not in before and (number > 1 or course.single()):
            yield from further(number + 1, (*before, "first"))

    yield from further(1, ())


def _of_last(course: Course, taken: tuple[Taken, ...]) -> Iterator[Intent]:
    """Yield the intents that end a path of item modes, by what the requested field allows."""
    doc, path = course.walk.tail, course.output
    field = next((one for one in output_fields(doc) if one.path == path), None)
    inner = course.within(len(course.walk.tools) - 1, path)
    many = "each" in taken
    yield Intent(course, taken, "all")
    if ("[]" not in inner and not many) or "first" in taken:  # one thing is asked beyond the plain, not two
        return
    own_list = "[]" in inner
    label = called(doc, path) if own_list else None
    if own_list and not many:
        yield Intent(course, taken, "first")
    if field is None:
        return
    if path.endswith("[]") or (label is not None and label.path == path):
        yield Intent(course, taken, "count")
    if field.type in _NUMBERS and not tells_apart(field.name) and (label or (many and not own_list)):
        yield Intent(course, taken, "most", path)
        yield Intent(course, taken, "least", path)
    if label is not None and label.path == path:
        for other in _conditions(doc, path):
            yield Intent(course, taken, "where", other.path)
    elif many and (path.endswith("[]") or not own_list) and field.type == "string":
        yield Intent(course, taken, "where", path)


def _conditions(doc: ToolDoc, path: str) -> list[OutputField]:
    """Find the fields by which the items of a list may be chosen: names and numbers, no ids and no addresses."""
    label = called(doc, path)
    own = [one for one in beside(doc, path) if one.path != path and one is not label and not tells_apart(one.name)]
    return [one for one in own if one.type in ("string", "integer", "boolean")][:MOST_CONDITIONS]
