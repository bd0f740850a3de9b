"""Summarise the part of a response that a request asks about, as lines that a person can read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.error_bodies import findings_of
from agent.text import clean, shown
from graph.identifiers import singular, text_words, words
from graph.lenient_json import read_value
from offline.nlp.asked_words import match

MOST_ITEMS = 8
_MOST_FIELDS = 6
_DEEPEST = 6
_LABELS = ("name", "title", "label", "date", "day", "year", "time", "id")
_NOISE = re.compile(
    r"(?:^|_)(?:url|uri|link|href|image|img|icon|thumbnail|logo|cursor|page|version|success|status)s?$", re.I
)
"""Fields that accompany an empty list without being a finding."""
_UNITS = frozenset({"unit", "currency"})

Leaf = tuple[str, JsonValue]
"""A field by its dotted name within its record, and its value."""


@dataclass(frozen=True, slots=True)
class View:
    """Lines to show of a response."""

    lines: tuple[str, ...]
    matched: int
    """Number of fields that the request asks about by name, not only by a question word."""
    nothing: tuple[str, ...] = ()
    """A sentence for each empty list that the request asks about."""


def view(response: str, asked: tuple[frozenset[str], frozenset[str]], used: str = "") -> View:
    """Summarise the fields that are asked about; if none is, the first telling ones.

    ``asked_names``: the words of :func:`offline.nlp.asked_words.asked_words`. ``used``: place of a value that a later
    step took (``items[2].id``); of that list only its item is shown.
    """
    value = read_value(response)
    if value is None or isinstance(value, str):
        text = clean(value if isinstance(value, str) else response, 400)
        return View((text,) if text else (), 0)
    strong, weak = asked
    records = [_without_ids(record, strong) for record in _records(value, used)]
    nothing = tuple(dict.fromkeys(map(_none_of, _awaited(value, records, strong))))
    if not records:
        return View((), 0, nothing or ("Nothing was found.",))
    fields = [_scored(record, strong) for record in records]
    matched = max(len(scored) for scored in fields)
    meant = _columns([_scored(record, weak) for record in records]) if not matched or len(records) == 1 else []
    names = [*_columns(fields), *meant] or _telling(records)
    lines = [line for record in records[:MOST_ITEMS] if (line := _line(record, names))]
    if len(records) > MOST_ITEMS:
        lines.append(f"… and {len(records) - MOST_ITEMS} more")
    return View(tuple(dict.fromkeys(lines)), matched, nothing)


def _awaited(value: JsonValue, records: Sequence[list[Leaf]], asked: frozenset[str]) -> list[str]:
    """Find the empty lists that are asked about, else the only one of a response without an answer.

    A value that the request itself names is no answer: ``{"harbour": "Brest", "berths": []}`` for the berths of
    Brest.
    """
    empty = list(_empty_lists(value))
    told = any(
        match(name, asked) and not text_words(shown(leaf)) <= asked for record in records for name, leaf in record
    )
    return [name for name in empty if match(name, asked)][:_MOST_FIELDS] or (
        empty if len(empty) == 1 and not told else []
    )


def _empty_lists(value: JsonValue, depth: int = 0) -> Iterator[str]:
    """Yield the names of the empty lists of an object and of the objects in it."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return
    for key, inner in value.items():
        if inner == []:
            yield key
        yield from _empty_lists(inner, depth + 1)


def _none_of(name: str) -> str:
    """Return a sentence about an empty list; a plural name says what was not found."""
    spoken = _spoken(name)
    last = spoken.rpartition(" ")[2]
    return f"No {spoken} were found." if singular(last) != last else f"Nothing was found under “{spoken}”."


def _records(value: JsonValue, used: str) -> list[list[Leaf]]:
    """Return the items of the main lists, after the scalars around them as a record; else the one object."""
    # Unwrap envelopes such as {"data": {"items": […]}}, and the place of the used value with them.
    while isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        if not isinstance(inner, (dict, list)):
            break
        value, used = inner, used.removeprefix(key).removeprefix(".")
    if isinstance(value, list):
        return _items("", value, used)
    if not isinstance(value, dict):
        return [[("", value)]]
    lists = {
        key: inner for key, inner in value.items() if isinstance(inner, list) and inner and isinstance(inner[0], dict)
    }
    around = list(findings_of({k: v for k, v in value.items() if k not in lists}, ""))
    found = [around] if around else []
    for key, inner in lists.items():
        found += _items(key, inner, used.removeprefix(key) if used.startswith(key) else "")
    return found or ([] if lists or not value else [list(findings_of(value, ""))])


def _items(name: str, items: Sequence[JsonValue], used: str) -> list[list[Leaf]]:
    if all(not isinstance(item, (dict, list)) for item in items):
        return [[(name, list(items))]] if items else []
    chosen = re.match(r"\[(\d+)\]", used)
    kept = [items[int(chosen[1])]] if chosen and int(chosen[1]) < len(items) else items
    return [list(findings_of(item, name and f"{name}.")) for item in kept]


def leaves_of(value: JsonValue) -> list[Leaf]:
    """List the scalars of a response by dotted name; of a list of one, those of its item."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return list(findings_of(value, "")) if isinstance(value, dict) else []


def _without_ids(record: list[Leaf], asked: frozenset[str]) -> list[Leaf]:
    """Drop a record's identifiers, unless one is asked for or nothing else is there."""
    if "id" in asked:
        return record
    return [(name, value) for name, value in record if not _is_id(name, asked)] or record


def _is_id(name: str, asked: frozenset[str]) -> bool:
    """Return whether a field is an identifier, and not the reference of a thing that is asked for.

    A ``booking_id`` is a booking's reference.
    """
    own = words(name.rpartition(".")[2])
    return own[-1:] == ("id",) and not ("reference" in asked and frozenset(own[:-1]) & asked)


def _scored(record: list[Leaf], asked: frozenset[str]) -> dict[str, float]:
    """Score the fields of a record that are asked about: by their own names, else by what holds them."""
    own = {name: float(match(name.rpartition(".")[2], asked)) for name, _ in record}
    matched = {name: score for name, score in own.items() if score}
    return matched or {name: 0.5 for name, _ in record if "." in name and match(name, asked)}


def _columns(fields: Sequence[dict[str, float]]) -> list[str]:
    best: dict[str, float] = {}
    for scored in fields:
        for name, score in scored.items():
            best[name] = max(score, best.get(name, 0.0))
    return sorted(best, key=lambda name: -best[name])[: 2 * _MOST_FIELDS]


def _telling(records: Sequence[list[Leaf]]) -> list[str]:
    """Select the first fields that are not addresses or bookkeeping."""
    names = list(dict.fromkeys(name for record in records for name, _ in record))
    return [name for name in names if not _NOISE.search(name)][:_MOST_FIELDS] or names[:_MOST_FIELDS]


def _line(record: list[Leaf], names: Sequence[str]) -> str:
    """Render one record: its label, then its chosen fields, in the record's own order."""
    chosen = [(name, value) for name, value in record if name in names]
    if not chosen:
        return ""
    keys = {name for name, _ in chosen}
    label = next(
        ((n, v) for want in _LABELS for n, v in record if n.rpartition(".")[2].lower() == want and n not in keys), None
    )
    units = [(n, v) for n, v in record if _UNITS & set(words(n.rpartition(".")[2])) and n not in keys]
    told = [*([label] if label else []), *chosen, *units][: _MOST_FIELDS + 2]
    holders = {name.rpartition(".")[0] for name, _ in told}
    shared = len(f"{holders.pop()}.") if len(holders) == 1 and "" not in holders else 0
    return "; ".join(f"{_spoken(name[shared:])}: {shown(value)}" if name else shown(value) for name, value in told)


def _spoken(name: str) -> str:
    """Return a field's name as words: ``author_list.person_id`` → "author list person id"."""
    return clean(re.sub(r"[._]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower(), 60)
