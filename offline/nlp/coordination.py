"""Split coordinations ("the weather in A and in B") into one text for each thing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import pairwise

from offline.nlp.entities import Span, SpanKind, find_spans

_ANY_DAY = date(2000, 1, 1)
"""Day for relative dates, whose values do not matter here."""
_NAMES: tuple[SpanKind, ...] = (
    "name", "country", "quoted", "currency", "code", "language", "email", "url", "domain", "ip",
)  # fmt: skip
_MEASURES: Mapping[SpanKind, str] = {
    "number": "number", "unit": "unit", "coordinates": "coordinates", "date": "date", "time": "time",
}  # fmt: skip
_SORT_BY_KIND: Mapping[SpanKind, str] = {**dict.fromkeys(_NAMES, "name"), **_MEASURES}
"""Sort of value by kind of span: values of one sort may be coordinated.

A currency code may look like any other code or like a name, so these are one sort.
"""

_JOINED = re.compile(r"(?:\s*,)?\s+(?:and|or|versus|vs\.?|as well as|&)\s+|\s*[,;/]\s*", re.I)
"""What joins two coordinated values."""
_RANGE_START = re.compile(r"\b(?:from|between)\s+(?:the\s+)?$", re.I)
"""Words that make two days or hours after them one range, which is a single thing."""
_MAX_FILLER = 8
"""Words before the first value that may be repeated before the second."""
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=256)
def split_coordinated(clause: str) -> tuple[tuple[str, str], ...]:
    """Return a clause once for each thing that it coordinates, each time with that thing; ``()`` if there are none.

    Values of one sort are coordinated if a conjunction or a comma joins them. The words that lead to the first may be
    repeated before the second: "in A and in B".
    """
    runs = _find_runs(clause, find_atoms(clause))
    if not runs:
        return ()
    members = max(runs, key=len)
    start, end = members[0][0], members[-1][1]
    return tuple((f"{clause[:start]}{clause[a:b]}{clause[end:]}", clause[a:b]) for a, b in members)


def find_atoms(clause: str) -> list[Span]:
    """Find the values of a clause without overlaps; of those that begin at one place, the longest."""
    values: list[Span] = []
    usable = (span for span in find_spans(clause, _ANY_DAY) if span.kind in _SORT_BY_KIND)
    for span in sorted(usable, key=lambda span: (span.start, -span.end)):
        if not any(span.overlaps(other) for other in values):
            values.append(span)
    return values


def _find_runs(clause: str, values: Sequence[Span]) -> list[list[tuple[int, int]]]:
    """Find the sequences of two or more coordinated things, as start and end in the clause."""
    chunks = _group_adjacent(clause, values)
    runs: list[list[tuple[int, int]]] = []
    for left, right in pairwise(chunks):
        pair = _match_neighbours(clause, left, right)
        if pair is None:
            continue
        if runs and runs[-1][-1] == pair[0]:
            runs[-1].append(pair[1])
        else:
            runs.append([*pair])
    return runs


def _group_adjacent(clause: str, values: Sequence[Span]) -> list[list[Span]]:
    """Group values that follow each other directly: ``100 USD``, ``Paris tomorrow``."""
    chunks: list[list[Span]] = []
    for atom in values:
        if chunks and not clause[chunks[-1][-1].end : atom.start].strip():
            chunks[-1].append(atom)
        else:
            chunks.append([atom])
    return chunks


def _match_neighbours(
    clause: str, left: Sequence[Span], right: Sequence[Span]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Match the end of one group with the beginning of the next, if the words between them coordinate them.

    Only values of the same sorts in the same order match.
    """
    for size in range(min(len(left), len(right)), 0, -1):
        first_values, second_values = left[-size:], right[:size]
        if [_SORT_BY_KIND[span.kind] for span in first_values] != [_SORT_BY_KIND[span.kind] for span in second_values]:
            continue
        start, end = (
            _include_quotes(clause, first_values[0].start, first_values[-1].end),
            _include_quotes(clause, second_values[0].start, second_values[-1].end),
        )
        before, between = clause[: start[0]], clause[start[1] : end[0]]
        is_range = all(piece.kind in ("time", "date") for piece in first_values) and _RANGE_START.search(before)
        if not is_range and is_coordination(before, between) and clause[slice(*start)] != clause[slice(*end)]:
            return start, end
    return None


def _include_quotes(clause: str, start: int, end: int) -> tuple[int, int]:
    """Extend a place by the quotation marks around it."""
    quoted = clause[start - 1 : start] in tuple("\"'“‘«`") and clause[end : end + 1] in tuple("\"'”’»`")
    return (start - 1, end + 1) if quoted and start else (start, end)


def is_coordination(before: str, between: str) -> bool:
    """Return whether the words between two things coordinate them.

    After the conjunction they may repeat the words that lead to the first thing.
    """
    joined = _JOINED.match(between)
    filler = between[joined.end() :].strip() if joined else ""
    return joined is not None and (not filler or _is_repeated_lead(before, filler))


def _is_repeated_lead(before: str, filler: str) -> bool:
    """Return whether the words after *and* are those before the first thing.

    ``[to the currency of] A and [to the currency of] B``
    """
    lead_words, filler_words = list(_split_words(before)), list(_split_words(filler))
    return 0 < len(filler_words) <= _MAX_FILLER and lead_words[-len(filler_words) :] == filler_words


def _split_words(text: str) -> Iterator[str]:
    return (word.lower() for word in _WORD.findall(text) if word.lower() not in ("the", "a", "an"))
