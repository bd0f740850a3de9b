"""Select the fields of a long response to show, by their names, the tool's document and their values."""

import re
from collections.abc import Sequence

from pydantic.types import JsonValue

from agent.compression.json_paths import ITEMS, iterate_leaves, split_path
from agent.policy.protocol import FieldsQuestion
from graph.coupling import get_subject_words
from graph.identifiers import extract_words, split_words
from graph.lenient_json import read_value
from offline.nlp.asked_words import count_matches
from offline.nlp.gazetteer import word_set

_MAX_CHARACTERS = 900
"""Characters that the selected fields of the first rows may take together.

More is selected than is finally shown, so that short values use the room.
"""
_MAX_ROWS = 5
"""Rows of a list that a field's size is counted for."""
_MIN_FIELDS = 2
"""Fields that are selected however little they say."""

_LABELS = word_set("name title label headline summary text description answer result message")
_KEYS = word_set("id code symbol slug isbn iata icao doi sku asin email username")
_FIGURES = word_set(
    "price amount total count rate value score rating number quantity population temperature latitude longitude duration distance percent average "
    "minimum maximum unit currency"
)
_TIMES = word_set("date time day year month start end deadline datetime timestamp")
_BOOKKEEPING = word_set(
    "version cursor etag hash checksum signature token took elapsed latency debug trace cache pagination paging schema meta metadata copyright "
    "license attribution disclaimer thumbnail icon logo image picture avatar banner html css sprite tracking sql"
)
"""Words that mark a field as bookkeeping wherever they occur in its name."""
_BOOKKEEPING_ALONE = word_set("next previous page per limit offset self request query session")
"""Words that mean bookkeeping only as the whole name: ``next`` does, ``next_draw_date`` does not."""
_RECORD_KEEPING = word_set("created updated modified inserted crawled fetched generated synced")
"""Words about the history of a record (``created_at``), which matter only if the document is about that."""
_UNREADABLE = re.compile(r"\s*(?:https?:|data:|//|/\w+/|<|[A-Za-z0-9+/=_-]{200})")
"""Values that mean nothing to a reader: addresses, markup, encoded bytes."""
_TEXT_CHARACTERS = 300
"""Characters that a long text is counted as, since it can be cut."""


def select_fields(question: FieldsQuestion) -> tuple[str, ...]:
    """Select the fields worth showing, best first.

    At least two are selected, and only as many as leave room for several rows. A field gains by its name (labels,
    identifiers that a later call may need, figures, times), by words shared with the document, and by a place near the
    root. It loses by bookkeeping words, addresses, and empty or very long values.
    """
    tool = question.tool
    topic_words = (
        extract_words(tool.description) | get_subject_words(tool.api) | extract_words(tool.toolset_description)
    )
    values_by_path: dict[str, list[JsonValue]] = {}
    for path, leaf in iterate_leaves(read_value(question.response)):
        values_by_path.setdefault(path, []).append(leaf)
    scored = [
        (_score(path, topic_words, values_by_path.get(path, [])), -place, path)
        for place, path in enumerate(question.fields)
    ]
    selected: list[str] = []
    room = _MAX_CHARACTERS
    for score, _, path in sorted(scored, reverse=True):
        sizes = _measure_sizes(values_by_path.get(path, []))
        rows = min(_MAX_ROWS, len(values_by_path.get(path, [])))
        value_size = min(_TEXT_CHARACTERS, sum(sizes) // max(1, len(sizes)))
        cost = rows * (len(path.rpartition(".")[2]) + 6 + value_size)
        if score <= 0 and len(selected) >= _MIN_FIELDS:
            break
        if cost <= room or len(selected) < _MIN_FIELDS:
            selected.append(path)
            room -= cost
    return tuple(selected)


def _score(path: str, topic_words: frozenset[str], values: Sequence[JsonValue]) -> float:
    """Score how informative a field is; 0 or less means not worth showing."""
    name_words = split_words(path.replace(ITEMS, "").rpartition(".")[2]) or ("value",)
    holders = frozenset(word for step in split_path(path)[:-1] for word in split_words(step))
    score = 1.0 + 0.5 * min(2, count_matches(" ".join(name_words), topic_words)) - 0.15 * path.count(".")
    last_word = name_words[-1]
    for group, worth in ((_LABELS, 1.2), (_KEYS, 1.0), (_FIGURES, 0.9), (_TIMES, 0.7)):
        score += worth if last_word in group else 0.4 * worth if group & set(name_words) else 0.0
    alone = len(name_words) == 1 and last_word in _BOOKKEEPING_ALONE
    if alone or set(name_words) & _BOOKKEEPING or (set(name_words) & _RECORD_KEEPING and last_word not in topic_words):
        score -= 2.0
    if holders & (_BOOKKEEPING | {"query", "request"}):
        score -= 1.2
    return score + _score_values(values, last_word)


def _score_values(values: Sequence[JsonValue], last_word: str) -> float:
    """Return the penalty for a field's values, 0 or less."""
    is_unreadable = any(isinstance(value, str) and _UNREADABLE.match(value) for value in values)
    score, sizes = -2.0 if is_unreadable or last_word == "url" else 0.0, _measure_sizes(values)
    if values and not sizes:
        return score - 0.8
    if len(sizes) <= 1:
        return score  # one long text is cut to what room there is; one in every item leaves room for few items
    return score - (1.5 if max(sizes) > 600 else 0.3 if max(sizes) > 200 else 0.0)


def _measure_sizes(values: Sequence[JsonValue]) -> list[int]:
    """Measure the characters of the values that are not empty."""
    return [len(str(value)) for value in values if value not in (None, "", [], {})]
