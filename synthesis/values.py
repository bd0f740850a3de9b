"""Values for the inputs of combinations: from recorded calls, examples in documents, and allowed values."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic.types import JsonValue

from agent.execution.things import tells_apart
from agent.parameters.forms import allowed
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, ToolId
from graph.identifiers import words
from graph.response_fields import output_fields
from synthesis.combinations import Said
from synthesis.documents import told_by
from synthesis.following import places
from synthesis.intents import Course
from synthesis.recorded import Recorded
from synthesis.trying import CallFailedError, Reading

MOST_SEEDS = 8
"""Calls of one tool that are made to find values."""
MOST_RECORDS = 40
"""Things that are remembered of what one tool found."""
_LONGEST = 120
"""Characters of a value: nobody states more in a question."""
_RECORDED = 60
_DAY = re.compile(r"(\d{4})-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class _Record:
    """A thing that a tool found for these arguments: one item of its response, or the whole response."""

    arguments: JsonObject
    thing: JsonValue


@dataclass(slots=True)
class Values:
    """Finds values for the inputs of one tool set, and caches them."""

    tools: Sequence[ToolDoc]
    reading: Reading
    recorded: Recorded | None = None
    """Recorded calls, where there are any."""
    _records: dict[ToolId, list[_Record]] = field(default_factory=dict[ToolId, list[_Record]])
    _values: dict[object, list[JsonObject]] = field(default_factory=dict[object, list[JsonObject]])

    async def of(self, course: Course, most: int) -> list[JsonObject]:
        """Find up to ``limit`` different sets of values for all inputs that a user states, by the names of the inputs."""
        inputs = course.combination.inputs
        key = (
            course.walk.head.id,
            course.walk.twice,
            tuple((one.tool, one.parameter.name, one.role) for one in inputs),
            most,
        )
        if key not in self._values:
            self._values[key] = await self._of(course, most)
        return self._values[key]

    async def _of(self, course: Course, most: int) -> list[JsonObject]:
        found: dict[str, JsonObject] = {}
        async for values in self._ways(course):
            found.setdefault(repr(values), values)
            if len(found) == most:
                break
        return list(found.values())

    async def _ways(self, course: Course) -> AsyncIterator[JsonObject]:
        """Propose sets of values: recorded arguments, then found things, then seeds of the documents."""
        head = course.walk.head
        async for values in self._recorded(course):
            yield values
        records = await self._of_tool(head)
        roles = course.walk.twice or ("",)
        others: JsonObject = {}
        for one in course.combination.inputs:
            if one.tool != head.id:
                seed = next(iter(self._seeds(one.parameter)), None)
                if seed is None:
                    return
                others[one.name] = seed
        shown = max(1, len(records) // 3) if len(roles) > 1 else 1
        for number in range(len(records)):
            values = dict(others)
            for turn, role in enumerate(roles):
                values |= self._from_record(
                    head, course.said(head.id, role), records[(number + turn * shown) % len(records)]
                )
            if len(values) == len(course.combination.inputs):
                yield values
        seeds = {one.name: next(iter(self._seeds(one.parameter)), None) for one in course.combination.inputs}
        if None not in seeds.values():
            yield seeds

    async def _recorded(self, course: Course) -> AsyncIterator[JsonObject]:
        """Propose recorded arguments of the first tool that are exactly the user's inputs: recordings answer no others."""
        inputs = {one.parameter.name: one.name for one in course.combination.inputs}
        if (
            self.recorded is None
            or course.walk.twice
            or any(one.tool != course.walk.head.id for one in course.combination.inputs)
        ):
            return
        for arguments in (await self.recorded.arguments(course.walk.head.id))[:_RECORDED]:
            if set(arguments) == set(inputs) and all(map(_sayable, arguments.values())):
                yield {inputs[name]: value for name, value in arguments.items()}

    def _from_record(self, head: ToolDoc, said: Sequence[Said], record: _Record) -> JsonObject:
        """Read input values from a thing's fields that echo them, else from the arguments that found it."""
        values: JsonObject = {}
        for one in said:
            told = told_by(head, one.parameter)
            value = _within(record.thing, told.path) if told is not None else None
            value = record.arguments.get(one.parameter.name) if value is None else value
            value = _year(record.thing) if value is None and words(one.parameter.name)[-1:] == ("year",) else value
            if _sayable(value) or isinstance(value, bool):
                values[one.name] = value
        return values

    async def _of_tool(self, tool: ToolDoc) -> list[_Record]:
        """Return what a tool found, in recorded calls first."""
        if tool.id not in self._records:
            self._records[tool.id] = []  # a tool that is asked for its own inputs finds none
            found = [one async for one in self._found(tool)]
            self._records[tool.id] = found[:MOST_RECORDS]
        return self._records[tool.id]

    async def _found(self, tool: ToolDoc) -> AsyncIterator[_Record]:
        """Call a tool with proposed arguments, and yield the things in its responses."""
        asked: set[str] = set()
        recorded = (await self.recorded.arguments(tool.id))[:_RECORDED] if self.recorded is not None else ()
        for arguments in islice(self._arguments(tool, recorded), MOST_SEEDS):
            if repr(arguments) in asked:
                continue
            asked.add(repr(arguments))
            try:
                answer = await self.reading.call(tool, arguments)
            except CallFailedError:
                continue
            for thing in _things(tool, answer):
                yield _Record(arguments, thing)

    def _arguments(self, tool: ToolDoc, recorded: Iterable[JsonObject]) -> Iterator[JsonObject]:
        """Propose arguments for a tool: recorded ones, then seeds of its document, optional ones one at a time."""
        yield from recorded
        required: dict[str, list[JsonValue]] = {one.name: [*self._seeds(one)] for one in tool.required}
        if not all(required.values()):
            return
        first: JsonObject = {name: seeds[0] for name, seeds in required.items()}
        free = [one for one in tool.parameters if not one.required]
        if required:
            yield first
            for name, seeds in required.items():
                yield from ({**first, name: seed} for seed in seeds[1:3])
        else:
            told = [(one.name, seed) for one in free for seed in islice(self._seeds(one), 1)]
            yield from ({name: seed} for name, seed in told)
            yield {}

    def _seeds(self, parameter: Parameter) -> Iterator[JsonValue]:
        """Yield the values that documents name for a parameter, and for equally named fields and parameters."""
        own = [parameter.example, *allowed(parameter), parameter.default]
        wanted = words(parameter.name)
        for doc in self.tools if not tells_apart(parameter.name) else ():
            same = (one for one in output_fields(doc) if words(one.name) == wanted and one.type == parameter.type)
            own += [one.example for one in same]
            alike = (one for one in doc.parameters if words(one.name) == wanted and one.type == parameter.type)
            own += [one.example for one in alike]
        yield from {repr(one): one for one in own if _sayable(one) or isinstance(one, bool)}.values()


def _sayable(value: JsonValue) -> bool:
    """Return whether a user could state a value in a question."""
    if isinstance(value, str):
        return 0 < len(value.strip()) <= _LONGEST
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _year(thing: JsonValue) -> JsonValue:
    """Return the year of the first day among a thing's values."""
    told = thing.values() if isinstance(thing, dict) else ()
    days = (_DAY.match(one) for one in told if isinstance(one, str))
    return next((int(hit[1]) for hit in days if hit), None)


def _within(thing: JsonValue, path: str) -> JsonValue:
    """Return a thing's value at a document path, of a list the first.

    The part of the path up to the list that the thing is an item of is left out.
    """
    inner = path.partition("[]")[2].removeprefix(".") if "[]" in path else path
    return next((value for _, value in places(thing, inner) if value is not None), None)


def _things(tool: ToolDoc, answer: JsonValue) -> list[JsonValue]:
    """List the items of the list that echoes the inputs, else of the first list.

    A response without a list is one thing.
    """
    told = [field.path for one in tool.parameters if (field := told_by(tool, one)) is not None]
    listed = next((path for path in (*told, *(one.path for one in output_fields(tool))) if "[]" in path), None)
    if listed is None:
        return [answer]
    outer = listed.partition("[]")[0]
    return [item for _, items in places(answer, outer) if isinstance(items, list) for item in items]
