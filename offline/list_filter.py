"""Filter an earlier list by what a later question means: by day, name, number, rank or place in the list."""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from pydantic.types import JsonValue

from domain.plan import StepResult
from graph.identifiers import extract_words, split_words
from graph.lenient_json import read_value
from offline.nlp.asked_words import find_asked_words
from offline.nlp.coordination import find_atoms
from offline.nlp.superlatives import find_extreme, find_rank_criteria, resolve_ordinal
from offline.response_summary import list_leaves, summarize_response

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = re.compile(r"\b(?:in|during|of|for|from)\s+(?:early |late |mid-)?(" + "|".join(_MONTHS) + r")\b", re.I)
_WEEKDAY = re.compile(r"\b(" + "|".join(_WEEKDAYS) + r")s?\b", re.I)
_WEEKEND = re.compile(r"\bweekends?\b", re.I)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MORE = r"over|above|more than|at least|longer than|higher than|better than|older than|later than|after|from"
_LESS = r"under|below|less than|fewer than|at most|up to|shorter than|lower than|cheaper than|earlier than|before|until"
_BOUND = re.compile(rf"\b(?:({_MORE})|({_LESS}))\s+(\d[\d,]*(?:\.\d+)?)\s*(\w+)?", re.I)
"""A bound on a number; groups: words for more, words for less, the number, and the word after it."""
_DATE_TESTS = {
    "before": operator.lt,
    "until": operator.le,
    "after": operator.gt,
    "from": operator.ge,
    "since": operator.ge,
}
_INCLUSIVE = ("at least", "at most", "up to", "from", "until")
_COUNT = re.compile(
    r"^\W*(?:and\s+|so\s+)?how many (?:of (?:them|those|these)|are there|(?:are|were|is) (?:they|that))\b", re.I
)
"""A question that asks only how many items there are."""
_CHOICE_QUESTION = re.compile(
    r"^\W*(?:and\s+|so\s+|but\s+)?(?:(?:only|just|show me|tell me|give me|list)\s+)*(?:which|who|whose|how many|what (?:is|are|was|were) the|"
    r"what about the|the|those|any|is any|are any)\b",
    re.I,
)
"""A question that asks for the items themselves."""
_LABELS = frozenset({"name", "title", "label", "date"})
ListItem = dict[str, JsonValue]
"""An item of a list in a response."""


def find_list_items(result: StepResult) -> list[ListItem] | None:
    """Return the items of a response that is a list of objects, or has one; None for any other.

    A list needs at least two items: a single thing leaves nothing to choose.
    """
    value = read_value(result.response)
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list) and len(one) > 1]
        value = max(lists, key=len, default=None)
    if not isinstance(value, list) or len(value) < 2:  # one thing is no list to choose from
        return None
    things = [one for one in value if isinstance(one, dict)]
    return things if len(things) == len(value) else None


def narrow_response(request: str, result: StepResult) -> str | None:
    """Return the items of a response that a request means, as JSON; None if the request does not choose among them.

    A question for the number of items gives ``{"count": n}``.
    """
    things = find_list_items(result)
    if things is None:
        return None
    remaining, is_narrowed = things, False
    for choose in (
        _filter_by_month,
        _filter_by_weekday,
        _filter_by_day,
        _filter_by_bound,
        _filter_by_name,
        _filter_by_rank,
        _filter_by_place,
    ):
        selected = choose(request, remaining)
        if selected is not None:
            remaining, is_narrowed = selected, True
    if _COUNT.search(request):
        return json.dumps({"count": len(remaining)})
    return json.dumps([_add_name(thing) for thing in remaining], ensure_ascii=False) if is_narrowed else None


def _add_name(thing: ListItem) -> ListItem:
    """Add a ``name`` to an item whose name is called otherwise, such as ``restaurant_name``."""
    label = next((thing[key] for key in thing if split_words(key)[-1:] in (("name",), ("title",))), None)
    return thing if label is None or not _LABELS.isdisjoint(thing) else {"name": label, **thing}


def is_answered_by(request: str, result: StepResult) -> bool:
    """Return whether a response alone answers a request: it asks which of the items, or for fields that they have."""
    narrowed_response = narrow_response(request, result)
    if narrowed_response is None:
        return False
    matched = (
        summarize_response(narrowed_response, find_asked_words(request)).matched if narrowed_response != "[]" else 1
    )
    return bool(_COUNT.search(request) or _is_choice_question(request)) or matched > 0


def _is_choice_question(request: str) -> bool:
    """Return whether a request asks for the items themselves, not for something only another call can tell."""
    return _CHOICE_QUESTION.search(request) is not None


def _find_days(thing: ListItem) -> Iterator[date]:
    """Yield the days in an item's texts that begin with an ISO date."""
    for _, value in list_leaves(thing):
        hit = _ISO.match(value) if isinstance(value, str) else None
        if hit:
            try:
                yield date(int(hit[1]), int(hit[2]), int(hit[3]))
            except ValueError:
                continue


def _filter_items(
    things: Sequence[ListItem], fits: Callable[[ListItem], bool], *, dated: bool = False
) -> list[ListItem] | None:
    """Return the items that fit.

    With ``dated``, None if no item has a day: the filter then does not apply.
    """
    if dated and not any(True for thing in things for _ in _find_days(thing)):
        return None
    return [thing for thing in things if fits(thing)]


def _filter_by_month(request: str, things: Sequence[ListItem]) -> list[ListItem] | None:
    """Return the items with a day in a month that the request names; None if it names none."""
    months = {_MONTHS.index(hit[1].lower()) + 1 for hit in _MONTH.finditer(request)}
    return (
        _filter_items(things, lambda one: any(day.month in months for day in _find_days(one)), dated=True)
        if months
        else None
    )


def _filter_by_weekday(request: str, things: Sequence[ListItem]) -> list[ListItem] | None:
    """Return the items with a day on a weekday, or at a weekend, that the request names; None if it names none."""
    weekdays = {_WEEKDAYS.index(hit[1].lower()) for hit in _WEEKDAY.finditer(request)}
    weekdays |= {5, 6} if _WEEKEND.search(request) else set()
    return (
        _filter_items(things, lambda one: any(day.weekday() in weekdays for day in _find_days(one)), dated=True)
        if weekdays
        else None
    )


def _filter_by_day(request: str, things: Sequence[ListItem]) -> list[ListItem] | None:
    """Return the items on, before or after the one day that the request names; None if it does not name one."""
    dates = [(atom, _ISO.match(atom.value)) for atom in find_atoms(request) if atom.kind == "date"]
    if len(dates) != 1 or dates[0][1] is None:
        return None
    hit = dates[0][1]
    day = date(int(hit[1]), int(hit[2]), int(hit[3]))
    compare = _DATE_TESTS.get(dates[0][0].cue, operator.eq)
    return _filter_items(things, lambda one: any(compare(own, day) for own in _find_days(one)), dated=True)


def _filter_by_bound(request: str, things: Sequence[ListItem]) -> list[ListItem] | None:
    """Return the items above or below a number; None if the request sets no bound or no field can be told.

    The number bounds the field that the request names, else the only numeric field that all items have.
    """
    hit = _BOUND.search(request)
    field = _find_measured_field(request, things) if hit else ""
    if hit is None or not field:
        return None
    bound, equal = float(hit[3].replace(",", "")), (hit[1] or hit[2]).lower() in _INCLUSIVE
    above, below = (operator.ge, operator.le) if equal else (operator.gt, operator.lt)
    return _filter_items(
        things, lambda one: (above if hit[1] else below)(_find_numbers(one).get(field, float("nan")), bound)
    )


def has_items_beyond_bound(request: str, things: Sequence[ListItem]) -> bool:
    """Return whether some items lie outside a bound that a request sets."""
    within = _filter_by_bound(request, things)
    return within is not None and len(within) < len(things)


def _find_measured_field(request: str, things: Sequence[ListItem]) -> str:
    """Return the numeric field that a bound is about: one that the request names, else the only one.

    Empty if it is unclear.
    """
    common = (
        [name for name in _find_numbers(things[0]) if all(name in _find_numbers(thing) for thing in things)]
        if things
        else []
    )
    request_words = set(extract_words(request)) | {word for rank in find_rank_criteria(request) for word in rank.fields}
    named = [name for name in common if set(split_words(name)) & request_words]
    return named[0] if named else common[0] if len(common) == 1 else ""


def _find_numbers(thing: ListItem) -> dict[str, float]:
    """Return the numeric fields of an item, without identifiers."""
    return {
        name: float(value)
        for name, value in list_leaves(thing)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and split_words(name)[-1:] != ("id",)
    }


def _filter_by_name(request: str, things: Sequence[ListItem]) -> list[ListItem] | None:
    """Return the items that have a name of the request; None if all or none of them do."""
    names = [
        atom.text.casefold()
        for atom in find_atoms(request)
        if atom.kind in ("name", "quoted", "country", "code", "language")
    ]
    matching = [thing for thing in things if any(name in _join_texts(thing) for name in names)]
    return matching if 0 < len(matching) < len(things) else None


def _join_texts(thing: ListItem) -> str:
    return " | ".join(str(value) for _, value in list_leaves(thing)).casefold()


def _filter_by_rank(request: str, things: Sequence[ListItem]) -> list[ListItem] | None:
    """Return the item with the most or the least of what the request's superlative measures.

    Fields that the request names are tried before those that the superlative suggests.
    """
    if _BOUND.search(request):
        return None
    fields: list[Mapping[str, JsonValue]] = [dict(list_leaves(thing)) for thing in things]
    request_words = extract_words(request)
    criteria = [
        one for rank in find_rank_criteria(request) for one in (replace(rank, fields=rank.fields & request_words), rank)
    ]
    best = next((found for rank in criteria if (found := find_extreme(fields, rank))), None)
    return None if best is None else [things[best[0]]]


def _filter_by_place(request: str, things: Sequence[ListItem]) -> list[ListItem] | None:
    """Return the item at the position that an ordinal of the request means."""
    item_words = frozenset(word for thing in things[:1] for name in thing for word in split_words(name))
    position = resolve_ordinal(request, len(things), item_words)
    return None if position is None else [things[position]]
