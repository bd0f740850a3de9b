"""Filter an earlier list by what a later question means: by day, name, number, rank or place."""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from pydantic.types import JsonValue

from domain.plan import StepResult
from graph.identifiers import text_words, words
from graph.lenient_json import read_value
from offline.nlp.asked_words import asked_words
from offline.nlp.coordination import atoms
from offline.nlp.superlatives import placed, ranked, ranks
from offline.response_summary import leaves_of, view

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = re.compile(r"\b(?:in|during|of|for|from)\s+(?:early |late |mid-)?(" + "|".join(_MONTHS) + r")\b", re.I)
_DAY = re.compile(r"\b(" + "|".join(_DAYS) + r")s?\b", re.I)
_WEEKEND = re.compile(r"\bweekends?\b", re.I)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MORE = r"over|above|more than|at least|longer than|higher than|better than|older than|later than|after|from"
_LESS = r"under|below|less than|fewer than|at most|up to|shorter than|lower than|cheaper than|earlier than|before|until"
_BOUND = re.compile(rf"\b(?:({_MORE})|({_LESS}))\s+(\d[\d,]*(?:\.\d+)?)\s*(\w+)?", re.I)
_BESIDE = {"before": operator.lt, "until": operator.le, "after": operator.gt, "from": operator.ge, "since": operator.ge}
_REACHED = ("at least", "at most", "up to", "from", "until")
_COUNT = re.compile(
    r"^\W*(?:and\s+|so\s+)?how many (?:of (?:them|those|these)|are there|(?:are|were|is) (?:they|that))\b", re.I
)
_WHICH = re.compile(
    r"^\W*(?:and\s+|so\s+|but\s+)?(?:(?:only|just|show me|tell me|give me|list)\s+)*(?:which|who|whose|how many|what (?:is|are|was|were) the|"
    r"what about the|the|those|any|is any|are any)\b",
    re.I,
)
_LABELS = frozenset({"name", "title", "label", "date"})
Thing = dict[str, JsonValue]


def things_of(result: StepResult) -> list[Thing] | None:
    """Return the items of a response that is, or holds, one list of several objects; None for any other."""
    value = read_value(result.response)
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list) and len(one) > 1]
        value = max(lists, key=len, default=None)
    if not isinstance(value, list) or len(value) < 2:  # one thing is no list to choose from
        return None
    things = [one for one in value if isinstance(one, dict)]
    return things if len(things) == len(value) else None


def narrowed(request: str, result: StepResult) -> str | None:
    """Return what remains of a response, as JSON; None if the request does not choose among its items."""
    things = things_of(result)
    if things is None:
        return None
    kept, chosen = things, False
    for choose in (_by_month, _by_weekday, _by_day, _by_bound, _by_name, _by_rank, _by_place):
        left = choose(request, kept)
        if left is not None:
            kept, chosen = left, True
    if _COUNT.search(request):
        return json.dumps({"count": len(kept)})
    return json.dumps([_labelled(thing) for thing in kept], ensure_ascii=False) if chosen else None


def _labelled(thing: Thing) -> Thing:
    """Add a ``name`` to an item whose name is called otherwise, such as ``restaurant_name``."""
    label = next((thing[key] for key in thing if words(key)[-1:] in (("name",), ("title",))), None)
    return thing if label is None or not _LABELS.isdisjoint(thing) else {"name": label, **thing}


def held(request: str, result: StepResult) -> bool:
    """Return whether a response alone answers a request: about which of its items, or about fields they have."""
    left = narrowed(request, result)
    if left is None:
        return False
    fields = view(left, asked_words(request)).matched if left != "[]" else 1
    return bool(_COUNT.search(request) or _closed(request)) or fields > 0


def _closed(request: str) -> bool:
    """Return whether a request asks for the items themselves, not for something only another call can tell."""
    return _WHICH.search(request) is not None


def _days(thing: Thing) -> Iterator[date]:
    for _, value in leaves_of(thing):
        hit = _ISO.match(value) if isinstance(value, str) else None
        if hit:
            try:
                yield date(int(hit[1]), int(hit[2]), int(hit[3]))
            except ValueError:
                continue


def _where(things: Sequence[Thing], fits: Callable[[Thing], bool], *, dated: bool = False) -> list[Thing] | None:
    """Return the fitting items; None if they are to be judged by a day and none has one."""
    if dated and not any(True for thing in things for _ in _days(thing)):
        return None
    return [thing for thing in things if fits(thing)]


def _by_month(request: str, things: Sequence[Thing]) -> list[Thing] | None:
    wanted = {_MONTHS.index(hit[1].lower()) + 1 for hit in _MONTH.finditer(request)}
    return _where(things, lambda one: any(day.month in wanted for day in _days(one)), dated=True) if wanted else None


def _by_weekday(request: str, things: Sequence[Thing]) -> list[Thing] | None:
    wanted = {_DAYS.index(hit[1].lower()) for hit in _DAY.finditer(request)}
    wanted |= {5, 6} if _WEEKEND.search(request) else set()
    return (
        _where(things, lambda one: any(day.weekday() in wanted for day in _days(one)), dated=True) if wanted else None
    )


def _by_day(request: str, things: Sequence[Thing]) -> list[Thing] | None:
    told = [(atom, _ISO.match(atom.value)) for atom in atoms(request) if atom.kind == "date"]
    if len(told) != 1 or told[0][1] is None:
        return None
    hit = told[0][1]
    day = date(int(hit[1]), int(hit[2]), int(hit[3]))
    compare = _BESIDE.get(told[0][0].cue, operator.eq)
    return _where(things, lambda one: any(compare(own, day) for own in _days(one)), dated=True)


def _by_bound(request: str, things: Sequence[Thing]) -> list[Thing] | None:
    """Return the items above or below a number.

    The number is of the field that the request names, else of the only numeric field that all items have.
    """
    hit = _BOUND.search(request)
    field = _measured(request, things) if hit else ""
    if hit is None or not field:
        return None
    bound, equal = float(hit[3].replace(",", "")), (hit[1] or hit[2]).lower() in _REACHED
    above, below = (operator.ge, operator.le) if equal else (operator.gt, operator.lt)
    return _where(things, lambda one: (above if hit[1] else below)(_numbers(one).get(field, float("nan")), bound))


def beyond_bound(request: str, things: Sequence[Thing]) -> bool:
    """Return whether some items lie outside a bound that a request sets."""
    left = _by_bound(request, things)
    return left is not None and len(left) < len(things)


def _measured(request: str, things: Sequence[Thing]) -> str:
    common = (
        [name for name in _numbers(things[0]) if all(name in _numbers(thing) for thing in things)] if things else []
    )
    said = set(text_words(request)) | {word for rank in ranks(request) for word in rank.fields}
    fit = [name for name in common if set(words(name)) & said]
    return fit[0] if fit else common[0] if len(common) == 1 else ""


def _numbers(thing: Thing) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in leaves_of(thing)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and words(name)[-1:] != ("id",)
    }


def _by_name(request: str, things: Sequence[Thing]) -> list[Thing] | None:
    names = [
        atom.text.casefold()
        for atom in atoms(request)
        if atom.kind in ("name", "quoted", "country", "code", "language")
    ]
    left = [thing for thing in things if any(name in _text(thing) for name in names)]
    return left if 0 < len(left) < len(things) else None


def _text(thing: Thing) -> str:
    return " | ".join(str(value) for _, value in leaves_of(thing)).casefold()


def _by_rank(request: str, things: Sequence[Thing]) -> list[Thing] | None:
    if _BOUND.search(request):
        return None
    fields: list[Mapping[str, JsonValue]] = [dict(leaves_of(thing)) for thing in things]
    said = text_words(request)
    wanted = [one for rank in ranks(request) for one in (replace(rank, fields=rank.fields & said), rank)]
    best = next((found for rank in wanted if (found := ranked(fields, rank))), None)
    return None if best is None else [things[best[0]]]


def _by_place(request: str, things: Sequence[Thing]) -> list[Thing] | None:
    about = frozenset(word for thing in things[:1] for name in thing for word in words(name))
    at = placed(request, len(things), about)
    return None if at is None else [things[at]]
