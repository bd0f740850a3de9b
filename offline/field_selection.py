"""Select the fields of a long response to keep, without a model: by names, by words of the document, by values."""

import re
from collections.abc import Sequence

from pydantic.types import JsonValue

from agent.compression.json_paths import ITEMS, leaves_of, steps_of
from agent.policy.protocol import FieldsQuestion
from graph.coupling import subject
from graph.identifiers import text_words, words
from graph.lenient_json import read_value
from offline.nlp.asked_words import match
from offline.nlp.gazetteer import word_set

_ROOM = 900
"""Characters that the kept fields of a list's first items may take; more than is shown, for shorter items."""
_ROWS = 5
_LEAST = 2

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
_BOOKKEEPING_ALONE = word_set("next previous page per limit offset self request query session")
"""Words that mean bookkeeping only as a whole name: ``next`` does, ``next_draw_date`` does not."""
_RECORD_KEEPING = word_set("created updated modified inserted crawled fetched generated synced")
_ADDRESS = re.compile(r"\s*(?:https?:|data:|//|/\w+/|<|[A-Za-z0-9+/=_-]{200})")
"""Values that tell a reader nothing: addresses, markup, encoded bytes."""
_OF_A_TEXT = 300
"""Characters that a long text counts for; it is cut to the room there is."""


def telling_fields(question: FieldsQuestion) -> tuple[str, ...]:
    """Select the fields worth showing, best first: as many as let a few items be shown, two at least.

    A field gains by its name (labels, identifiers that a later call may need, figures, times), by words that it
    shares with the document, and by a high place in the response. It loses by bookkeeping, addresses, and empty or
    very long values.
    """
    tool = question.tool
    about = text_words(tool.description) | subject(tool.api) | text_words(tool.toolset_description)
    seen: dict[str, list[JsonValue]] = {}
    for path, leaf in leaves_of(read_value(question.response)):
        seen.setdefault(path, []).append(leaf)
    scored = [(_score(path, about, seen.get(path, [])), -place, path) for place, path in enumerate(question.fields)]
    kept: list[str] = []
    room = _ROOM
    for score, _, path in sorted(scored, reverse=True):
        sizes = _sizes(seen.get(path, []))
        rows = min(_ROWS, len(seen.get(path, [])))
        each = min(_OF_A_TEXT, sum(sizes) // max(1, len(sizes)))
        cost = rows * (len(path.rpartition(".")[2]) + 6 + each)
        if score <= 0 and len(kept) >= _LEAST:
            break
        if cost <= room or len(kept) < _LEAST:
            kept.append(path)
            room -= cost
    return tuple(kept)


def _score(path: str, about: frozenset[str], values: Sequence[JsonValue]) -> float:
    """Score how telling a field is; a score of 0 or less is not worth showing."""
    named = words(path.replace(ITEMS, "").rpartition(".")[2]) or ("value",)
    holders = frozenset(word for step in steps_of(path)[:-1] for word in words(step))
    score = 1.0 + 0.5 * min(2, match(" ".join(named), about)) - 0.15 * path.count(".")
    last = named[-1]
    for group, worth in ((_LABELS, 1.2), (_KEYS, 1.0), (_FIGURES, 0.9), (_TIMES, 0.7)):
        score += worth if last in group else 0.4 * worth if group & set(named) else 0.0
    alone = len(named) == 1 and last in _BOOKKEEPING_ALONE
    if alone or set(named) & _BOOKKEEPING or (set(named) & _RECORD_KEEPING and last not in about):
        score -= 2.0
    if holders & (_BOOKKEEPING | {"query", "request"}):
        score -= 1.2
    return score + _of_values(values, last)


def _of_values(values: Sequence[JsonValue], last: str) -> float:
    """Return the penalty for a field's values, 0 or less."""
    address = any(isinstance(value, str) and _ADDRESS.match(value) for value in values)
    score, sizes = -2.0 if address or last == "url" else 0.0, _sizes(values)
    if values and not sizes:
        return score - 0.8
    if len(sizes) <= 1:
        return score  # one long text is cut to what room there is; one in every item leaves room for few items
    return score - (1.5 if max(sizes) > 600 else 0.3 if max(sizes) > 200 else 0.0)


def _sizes(values: Sequence[JsonValue]) -> list[int]:
    """Measure the characters of the values that are not empty."""
    return [len(str(value)) for value in values if value not in (None, "", [], {})]
