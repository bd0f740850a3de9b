"""Intents: what exactly is asked of a combination.

A combination says what is known and what is wanted, but not which items of a list are meant. An intent settles
whether the next tool is called for the first item or for each, and which part of the last list is the answer: all
items, the first one, their number, the one with the most or the least of a number, or those whose field has a value
that the user states.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.execution.call_wording import is_identifying_field
from domain.tool import ToolDoc, ToolId
from graph.identifiers import split_words
from graph.links import FeedLink
from graph.response_fields import OutputField, output_fields
from graph.walks import FeedWalk
from synthesis.combinations import Combination, UserInput
from synthesis.field_labels import find_label_field, find_named_label, list_object_fields

ItemMode = Literal["one", "first", "each"]
"""What the next call takes from a response: its only value, that of a list's first item, or that of each item."""
IntentKind = Literal["all", "first", "count", "most", "least", "where"]
"""Which part of the last response is asked for."""

MAX_CONDITIONS = 3
"""Maximum of fields of one list by which its items are chosen; each makes an intent."""
_NUMBERS = ("integer", "number")


@dataclass(frozen=True, slots=True)
class QueryPath:
    """A combination of tools that only read, viewed call by call."""

    combination: Combination

    @property
    def walk(self) -> FeedWalk:
        """The walk of the combination."""
        return self.combination.walk

    def list_inputs(self, tool: ToolId, role: str = "") -> tuple[UserInput, ...]:
        """List the inputs that a user states for a call of one of the tools.

        ``role``: the role of the call, where the first tool is called twice.
        """
        return tuple(
            user_input for user_input in self.combination.inputs if user_input.fills(tool) and user_input.role == role
        )

    @property
    def output(self) -> str:
        """Path of the requested field in the last tool's response; empty if there is none."""
        return self.combination.output.path if self.combination.output is not None else ""

    def identifies_one_thing(self, number: int = 0) -> bool:
        """Return whether the inputs of the ``number``-th tool (from 0) name one thing.

        The first item that the tool finds is then the one that is meant.
        """
        return self._find_named_label(number) is not None

    def is_lookup_path(self, number: int, path: str) -> bool:
        """Return whether a path goes through a list whose first item is the thing that was looked up.

        ``number``: index of the tool whose response the path is in.
        """
        label = self._find_named_label(number)
        return label is not None and "[]" in label.path and path.startswith(label.path.partition("[]")[0] + "[]")

    def resolve_lookup_path(self, number: int, path: str) -> str:
        """Return a path relative to the thing that the ``number``-th tool looked up; unchanged if there is none."""
        return get_first_item_path(path) if self.is_lookup_path(number, path) else path

    def _find_named_label(self, number: int) -> OutputField | None:
        tool = self.walk.tools[number]
        parameter_names = [feed.parameter for feed in self.walk.list_feeds_into(tool.id)]
        parameter_names += [
            user_input.parameter.name for user_input in self.combination.inputs if user_input.fills(tool.id)
        ]
        return find_named_label(tool, [*dict.fromkeys(parameter_names)])

    def get_feeds(self, number: int) -> tuple[FeedLink, ...]:
        """Return the links by which the tool before feeds the ``number``-th one (from 0); all start at one object."""
        source, tool = self.walk.path[number - 1 : number + 1]
        return tuple(feed for feed in self.walk.list_feeds_into(tool) if feed.source == source)


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that may be asked of a combination."""

    query_path: QueryPath
    item_modes: tuple[ItemMode, ...]
    """Modes in which each tool after the first takes values of the response before it."""
    kind: IntentKind
    compared_path: str = ""
    """Path of the field that is compared, in the last response; empty for kinds that compare nothing."""

    @property
    def tail(self) -> ToolDoc:
        """The tool whose response has the answer."""
        return self.query_path.walk.tail

    @property
    def is_fan_out(self) -> bool:
        """True if the last tool is called for each item of a list."""
        return "each" in self.item_modes

    @property
    def has_several_values(self) -> bool:
        """True if the answer is a list: of several calls, or of one response."""
        return self.is_fan_out or "[]" in self._output_path

    @property
    def is_about_sources(self) -> bool:
        """True if the question is about the things that the last tool is called for, rather than items of its response."""
        path = self._output_path
        return self.is_fan_out and ("[]" not in path or (self.kind == "where" and path.endswith("[]")))

    @property
    def _output_path(self) -> str:
        """Path of the asked field in the last response."""
        return self.query_path.resolve_lookup_path(len(self.query_path.walk.tools) - 1, self.query_path.output)


def get_first_item_path(path: str) -> str:
    """Return the part of a path within an item of its outermost list; the path itself without a list."""
    before, brackets, rest = path.partition("[]")
    return rest.removeprefix(".") if brackets else before


def find_role(parameter: str, roles: Sequence[str]) -> str:
    """Return the role that an input goes with: ``from_lng`` with ``from_lat`` rather than with ``to_lat``."""
    parameter_words = set(split_words(parameter))
    return max(roles, key=lambda role: (role == parameter, len(parameter_words & set(split_words(role)))))


def enumerate_intents(query_path: QueryPath) -> Iterator[Intent]:
    """Yield everything that can be asked of a combination, the plainest first."""
    for item_modes in _enumerate_item_modes(query_path):
        yield from _enumerate_final_intents(query_path, item_modes)


def _enumerate_item_modes(query_path: QueryPath) -> Iterator[tuple[ItemMode, ...]]:
    """Yield what each call may take of the response before it.

    Of a list that is the first item or each; nothing is called for each item of a list of first items.
    """

    def extend(number: int, before: tuple[ItemMode, ...]) -> Iterator[tuple[ItemMode, ...]]:
        if number == len(query_path.walk.tools):
            yield before
            return
        # The first tool is called twice, with one thing for each role: there is nothing to choose between.
        if number == 1 and query_path.walk.repeated_inputs:
            yield from extend(2, ("one",))
            return
        if "[]" not in query_path.resolve_lookup_path(number - 1, query_path.get_feeds(number)[0].field):
            yield from extend(number + 1, (*before, "one"))
            return
        yield from extend(number + 1, (*before, "each"))
        if "each" not in before and "first" not in before and (number > 1 or query_path.identifies_one_thing()):
            yield from extend(number + 1, (*before, "first"))

    yield from extend(1, ())


def _enumerate_final_intents(query_path: QueryPath, item_modes: tuple[ItemMode, ...]) -> Iterator[Intent]:
    """Yield the intents that end a path of item modes, by what the requested field allows."""
    doc, path = query_path.walk.tail, query_path.output
    field = next((output_field for output_field in output_fields(doc) if output_field.path == path), None)
    inner_path = query_path.resolve_lookup_path(len(query_path.walk.tools) - 1, path)
    is_fan_out = "each" in item_modes
    yield Intent(query_path, item_modes, "all")
    if (
        "[]" not in inner_path and not is_fan_out
    ) or "first" in item_modes:  # at most one selection beyond the plain question
        return
    has_own_list = "[]" in inner_path
    label = find_label_field(doc, path) if has_own_list else None
    if has_own_list and not is_fan_out:
        yield Intent(query_path, item_modes, "first")
    if field is None:
        return
    if path.endswith("[]") or (label is not None and label.path == path):
        yield Intent(query_path, item_modes, "count")
    if field.type in _NUMBERS and not is_identifying_field(field.name) and (label or (is_fan_out and not has_own_list)):
        yield Intent(query_path, item_modes, "most", path)
        yield Intent(query_path, item_modes, "least", path)
    if label is not None and label.path == path:
        for condition_field in _find_condition_fields(doc, path):
            yield Intent(query_path, item_modes, "where", condition_field.path)
    elif is_fan_out and (path.endswith("[]") or not has_own_list) and field.type == "string":
        yield Intent(query_path, item_modes, "where", path)


def _find_condition_fields(doc: ToolDoc, path: str) -> list[OutputField]:
    """Find the fields by which the items of a list may be chosen, ids and the label excluded."""
    label = find_label_field(doc, path)
    candidates = [
        field
        for field in list_object_fields(doc, path)
        if field.path != path and field is not label and not is_identifying_field(field.name)
    ]
    return [field for field in candidates if field.type in ("string", "integer", "boolean")][:MAX_CONDITIONS]
