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
from synthesis.field_labels import find_label_field, get_item_path
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


def iterate_values(value: JsonValue, path: str) -> Iterator[tuple[JsonValue, JsonValue]]:
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
    lists = [value_at_path for _, value_at_path in iterate_values(value, outer_path)]
    items = lists[0] if lists and isinstance(lists[0], list) else []
    return (items[0] if items else None), rest.removeprefix(".")


@dataclass(frozen=True, slots=True)
class TailAnswer:
    """A response of the last tool of a walk."""

    source: JsonValue
    """The thing that the tool was called for, as the response before has it."""
    value: JsonValue


async def follow_walk(
    query_path: QueryPath, item_modes: Sequence[ItemMode], values: Mapping[str, JsonValue], call_tool: CallFunction
) -> list[AnswerRow]:
    """Run a walk and return every value of the requested field, in the order of the responses.

    ``values``: what a user states, by the names of the combination's inputs.
    """
    return collect_rows(query_path, await run_walk(query_path, item_modes, values, call_tool))


def collect_rows(query_path: QueryPath, answers: Sequence[TailAnswer]) -> list[AnswerRow]:
    """Collect every value of the requested field in these responses."""
    rows: list[AnswerRow] = []
    is_lookup = query_path.is_lookup_path(len(query_path.walk.tools) - 1, query_path.output)
    for answer in answers:
        root, path = (
            enter_first_item(answer.value, query_path.output) if is_lookup else (answer.value, query_path.output)
        )
        rows += [AnswerRow(value, item, answer.source) for item, value in iterate_values(root, path)]
    return rows


async def run_walk(
    query_path: QueryPath, item_modes: Sequence[ItemMode], values: Mapping[str, JsonValue], call_tool: CallFunction
) -> list[TailAnswer]:
    """Call the tools of a walk, and return each response of the last one.

    The responses do not depend on the field that is asked for, so that they serve all intents of a walk with the same
    inputs.
    """
    walk = query_path.walk

    async def call_with_inputs(tool: ToolDoc, arguments: JsonObject, role: str = "") -> JsonValue:
        stated_arguments = {
            user_input.parameter.name: values[user_input.name] for user_input in query_path.list_inputs(tool.id, role)
        }
        return await call_tool(tool, {**arguments, **stated_arguments})

    if walk.repeated_inputs:
        second_arguments: JsonObject = {}
        for role in walk.repeated_inputs:
            answer = await call_with_inputs(walk.head, {}, role)
            for feed in (
                feed_link
                for feed_link in query_path.get_feeds(1)
                if find_role(feed_link.parameter, walk.repeated_inputs) == role
            ):
                root, path = enter_first_item(answer, feed.field)
                second_arguments[feed.parameter] = next((value for _, value in iterate_values(root, path)), None)
        pending_answers: list[tuple[JsonValue, JsonValue]] = [
            (None, await call_with_inputs(walk.tools[1], second_arguments))
        ]
    else:
        pending_answers = [(None, await call_with_inputs(walk.head, {}))]
    for number in range(2 if walk.repeated_inputs else 1, len(walk.tools)):
        next_calls: list[tuple[JsonValue, JsonObject]] = []
        for _, answer in pending_answers:
            next_calls += _collect_next_calls(query_path, number, item_modes[number - 1], answer)
        pending_answers = [
            (thing, await call_with_inputs(walk.tools[number], arguments)) for thing, arguments in next_calls
        ]
    return [TailAnswer(source, answer) for source, answer in pending_answers]


def _collect_next_calls(
    query_path: QueryPath, number: int, item_mode: ItemMode, answer: JsonValue
) -> list[tuple[JsonValue, JsonObject]]:
    """Return the things in a response that the next tool is called for, each with the arguments that it gives."""
    feeds = query_path.get_feeds(number)
    columns: list[list[tuple[JsonValue, JsonValue]]] = []
    for feed in feeds:
        root, path = (
            enter_first_item(answer, feed.field)
            if query_path.is_lookup_path(number - 1, feed.field)
            else (answer, feed.field)
        )
        values = [*iterate_values(root, path)]
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
            return [row.value for row in present_rows] if intent.has_several_values else present_rows[0].value
        case "first":
            return present_rows[0].value
        case "count":
            return len(rows)
        case "most" | "least":
            return _find_extreme_label(intent, present_rows)
        case "where":
            chosen_rows = [
                row for row in present_rows if _meets_condition(_get_compared_value(intent, row), condition_value)
            ]
            return _list_distinct_labels(intent, chosen_rows) or None


def list_condition_values(intent: Intent, rows: Sequence[AnswerRow]) -> list[JsonValue]:
    """List values that choose some of the items, with those that choose all of them last."""
    rows = [row for row in rows if row.value is not None]
    compared_values = [_get_compared_value(intent, row) for row in rows]
    usable_values = [
        value for value in compared_values if value not in (None, "", []) and len(str(value)) <= MAX_CONDITION_LENGTH
    ]
    values = list({repr(value): value for value in usable_values if not isinstance(value, (dict, list))}.values())
    return sorted(
        values, key=lambda one: sum(_meets_condition(other, one) for other in usable_values) == len(usable_values)
    )


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


def _get_label(intent: Intent, row: AnswerRow) -> JsonValue:
    walk = intent.query_path.walk
    if intent.is_about_sources:
        field = find_label_field(walk.tools[-2], intent.query_path.get_feeds(len(walk.tools) - 1)[0].field)
        thing = row.source
    else:
        field, thing = find_label_field(walk.tail, intent.query_path.output), row.item
    return next((value for _, value in iterate_values(thing, get_item_path(field.path))), None) if field else None


def _get_compared_value(intent: Intent, row: AnswerRow) -> JsonValue:
    if intent.is_about_sources:
        return row.value
    return next((value for _, value in iterate_values(row.item, get_item_path(intent.compared_path))), None)


def _meets_condition(value: JsonValue, condition_value: JsonValue) -> bool:
    if isinstance(value, str) and isinstance(condition_value, str):
        return condition_value.casefold() in value.casefold()
    return value == condition_value and isinstance(value, bool) == isinstance(condition_value, bool)


def _list_distinct_labels(intent: Intent, rows: Sequence[AnswerRow]) -> list[JsonValue]:
    """List the labels of the rows; an item that several values choose counts once."""
    labels: dict[int, JsonValue] = {}
    for row in rows:
        labels.setdefault(id(row.source if intent.is_about_sources else row.item), _get_label(intent, row))
    return list(labels.values())
