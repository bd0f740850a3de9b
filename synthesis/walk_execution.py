"""Execution of a walk without a program, which gives the gold answers that programs must return.

The responses are followed field by field, and the answer of an intent is selected from them.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.tool import ToolDoc
from synthesis.documents import find_label_field, get_item_path
from synthesis.intents import Intent, ItemMode, QueryPath, find_role
from synthesis.program_trial import CallFunction

MAX_CONDITION_LENGTH = 40
"""Maximum characters of a value by which items are chosen; nobody chooses by prose."""
_PATH_PIECE = re.compile(r"\[\]|[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A value of the requested field."""

    value: JsonValue
    item: JsonValue
    """The object that holds the value directly, in the last response."""
    source: JsonValue
    """The thing that the last tool was called for, as the response before has it."""


def find_values(value: JsonValue, path: str) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Yield pairs of an item and a value, for all values at a path.

    The item is that of the innermost list around the value; without a list, the whole value. A missing field yields
    None.
    """
    yield from _walk_path(value, value, _PATH_PIECE.findall(path))


def _walk_path(holder: JsonValue, value: JsonValue, pieces: Sequence[str]) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Yield the values at the rest of a path, each with the item around it."""
    if not pieces:
        yield holder, value
    elif pieces[0] == "[]":
        for item in value if isinstance(value, list) else ():
            yield from _walk_path(item, item, pieces[1:])
    else:
        inner = value.get(pieces[0]) if isinstance(value, dict) else None
        if len(pieces) == 1 or inner is not None:
            yield from _walk_path(holder, inner, pieces[1:])


def enter_first_item(value: JsonValue, path: str) -> tuple[JsonValue, str]:
    """Return the first item of the outermost list on a path, and the rest of the path within it.

    Without a list on the path, value and path are returned unchanged.
    """
    outer_path, brackets, rest = path.partition("[]")
    if not brackets:
        return value, path
    lists = [one for _, one in find_values(value, outer_path)]
    items = lists[0] if lists and isinstance(lists[0], list) else []
    return (items[0] if items else None), rest.removeprefix(".")


@dataclass(frozen=True, slots=True)
class TailAnswer:
    """A response of the last tool of a walk."""

    source: JsonValue
    """The thing that the tool was called for, as the response before has it."""
    value: JsonValue


async def follow_walk(
    course: QueryPath, item_modes: Sequence[ItemMode], values: Mapping[str, JsonValue], call_tool: CallFunction
) -> list[AnswerRow]:
    """Run a walk and return every value of the requested field, in the order of the responses.

    ``values``: what a user states, by the names of the combination's inputs.
    """
    return collect_rows(course, await run_walk(course, item_modes, values, call_tool))


def collect_rows(course: QueryPath, answers: Sequence[TailAnswer]) -> list[AnswerRow]:
    """Collect every value of the requested field in these responses."""
    rows: list[AnswerRow] = []
    is_lookup = course.is_lookup_path(len(course.walk.tools) - 1, course.output)
    for answer in answers:
        root, path = enter_first_item(answer.value, course.output) if is_lookup else (answer.value, course.output)
        rows += [AnswerRow(value, item, answer.source) for item, value in find_values(root, path)]
    return rows


async def run_walk(
    course: QueryPath, item_modes: Sequence[ItemMode], values: Mapping[str, JsonValue], call_tool: CallFunction
) -> list[TailAnswer]:
    """Call the tools of a walk, and return each response of the last one.

    The responses do not depend on the field that is asked for, so that they serve all intents of a walk with the same
    inputs.
    """
    walk = course.walk

    async def call_with_inputs(tool: ToolDoc, arguments: JsonObject, role: str = "") -> JsonValue:
        said = {one.parameter.name: values[one.name] for one in course.list_inputs(tool.id, role)}
        return await call_tool(tool, {**arguments, **said})

    if walk.repeated_inputs:
        second_arguments: JsonObject = {}
        for role in walk.repeated_inputs:
            answer = await call_with_inputs(walk.head, {}, role)
            for feed in (one for one in course.get_feeds(1) if find_role(one.parameter, walk.repeated_inputs) == role):
                root, path = enter_first_item(answer, feed.field)
                second_arguments[feed.parameter] = next((value for _, value in find_values(root, path)), None)
        current: list[tuple[JsonValue, JsonValue]] = [(None, await call_with_inputs(walk.tools[1], second_arguments))]
    else:
        current = [(None, await call_with_inputs(walk.head, {}))]
    for number in range(2 if walk.repeated_inputs else 1, len(walk.tools)):
        next_calls: list[tuple[JsonValue, JsonObject]] = []
        for _, answer in current:
            next_calls += _collect_next_calls(course, number, item_modes[number - 1], answer)
        current = [(thing, await call_with_inputs(walk.tools[number], arguments)) for thing, arguments in next_calls]
    return [TailAnswer(fed, answer) for fed, answer in current]


def _collect_next_calls(
    course: QueryPath, number: int, item_mode: ItemMode, answer: JsonValue
) -> list[tuple[JsonValue, JsonObject]]:
    """Return the things in a response that the next tool is called for, each with the arguments that it gives."""
    feeds = course.get_feeds(number)
    columns: list[list[tuple[JsonValue, JsonValue]]] = []
    for feed in feeds:
        root, path = (
            enter_first_item(answer, feed.field)
            if course.is_lookup_path(number - 1, feed.field)
            else (answer, feed.field)
        )
        values = [*find_values(root, path)]
        columns.append(values[:1] if item_mode == "first" else values)
    # All feeds are values of one object, so that the columns have equal lengths.
    rows = zip(*columns, strict=True)
    calls = [(row[0][0], {feed.parameter: value for feed, (_, value) in zip(feeds, row, strict=True)}) for row in rows]
    return [(thing, arguments) for thing, arguments in calls if None not in arguments.values()]


def compute_gold_answer(intent: Intent, rows: Sequence[AnswerRow], condition_value: JsonValue = None) -> JsonValue:
    """Compute the answer of an intent from the values that were found; None if there are none.

    ``condition_value``: the value that chosen items have, for intents that choose.
    """
    present_rows = [row for row in rows if row.value is not None]
    if not present_rows:
        return None
    match intent.kind:
        case "all":
            return [row.value for row in present_rows] if _is_list(intent) else present_rows[0].value
        case "first":
            return present_rows[0].value
        case "count":
            return len(rows)
        case "most" | "least":
            return _find_extreme_label(intent, present_rows)
        case "where":
            chosen_rows = [row for row in present_rows if _matches(_get_compared_value(intent, row), condition_value)]
            return _list_distinct_labels(intent, chosen_rows) or None


def list_condition_values(intent: Intent, rows: Sequence[AnswerRow]) -> list[JsonValue]:
    """List values that choose some of the items, with those that choose all of them last."""
    rows = [row for row in rows if row.value is not None]
    compared_values = [_get_compared_value(intent, row) for row in rows]
    usable_values = [
        one for one in compared_values if one not in (None, "", []) and len(str(one)) <= MAX_CONDITION_LENGTH
    ]
    values = list({repr(one): one for one in usable_values if not isinstance(one, (dict, list))}.values())
    return sorted(values, key=lambda one: sum(_matches(other, one) for other in usable_values) == len(usable_values))


def _is_list(intent: Intent) -> bool:
    course = intent.query_path
    return intent.is_fan_out or "[]" in course.resolve_lookup_path(len(course.walk.tools) - 1, course.output)


def _find_extreme_label(intent: Intent, rows: Sequence[AnswerRow]) -> JsonValue:
    """Return the label of the thing with the most or the least of a number; None if no value is a number."""
    numbers = [(number, row) for row in rows if (number := _parse_number(row.value)) is not None]
    pick = max if intent.kind == "most" else min
    return _get_label(intent, pick(numbers, key=lambda one: one[0])[1]) if numbers else None


def _parse_number(value: JsonValue) -> float | None:
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _is_about_sources(intent: Intent) -> bool:
    """Return whether the rows are about the things that the last tool was called for.

    Otherwise they are about items of its response.
    """
    course = intent.query_path
    path = course.resolve_lookup_path(len(course.walk.tools) - 1, course.output)
    return intent.is_fan_out and ("[]" not in path or (intent.kind == "where" and path.endswith("[]")))


def _get_label(intent: Intent, row: AnswerRow) -> JsonValue:
    walk = intent.query_path.walk
    if _is_about_sources(intent):
        field = find_label_field(walk.tools[-2], intent.query_path.get_feeds(len(walk.tools) - 1)[0].field)
        thing = row.source
    else:
        field, thing = find_label_field(walk.tail, intent.query_path.output), row.item
    return next((value for _, value in find_values(thing, get_item_path(field.path))), None) if field else None


def _get_compared_value(intent: Intent, row: AnswerRow) -> JsonValue:
    if _is_about_sources(intent):
        return row.value
    return next((value for _, value in find_values(row.item, get_item_path(intent.compared_path))), None)


def _matches(value: JsonValue, condition_value: JsonValue) -> bool:
    if isinstance(value, str) and isinstance(condition_value, str):
        return condition_value.casefold() in value.casefold()
    return value == condition_value and isinstance(value, bool) == isinstance(condition_value, bool)


def _list_distinct_labels(intent: Intent, rows: Sequence[AnswerRow]) -> list[JsonValue]:
    """List the labels of the rows; an item that several values choose counts once."""
    labels: dict[int, JsonValue] = {}
    for row in rows:
        labels.setdefault(id(row.source if _is_about_sources(intent) else row.item), _get_label(intent, row))
    return list(labels.values())
