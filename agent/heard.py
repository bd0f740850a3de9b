"""A response that a run has heard: its fields, and the texts that words can be taken out of."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from pydantic.types import JsonValue

from agent.said import plain, plain_value, stands
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.literals import read_value


class _Read(NamedTuple):
    """Each with its place. ``fields``: whole values; ``texts``: what is longer than a word may be; ``names``: of fields."""

    fields: dict[str, str]
    texts: dict[str, str]
    names: dict[str, str]


class Heard:
    """What one tool answered. ``reference``: how a run's events name it, as ``earlier.2``; empty for those of the run itself.

    It is read when a value is first looked for in it.
    """

    def __init__(self, tool: ToolDoc, result: StepResult, reference: str = "") -> None:
        self.tool = tool
        self.reference = reference
        self._response = result.response

    def field(self, value: JsonValue) -> str | None:
        """Where a whole field is a value; None where none is."""
        return self._read.fields.get(_key(value))

    def prose(self, value: JsonValue) -> str | None:
        """Where a value stands inside a longer text, or in the name of a field; None where it does not."""
        text = plain_value(value)
        inside = (place for told, place in self._read.texts.items() if told != text and stands(text, told))
        named = (place for told, place in self._read.names.items() if stands(text, told))
        return next(inside, None) if (found := next(named, None)) is None else found

    @cached_property
    def _read(self) -> _Read:
        read = _Read({}, {}, {})
        whole = read_value(self._response)
        if whole is None:  # no JSON: one text, of which even the whole is no field
            read.names[plain(self._response)] = ""
            return read
        for place, leaf, named in _walk(whole):
            if named:
                read.names.setdefault(plain(named), place)
            else:
                read.fields.setdefault(_key(leaf), place)
                if isinstance(leaf, str):
                    read.texts.setdefault(plain(leaf), place)
        return read


def _key(value: JsonValue) -> str:
    """Equal for a number and the same number as text."""
    text = plain_value(value)
    try:
        return f"{float(text):.10g}"
    except ValueError:
        return text


def _walk(whole: JsonValue) -> Iterator[tuple[str, JsonValue, str]]:
    """Every field and every name of one, with their places; without recursion, whatever the depth."""
    left: list[tuple[str, JsonValue]] = [("", whole)]
    while left:
        place, value = left.pop()
        if isinstance(value, dict):
            inside = [(f"{place}.{name}" if place else name, name, item) for name, item in value.items()]
            yield from ((at, None, name) for at, name, _ in inside)
            left += [(at, item) for at, _, item in reversed(inside)]
        elif isinstance(value, list):
            left += [(f"{place}[{index}]", item) for index, item in reversed(list(enumerate(value)))]
        elif value is not None and not isinstance(value, bool):
            yield place, value, ""
