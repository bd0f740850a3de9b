"""Whether a value that a model gives is what it says it comes from: checked by code, so that nothing invented is sent."""

import re
from collections.abc import Iterator
from datetime import date, datetime

from pydantic.types import JsonValue

from agent.execution.validation import coerce
from agent.parameters.needs import need_of
from agent.policy.protocol import ArgumentsQuestion
from domain.tool import Parameter, ToolDoc
from graph.lenient_json import read_value
from offline.nlp.dates import dates_in
from offline.nlp.entities import spans
from offline.slots.slot_values import value_for

_CODE = re.compile(r"[A-Za-z]{2,3}")
_CODED = frozenset({"country", "currency", "language"})
_WORD = re.compile(r"\w+")
_STEP = re.compile(r"\s*(?:step\s*)?\[?(\d{1,3})\]?\s*[.:]?\s*(.*)", re.DOTALL)
_PLACE = re.compile(r"\[(\d*|\*)\]|([^.\[\]]+)")
_SMALL = {word: str(number) for number, word in enumerate(
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"])}  # fmt: skip
_MOST = 200
_SHORT_TEXT = 120


def of_request(value: JsonValue, reference: str, parameter: Parameter, request: str) -> str:
    """What is wrong with a value that is said to be in the request; empty where it is there.

    The words must stand in the request. The value must be made of those words, or be what they mean to this parameter: a day, a
    number, an allowed value, the code of a country, a currency or a language.
    """
    span = _plain(reference)
    if not span or span not in _plain(request):
        return f"the words {reference[:120]!r} do not stand in the request"
    if isinstance(value, (list, dict)) or (parameter.type in ("array", "object") and isinstance(value, str)):
        leaves = list(_leaves(coerce(value, parameter)))
        bad = next((leaf for leaf in leaves if not _derived(leaf, reference, parameter)), None)
        return "" if leaves and bad is None else f"{_short(bad)} is not in the words {reference[:120]!r}"
    return "" if _derived(value, reference, parameter) else f"{_short(value)} is not in the words {reference[:120]!r}"


def of_step(value: JsonValue, reference: str, parameter: Parameter, question: ArgumentsQuestion) -> str:
    """What is wrong with a value that is said to be a field of an earlier response; empty where it stands there.

    A word out of a short text will do for a call that changes nothing. For one that does, the value is the whole field: prose
    in a response must not be where an address or an amount comes from.
    """
    earlier = question.earlier
    place = step_place(reference)
    if place is None or not 1 <= place[0] <= len(earlier):
        return f"{reference[:120]!r} names no earlier step: write the step's number, a dot and the place"
    result = earlier[place[0] - 1][1]
    if result.status != "ok":
        return f"step {place[0]} gave nothing"
    found = list(_found(read_value(result.response), place[1]))
    if not found:
        return f"the response of step {place[0]} has nothing at {place[1][:120]!r}"
    wanted = coerce(value, parameter)
    if isinstance(wanted, list) and not (len(found) == 1 and isinstance(found[0], list)):
        stands = bool(wanted) and all(any(_same(item, f, parameter) for f in found) for item in wanted)
    else:
        parts = question.tool.safe
        stands = any(_same(wanted, f, parameter) or (parts and _part_of(wanted, f)) for f in found)
    return "" if stands else f"{_short(value)} does not stand at {reference[:120]!r}; {_short(found[0])} does"


def of_default(value: JsonValue, parameter: Parameter, tool: ToolDoc) -> str:
    """What is wrong with a value that is said to be the default. What changes something is never called with one (catalogues put
    examples there), nor is an optional parameter.
    """
    only = len(parameter.enum) == 1 and coerce(value, parameter) == parameter.enum[0]
    has = parameter.default not in (None, "") and coerce(value, parameter) == coerce(parameter.default, parameter)
    if only or (has and tool.safe):
        return ""
    return (
        f"{_short(value)} is not a default that may be used"
        if tool.safe
        else "no default fills a call that changes something"
    )


def ground(value: JsonValue, origin: str, reference: str, parameter: Parameter, question: ArgumentsQuestion) -> str:
    """What is wrong with the origin that is given for a value; empty where nothing is."""
    if need_of(parameter).kind == "secret":
        return "keys and secrets are not yours to fill in"
    if value is None or value == "":
        return "there is no value"
    match origin:
        case "request":
            return of_request(value, reference, parameter, question.request)
        case "step":
            return of_step(value, reference, parameter, question)
        case _:
            return of_default(value, parameter, question.tool)


def step_place(reference: str) -> tuple[int, str] | None:
    """``1.results[0].id`` as (1, ``results[0].id``)."""
    found = _STEP.fullmatch(reference)
    return (int(found[1]), found[2].strip().lstrip("$.")) if found else None


def _derived(value: JsonValue, words: str, parameter: Parameter) -> bool:
    """Whether a single value is in the words, or what they mean to a parameter."""
    if isinstance(value, bool) or value in parameter.enum or coerce(value, parameter) in parameter.enum:
        return True
    text, told = _plain(str(value)), _plain(words)
    if isinstance(value, (int, float)) or text.replace(".", "", 1).lstrip("-").isdigit():
        return _number(text, told) or _typed(value, words, parameter)
    own = set(_WORD.findall(text))
    if own and own <= set(_WORD.findall(told)):
        return True
    coded = need_of(parameter).kind in _CODED and _CODE.fullmatch(str(value)) is not None
    return coded or _is_day(text, words) or _typed(value, words, parameter)


def _number(text: str, told: str) -> bool:
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?", told)
    spoken = [_SMALL[word] for word in re.findall(r"[a-z]+", told) if word in _SMALL]
    try:
        wanted = abs(float(text))
        return any(float(number.replace(",", "")) == wanted for number in (*numbers, *spoken))
    except ValueError:
        return False


def _is_day(text: str, words: str) -> bool:
    """Whether a text is a day, with or without a time, that the words name, in whatever form."""
    written = re.match(r"\d{4}-\d\d-\d\d", text)
    days = {day for _, _, day in dates_in(words, _today())}
    if not written:
        named = {day for _, _, day in dates_in(text, _today())}
        return bool(named) and named <= days
    return any(day.isoformat() == written[0] for day in days)


def _typed(value: JsonValue, words: str, parameter: Parameter) -> bool:
    """Whether the offline rules read the value out of the words."""
    need = need_of(parameter)
    return any(_same(value, value_for(span, need), parameter) for span in spans(words, _today()))


def _same(value: JsonValue, found: JsonValue, parameter: Parameter) -> bool:
    """Equal, as they are or in the parameter's type."""
    if found is None:
        return False
    if value == found or coerce(value, parameter) == coerce(found, parameter):
        return True
    if isinstance(value, str) and isinstance(found, (str, int, float)) and not isinstance(found, bool):
        return _plain(value) == _plain(str(found))
    return isinstance(value, float) and isinstance(found, (int, float)) and abs(value - found) < 1e-9


def _part_of(value: JsonValue, found: JsonValue) -> bool:
    """Whether a text is a whole word or more of a short one, or the day of a point in time."""
    if not (isinstance(value, str) and isinstance(found, str) and len(found) <= _SHORT_TEXT):
        return False
    part = re.escape(_plain(value))
    return bool(part) and re.search(rf"(?<!\w){part}(?:(?!\w)|(?=t\d\d:))", _plain(found)) is not None


def _found(value: JsonValue, place: str) -> Iterator[JsonValue]:
    """What stands at a place: ``items[0].id``, or ``items[].id`` for that field of all items."""
    parts = list(_PLACE.finditer(place))
    if not parts:
        if not isinstance(value, (dict, list)):
            yield value
        return
    here: list[JsonValue] = [value]
    for part in parts:
        after: list[JsonValue] = []
        for held in here:
            if part[2] is not None:
                if isinstance(held, dict) and part[2] in held:
                    after.append(held[part[2]])
            elif isinstance(held, list):
                chosen = held[:_MOST] if part[1] in ("", "*") else held[int(part[1]) : int(part[1]) + 1]
                after += chosen
        here = after[:_MOST]
    yield from here


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value[:_MOST]:
                yield from _leaves(inner)
        case _:
            yield value


def _plain(text: str) -> str:
    """For comparing: one space between words, no case, no quotation marks around."""
    return " ".join(text.casefold().split()).strip("\"'“”‘’«»")


def _short(value: JsonValue) -> str:
    return repr(value)[:120]


def _today() -> date:
    return datetime.now().astimezone().date()
