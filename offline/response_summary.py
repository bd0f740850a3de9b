"""Summarise what a response says about a request, as lines for a person."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.error_bodies import iterate_found_values
from agent.text import clean_text, format_scalar
from graph.identifiers import extract_words, singularize, split_words
from graph.lenient_json import read_value
from offline.nlp.asked_words import count_matches

MAX_ITEMS = 8
"""Records of a response that are shown."""
_MAX_FIELDS = 6
"""Fields of a record that are shown, besides its label and units."""
_MAX_DEPTH = 6
_LABELS = ("name", "title", "label", "date", "day", "year", "time", "id")
"""Names of fields that tell records apart, the best first."""
_NOISE = re.compile(
    r"(?:^|_)(?:url|uri|link|href|image|img|icon|thumbnail|logo|cursor|page|version|success|status)s?$", re.I
)
"""Fields that are no finding: addresses, images, paging, status."""
_UNITS = frozenset({"unit", "currency"})

Leaf = tuple[str, JsonValue]
"""A scalar field: its dotted name within its record, and its value."""


@dataclass(frozen=True, slots=True)
class ResponseSummary:
    """What to show of a response."""

    lines: tuple[str, ...]
    """A line for each record shown."""
    matched: int
    """Number of fields that the request asks about by name, and not only by a question word."""
    empty_list_notes: tuple[str, ...] = ()
    """A sentence for each empty list that the request asks about."""


def summarize_response(
    response: str, asked_names: tuple[frozenset[str], frozenset[str]], used: str = ""
) -> ResponseSummary:
    """Summarise the fields that are asked about, or the first informative ones if none is.

    Args:
        response: the response's text.
        asked_names: the words of :func:`offline.nlp.asked_words.find_asked_words`.
        used: place of a value that a later step took (``items[2].id``); only its item of that list is shown.
    """
    value = read_value(response)
    if value is None or isinstance(value, str):
        text = clean_text(value if isinstance(value, str) else response, 400)
        return ResponseSummary((text,) if text else (), 0)
    strong_words, weak_words = asked_names
    records = [_drop_ids(record, strong_words) for record in _split_records(value, used)]
    empty_list_notes = tuple(
        dict.fromkeys(map(_describe_empty_list, _find_awaited_lists(value, records, strong_words)))
    )
    if not records:
        return ResponseSummary((), 0, empty_list_notes or ("Nothing was found.",))
    fields = [_score_fields(record, strong_words) for record in records]
    matched = max(len(scored) for scored in fields)
    weak_names = (
        _order_columns([_score_fields(record, weak_words) for record in records])
        if not matched or len(records) == 1
        else []
    )
    names = [*_order_columns(fields), *weak_names] or _select_default_names(records)
    lines = [line for record in records[:MAX_ITEMS] if (line := _render_line(record, names))]
    if len(records) > MAX_ITEMS:
        lines.append(f"… and {len(records) - MAX_ITEMS} more")
    return ResponseSummary(tuple(dict.fromkeys(lines)), matched, empty_list_notes)


def _find_awaited_lists(value: JsonValue, records: Sequence[list[Leaf]], strong_words: frozenset[str]) -> list[str]:
    """Find the empty lists that are asked about, else the only empty list of a response without an answer.

    A value that the request itself names is no answer: ``{"harbour": "Brest", "berths": []}`` for the berths of Brest.
    """
    empty_lists = list(_find_empty_lists(value))
    is_answered = any(
        count_matches(name, strong_words) and not extract_words(format_scalar(leaf)) <= strong_words
        for record in records
        for name, leaf in record
    )
    return [name for name in empty_lists if count_matches(name, strong_words)][:_MAX_FIELDS] or (
        empty_lists if len(empty_lists) == 1 and not is_answered else []
    )


def _find_empty_lists(value: JsonValue, depth: int = 0) -> Iterator[str]:
    """Yield the names of the empty lists of an object and of the objects in it."""
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return
    for key, inner in value.items():
        if inner == []:
            yield key
        yield from _find_empty_lists(inner, depth + 1)


def _describe_empty_list(name: str) -> str:
    """Return a sentence about an empty list; a plural name says what was not found."""
    noun = _to_words(name)
    last_word = noun.rpartition(" ")[2]
    return f"No {noun} were found." if singularize(last_word) != last_word else f"Nothing was found under “{noun}”."


def _split_records(value: JsonValue, used: str) -> list[list[Leaf]]:
    """Split a response into records: the scalars around its lists, then the items of the lists; else the one object."""
    # Unwrap envelopes such as {"data": {"items": […]}}, and the place of the used value with them.
    while isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        if not isinstance(inner, (dict, list)):
            break
        value, used = inner, used.removeprefix(key).removeprefix(".")
    if isinstance(value, list):
        return _split_items("", value, used)
    if not isinstance(value, dict):
        return [[("", value)]]
    lists = {
        key: inner for key, inner in value.items() if isinstance(inner, list) and inner and isinstance(inner[0], dict)
    }
    scalars = list(iterate_found_values({k: v for k, v in value.items() if k not in lists}, ""))
    records = [scalars] if scalars else []
    for key, inner in lists.items():
        records += _split_items(key, inner, used.removeprefix(key) if used.startswith(key) else "")
    return records or ([] if lists or not value else [list(iterate_found_values(value, ""))])


def _split_items(name: str, items: Sequence[JsonValue], used: str) -> list[list[Leaf]]:
    """Return the items of a list as records, or only the one that a later step used; plain values make one record."""
    if all(not isinstance(item, (dict, list)) for item in items):
        return [[(name, list(items))]] if items else []
    chosen = re.match(r"\[(\d+)\]", used)
    shown_items = [items[int(chosen[1])]] if chosen and int(chosen[1]) < len(items) else items
    return [list(iterate_found_values(item, name and f"{name}.")) for item in shown_items]


def list_leaves(value: JsonValue) -> list[Leaf]:
    """List the scalars of a response by dotted name; of a list of one, those of its item."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return list(iterate_found_values(value, "")) if isinstance(value, dict) else []


def _drop_ids(record: list[Leaf], strong_words: frozenset[str]) -> list[Leaf]:
    """Drop a record's identifiers, unless one is asked for or nothing else is left."""
    if "id" in strong_words:
        return record
    return [(name, value) for name, value in record if not _is_id(name, strong_words)] or record


def _is_id(name: str, strong_words: frozenset[str]) -> bool:
    """Return whether a field is a mere identifier; ``booking_id`` is not one if a booking's reference is asked for."""
    name_words = split_words(name.rpartition(".")[2])
    return name_words[-1:] == ("id",) and not (
        "reference" in strong_words and frozenset(name_words[:-1]) & strong_words
    )


def _score_fields(record: list[Leaf], asked_words: frozenset[str]) -> dict[str, float]:
    """Score the fields of a record that are asked about: by their own names, else by the names of their holders."""
    scores = {name: float(count_matches(name.rpartition(".")[2], asked_words)) for name, _ in record}
    matched = {name: score for name, score in scores.items() if score}
    return matched or {name: 0.5 for name, _ in record if "." in name and count_matches(name, asked_words)}


def _order_columns(fields: Sequence[dict[str, float]]) -> list[str]:
    """Order field names by their best score in any record."""
    best: dict[str, float] = {}
    for scored in fields:
        for name, score in scored.items():
            best[name] = max(score, best.get(name, 0.0))
    return sorted(best, key=lambda name: -best[name])[: 2 * _MAX_FIELDS]


def _select_default_names(records: Sequence[list[Leaf]]) -> list[str]:
    """Select the first fields that are not addresses or bookkeeping."""
    names = list(dict.fromkeys(name for record in records for name, _ in record))
    return [name for name in names if not _NOISE.search(name)][:_MAX_FIELDS] or names[:_MAX_FIELDS]


def _render_line(record: list[Leaf], names: Sequence[str]) -> str:
    """Render a record: its label, the chosen fields in the record's order, and its units."""
    chosen = [(name, value) for name, value in record if name in names]
    if not chosen:
        return ""
    keys = {name for name, _ in chosen}
    label = next(
        ((n, v) for want in _LABELS for n, v in record if n.rpartition(".")[2].lower() == want and n not in keys), None
    )
    unit_fields = [(n, v) for n, v in record if _UNITS & set(split_words(n.rpartition(".")[2])) and n not in keys]
    fields = [*([label] if label else []), *chosen, *unit_fields][: _MAX_FIELDS + 2]
    holders = {name.rpartition(".")[0] for name, _ in fields}
    prefix_length = len(f"{holders.pop()}.") if len(holders) == 1 and "" not in holders else 0
    return "; ".join(
        f"{_to_words(name[prefix_length:])}: {format_scalar(value)}" if name else format_scalar(value)
        for name, value in fields
    )


def _to_words(name: str) -> str:
    """Return a field's name as words: ``author_list.person_id`` → "author list person id"."""
    return clean_text(re.sub(r"[._]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower(), 60)
