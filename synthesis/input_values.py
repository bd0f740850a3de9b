"""Values for the inputs of combinations, from recorded calls, documents, and the responses of the tools."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic.types import JsonValue

from agent.execution.call_wording import is_identifying_field
from agent.parameter_needs import list_allowed_values
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, ToolId
from graph.identifiers import split_words
from graph.response_fields import output_fields
from synthesis.combinations import UserInput
from synthesis.field_labels import find_echo_field
from synthesis.intents import QueryPath
from synthesis.program_trial import MiningCallError, ReadOnlyCaller, RecordedExecutor
from synthesis.walk_execution import iterate_values

MAX_SEED_CALLS = 8
"""Maximum of calls of one tool to find values."""
MAX_THINGS = 40
"""Maximum of things that are kept of what one tool found."""
_MAX_LENGTH = 120
"""Maximum characters of a value; nobody states more in a question."""
_MAX_RECORDED = 60
_DAY = re.compile(r"(\d{4})-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class _FoundThing:
    """A thing that a tool found: one item of its response, or the whole response."""

    arguments: JsonObject
    thing: JsonValue


@dataclass(slots=True)
class InputValueFinder:
    """Finds values for the inputs of one tool set, and caches them."""

    tools: Sequence[ToolDoc]
    caller: ReadOnlyCaller
    recorded: RecordedExecutor | None = None
    """Recorded calls, where there are any."""
    _things: dict[ToolId, list[_FoundThing]] = field(default_factory=dict[ToolId, list[_FoundThing]])
    _values: dict[object, list[JsonObject]] = field(default_factory=dict[object, list[JsonObject]])

    async def find_values(self, query_path: QueryPath, limit: int) -> list[JsonObject]:
        """Return up to ``limit`` different sets of values for all inputs of a combination, each by input name."""
        inputs = query_path.combination.inputs
        key = (
            query_path.walk.head.id,
            query_path.walk.repeated_inputs,
            tuple((user_input.tool, user_input.parameter.name, user_input.role) for user_input in inputs),
            limit,
        )
        if key not in self._values:
            self._values[key] = await self._collect_distinct(query_path, limit)
        return self._values[key]

    async def _collect_distinct(self, query_path: QueryPath, limit: int) -> list[JsonObject]:
        distinct: dict[str, JsonObject] = {}
        async for values in self._propose_values(query_path):
            distinct.setdefault(repr(values), values)
            if len(distinct) == limit:
                break
        return list(distinct.values())

    async def _propose_values(self, query_path: QueryPath) -> AsyncIterator[JsonObject]:
        """Propose sets of values: recorded arguments, then found things, then seeds of the documents."""
        head = query_path.walk.head
        async for values in self._propose_recorded(query_path):
            yield values
        things = await self._load_things(head)
        roles = query_path.walk.repeated_inputs or ("",)
        seed_values: JsonObject = {}
        for user_input in query_path.combination.inputs:
            if user_input.tool != head.id:
                seed = next(iter(self._collect_seeds(user_input.parameter)), None)
                if seed is None:
                    return
                seed_values[user_input.name] = seed
        # Two roles get two things, which lie apart in the list.
        step = max(1, len(things) // 3) if len(roles) > 1 else 1
        for number in range(len(things)):
            values = dict(seed_values)
            for turn, role in enumerate(roles):
                values |= self._read_values(
                    head, query_path.list_inputs(head.id, role), things[(number + turn * step) % len(things)]
                )
            if len(values) == len(query_path.combination.inputs):
                yield values
        seeds = {
            user_input.name: next(iter(self._collect_seeds(user_input.parameter)), None)
            for user_input in query_path.combination.inputs
        }
        if None not in seeds.values():
            yield seeds

    async def _propose_recorded(self, query_path: QueryPath) -> AsyncIterator[JsonObject]:
        """Propose recorded arguments of the first tool that are exactly the user's inputs.

        Recordings answer no other calls.
        """
        inputs = {user_input.parameter.name: user_input.name for user_input in query_path.combination.inputs}
        if (
            self.recorded is None
            or query_path.walk.repeated_inputs
            or any(user_input.tool != query_path.walk.head.id for user_input in query_path.combination.inputs)
        ):
            return
        for arguments in (await self.recorded.list_arguments(query_path.walk.head.id))[:_MAX_RECORDED]:
            if set(arguments) == set(inputs) and all(map(_can_be_stated, arguments.values())):
                yield {inputs[name]: value for name, value in arguments.items()}

    def _read_values(self, head: ToolDoc, user_inputs: Sequence[UserInput], found_thing: _FoundThing) -> JsonObject:
        """Read input values from a thing's fields that echo them, else from the arguments that found it."""
        values: JsonObject = {}
        for user_input in user_inputs:
            echo = find_echo_field(head, user_input.parameter)
            value = _read_field(found_thing.thing, echo.path) if echo is not None else None
            value = found_thing.arguments.get(user_input.parameter.name) if value is None else value
            value = (
                _find_year(found_thing.thing)
                if value is None and split_words(user_input.parameter.name)[-1:] == ("year",)
                else value
            )
            if _can_be_stated(value) or isinstance(value, bool):
                values[user_input.name] = value
        return values

    async def _load_things(self, tool: ToolDoc) -> list[_FoundThing]:
        """Return what a tool found, in recorded calls first."""
        if tool.id not in self._things:
            self._things[tool.id] = []  # a tool that is asked for its own inputs finds none
            things = [thing async for thing in self._call_for_things(tool)]
            self._things[tool.id] = things[:MAX_THINGS]
        return self._things[tool.id]

    async def _call_for_things(self, tool: ToolDoc) -> AsyncIterator[_FoundThing]:
        """Call a tool with proposed arguments, and yield the things in its responses."""
        tried: set[str] = set()
        recorded_arguments = (
            (await self.recorded.list_arguments(tool.id))[:_MAX_RECORDED] if self.recorded is not None else ()
        )
        for arguments in islice(self._propose_arguments(tool, recorded_arguments), MAX_SEED_CALLS):
            if repr(arguments) in tried:
                continue
            tried.add(repr(arguments))
            try:
                answer = await self.caller.call(tool, arguments)
            except MiningCallError:
                continue
            for thing in _list_things(tool, answer):
                yield _FoundThing(arguments, thing)

    def _propose_arguments(self, tool: ToolDoc, recorded: Iterable[JsonObject]) -> Iterator[JsonObject]:
        """Propose arguments for a tool: recorded ones, then values that documents name."""
        yield from recorded
        required: dict[str, list[JsonValue]] = {
            parameter.name: [*self._collect_seeds(parameter)] for parameter in tool.required
        }
        if not all(required.values()):
            return
        defaults: JsonObject = {name: seeds[0] for name, seeds in required.items()}
        optional = [parameter for parameter in tool.parameters if not parameter.required]
        if required:
            yield defaults
            for name, seeds in required.items():
                yield from ({**defaults, name: seed} for seed in seeds[1:3])
        else:
            optional_seeds = [
                (parameter.name, seed) for parameter in optional for seed in islice(self._collect_seeds(parameter), 1)
            ]
            yield from ({name: seed} for name, seed in optional_seeds)
            yield {}

    def _collect_seeds(self, parameter: Parameter) -> Iterator[JsonValue]:
        """Yield the values that documents name for a parameter, and for equally named fields and parameters."""
        candidates = [parameter.example, *list_allowed_values(parameter), parameter.default]
        parameter_words = split_words(parameter.name)
        for doc in self.tools if not is_identifying_field(parameter.name) else ():
            same_fields = (
                candidate
                for candidate in output_fields(doc)
                if split_words(candidate.name) == parameter_words and candidate.type == parameter.type
            )
            candidates += [candidate.example for candidate in same_fields]
            same_parameters = (
                candidate
                for candidate in doc.parameters
                if split_words(candidate.name) == parameter_words and candidate.type == parameter.type
            )
            candidates += [candidate.example for candidate in same_parameters]
        yield from {
            repr(candidate): candidate
            for candidate in candidates
            if _can_be_stated(candidate) or isinstance(candidate, bool)
        }.values()


def _can_be_stated(value: JsonValue) -> bool:
    """Return whether a user could state a value in a question."""
    if isinstance(value, str):
        return 0 < len(value.strip()) <= _MAX_LENGTH
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _find_year(thing: JsonValue) -> JsonValue:
    """Return the year of the first date among a thing's values; None if there is none."""
    values = thing.values() if isinstance(thing, dict) else ()
    days = (_DAY.match(value) for value in values if isinstance(value, str))
    return next((int(match[1]) for match in days if match), None)


def _read_field(thing: JsonValue, path: str) -> JsonValue:
    """Return a thing's first value at a document path.

    The thing is an item of the path's outermost list, so the part of the path up to that list is skipped.
    """
    inner_path = path.partition("[]")[2].removeprefix(".") if "[]" in path else path
    return next((value for _, value in iterate_values(thing, inner_path) if value is not None), None)


def _list_things(tool: ToolDoc, answer: JsonValue) -> list[JsonValue]:
    """List the things in a response: the items of the list that echoes an input, else of the first list.

    A response without a list is one thing.
    """
    echo_paths = [field.path for element in tool.parameters if (field := find_echo_field(tool, element)) is not None]
    list_path = next(
        (path for path in (*echo_paths, *(element.path for element in output_fields(tool))) if "[]" in path), None
    )
    if list_path is None:
        return [answer]
    outer_path = list_path.partition("[]")[0]
    return [item for _, items in iterate_values(answer, outer_path) if isinstance(items, list) for item in items]
