"""Run a walk without a program: follow the responses field by field, and select what an intent asks for."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from domain.model import JsonObject
from domain.tool import ToolDoc
from synthesis.documents import called, in_item
from synthesis.intents import Course, Intent, Taken, role_of
from synthesis.trying import Calls

LONGEST_CHOICE = 40
"""Characters of a value by which items may be chosen: nobody chooses by prose."""
_PIECES = re.compile(r"\[\]|[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class Row:
    """A value of the requested field."""

    value: JsonValue
    item: JsonValue
    """The object that holds the value directly, in the last response."""
    fed: JsonValue
    """The thing that the last tool was called for, as the response before has it."""


def places(value: JsonValue, path: str) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Yield all values at a path, each with the item of the innermost list around it.

    Without a list the item is the whole value. A missing field yields null.
    """
    yield from _places(value, value, _PIECES.findall(path))


def _places(holder: JsonValue, value: JsonValue, pieces: Sequence[str]) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Yield the values at the rest of a path, each with the item around it."""
    if not pieces:
        yield holder, value
    elif pieces[0] == "[]":
        for item in value if isinstance(value, list) else ():
            yield from _places(item, item, pieces[1:])
    else:
        inner = value.get(pieces[0]) if isinstance(value, dict) else None
        if len(pieces) == 1 or inner is not None:
            yield from _places(holder, inner, pieces[1:])


def in_first(value: JsonValue, path: str) -> tuple[JsonValue, str]:
    """Return the first item of the outermost list on a path, and the rest of the path within it.

    Without a list on the path, value and path are returned unchanged.
    """
    outer, brackets, rest = path.partition("[]")
    if not brackets:
        return value, path
    lists = [one for _, one in places(value, outer)]
    items = lists[0] if lists and isinstance(lists[0], list) else []
    return (items[0] if items else None), rest.removeprefix(".")


@dataclass(frozen=True, slots=True)
class Answer:
    """A response of the last tool of a walk."""

    fed: JsonValue
    """The thing that the tool was called for, as the response before has it."""
    value: JsonValue


async def followed(course: Course, taken: Sequence[Taken], values: Mapping[str, JsonValue], call: Calls) -> list[Row]:
    """Run a walk and return every value of the requested field, in the order of the responses.

    ``values``: what a user states, by the names of the combination's inputs.
    """
    return rows_of(course, await answered(course, taken, values, call))


def rows_of(course: Course, answers: Sequence[Answer]) -> list[Row]:
    """Collect every value of the requested field in these responses."""
    rows: list[Row] = []
    first = course.looks_up(len(course.walk.tools) - 1, course.output)
    for one in answers:
        whole, path = in_first(one.value, course.output) if first else (one.value, course.output)
        rows += [Row(value, item, one.fed) for item, value in places(whole, path)]
    return rows


async def answered(
    course: Course, taken: Sequence[Taken], values: Mapping[str, JsonValue], call: Calls
) -> list[Answer]:
    """Call the tools of a walk, and return each response of the last one.

    The responses do not depend on the field that is asked for, so that they serve all intents of a walk with the same
    inputs.
    """
    walk = course.walk

    async def asked(tool: ToolDoc, arguments: JsonObject, role: str = "") -> JsonValue:
        said = {one.parameter.name: values[one.name] for one in course.said(tool.id, role)}
        return await call(tool, {**arguments, **said})

    if walk.twice:
        given: JsonObject = {}
        for role in walk.twice:
            answer = await asked(walk.head, {}, role)
            for feed in (one for one in course.fed_by(1) if role_of(one.parameter, walk.twice) == role):
                whole, path = in_first(answer, feed.field)
                given[feed.parameter] = next((value for _, value in places(whole, path)), None)
        now: list[tuple[JsonValue, JsonValue]] = [(None, await asked(walk.tools[1], given))]
    else:
        now = [(None, await asked(walk.head, {}))]
    for number in range(2 if walk.twice else 1, len(walk.tools)):
        objects: list[tuple[JsonValue, JsonObject]] = []
        for _, answer in now:
            objects += _fed(course, number, taken[number - 1], answer)
        now = [(thing, await asked(walk.tools[number], arguments)) for thing, arguments in objects]
    return [Answer(fed, answer) for fed, answer in now]


def _fed(course: Course, number: int, taken: Taken, answer: JsonValue) -> list[tuple[JsonValue, JsonObject]]:
    """Collect the things in a response that the next tool is called for, each with the arguments that it gives."""
    feeds = course.fed_by(number)
    columns: list[list[tuple[JsonValue, JsonValue]]] = []
    for feed in feeds:
        whole, path = in_first(answer, feed.field) if course.looks_up(number - 1, feed.field) else (answer, feed.field)
        found = [*places(whole, path)]
        columns.append(found[:1] if taken == "first" else found)
    # All feeds are values of one object, so that the columns have equal lengths.
    rows = zip(*columns, strict=True)
    made = [(row[0][0], {feed.parameter: value for feed, (_, value) in zip(feeds, row, strict=True)}) for row in rows]
    return [(thing, arguments) for thing, arguments in made if None not in arguments.values()]


def gold(intent: Intent, rows: Sequence[Row], wanted: JsonValue = None) -> JsonValue:
    """Compute the answer of an intent from all values that were found; None where there are none.

    ``condition_value``: the value that chosen items have, for intents that choose.
    """
    found = [row for row in rows if row.value is not None]
    if not found:
        return None
    match intent.asked:
        case "all":
            return [row.value for row in found] if _is_list(intent) else found[0].value
        case "first":
            return found[0].value
        case "count":
            return len(rows)
        case "most" | "least":
            return _outermost(intent, found)
        case "where":
            kept = [row for row in found if _fits(_compared(intent, row), wanted)]
            return _each_once(intent, kept) or None


def values_to_choose(intent: Intent, rows: Sequence[Row]) -> list[JsonValue]:
    """List values that choose some of the items, with those that choose all of them last."""
    rows = [row for row in rows if row.value is not None]
    compared = [_compared(intent, row) for row in rows]
    told = [one for one in compared if one not in (None, "", []) and len(str(one)) <= LONGEST_CHOICE]
    values = list({repr(one): one for one in told if not isinstance(one, (dict, list))}.values())
    return sorted(values, key=lambda one: sum(_fits(other, one) for other in told) == len(told))


def _is_list(intent: Intent) -> bool:
    course = intent.course
    return intent.many or "[]" in course.within(len(course.walk.tools) - 1, course.output)


def _outermost(intent: Intent, rows: Sequence[Row]) -> JsonValue:
    """Return the label of the thing with the most or the least of a number; None if no value is a number."""
    numbers = [(number, row) for row in rows if (number := _number(row.value)) is not None]
    chosen = max if intent.asked == "most" else min
    return _label(intent, chosen(numbers, key=lambda one: one[0])[1]) if numbers else None


def _number(value: JsonValue) -> float | None:
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _of_fed(intent: Intent) -> bool:
    """Return whether the rows are about the things that the last tool was called for.

    Otherwise they are about items of its response.
    """
    course = intent.course
    path = course.within(len(course.walk.tools) - 1, course.output)
    return intent.many and ("[]" not in path or (intent.asked == "where" and path.endswith("[]")))


def _label(intent: Intent, row: Row) -> JsonValue:
    walk = intent.course.walk
    if _of_fed(intent):
        field = called(walk.tools[-2], intent.course.fed_by(len(walk.tools) - 1)[0].field)
        thing = row.fed
    else:
        field, thing = called(walk.tail, intent.course.output), row.item
    return next((value for _, value in places(thing, in_item(field.path))), None) if field else None


def _compared(intent: Intent, row: Row) -> JsonValue:
    if _of_fed(intent):
        return row.value
    return next((value for _, value in places(row.item, in_item(intent.by))), None)


def _fits(value: JsonValue, wanted: JsonValue) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return wanted.casefold() in value.casefold()
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def _each_once(intent: Intent, rows: Sequence[Row]) -> list[JsonValue]:
    """List the labels of the rows; an item that several values choose counts once."""
    told: dict[int, JsonValue] = {}
    for row in rows:
        told.setdefault(id(row.fed if _of_fed(intent) else row.item), _label(intent, row))
    return list(told.values())
