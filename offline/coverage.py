"""Measure how much of a clause a tool covers: its words by names and fields, its values by the calls it would make."""

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from domain.tool import ToolDoc, ToolId
from graph.identifiers import extract_words, split_words
from graph.response_fields import output_fields
from offline.nlp.asked_words import compact_name, count_matches, group_asked_words, pair_asked_words
from offline.nlp.coordination import find_atoms
from offline.nlp.entities import Span, SpanKind, find_spans
from offline.nlp.gazetteer import UNITS, word_set
from offline.slots.binding import find_used_spans

_VALUES = word_set("quoted name number email url domain ip phone coordinates code time date")
"""Kinds of spans that are values of a request, and not words about what is asked."""
_QUESTION_WORDS = word_set(
    "provide need want like help information detail data please using use api tool retrieve fetch obtain return display let know look see make sure "
    "available specific certain various different first second last name id day number difference compare comparison between versus more less most "
    "least far have has had got lie live stay happen exist mean say think come keep exactly away going able there approximately roughly total overall "
    "altogether expect wonder curious interested put pick read just present find write buy did getting called call possible early left both each same "
    "third fourth fifth here today tomorrow yesterday currently current best worst top later earlier take out up one two three thing if off back "
    "whether bring bad until till"
)
"""Words that say nothing about which tool is meant."""
_EMPTY_WORDS = word_set(
    "have has had got lie live there here come keep exactly take out up thing want need like please more bring most s mean say"
)
"""Question words that say nothing even where a clause has no other words."""
_WORDS_BY_KIND = {"date": word_set("date day from start year"), "time": frozenset({"time", "hour", "slot"})}
"""Words of tools that take a date or a time: a stated date asks for a tool with such an input."""
_TOPIC_BY_KIND = {"date": "date", "time": "time","currency": "currency", "unit": "unit", "language": "language", "email": "email", "url": "url", "ip": "ip",
          "phone": "phone", "coordinates": "coordinates"}  # fmt: skip
"""Topic that a value's kind alone suggests: a request that names two currencies is about currencies."""

_TIME_UNITS = word_set("day week month year hour minute second")
_ANY_DAY = date(2000, 1, 1)
"""Day for relative dates where only the places of dates matter, not their values."""
_DOTTED = re.compile(r"[^\W\d_]+\d+\.\d+")
"""A name such as ``PM2.5``, which is asked for rather than stated as a value."""
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=256)
def strip_values(clause: str) -> str:
    """Return a clause without its values (names, numbers, quotations), as a tool's document would put it.

    The clause is returned unchanged if fewer than two words would remain.
    """
    stripped = _remove_values(clause)
    return stripped if len(_WORD.findall(stripped)) >= 2 else clause


def _remove_values(clause: str) -> str:
    text, cut = clause, len(clause)
    values = (
        span for span in find_spans(clause, _ANY_DAY) if span.kind in _VALUES and not _DOTTED.fullmatch(span.text)
    )
    # From the end on, so that the places of earlier spans stay valid. A single word that is the whole clause stays.
    for span in sorted(values, key=lambda span: -span.start):
        if span.end <= cut and (span.start > 0 or " " in span.text or span.end < len(clause)):
            text, cut = text[: span.start] + text[span.end :], span.start
    return " ".join(text.replace('""', "").replace("''", "").split())


def blend_relevance(relevance: float, clause: str, vocabulary: frozenset[str]) -> float:
    """Return the mean of a tool's similarity to a clause and of its share of known words, in [0, 1]."""
    return (relevance + measure_support(clause, vocabulary)) / 2


def measure_support(clause: str, vocabulary: frozenset[str]) -> float:
    """Return the share of a clause's content words that a vocabulary has, in [0, 1]; 0 if the clause has none."""
    word_groups = find_telling_words(clause)
    return sum(_is_known(vocabulary, group) for group in word_groups) / len(word_groups) if word_groups else 0.0


@lru_cache(maxsize=256)
def normalize_clause(clause: str) -> str:
    """Return a clause as a tool's document would word it: without values, followed by synonyms of its words."""
    stripped = strip_values(clause)
    meanings = {
        name for group in (*group_asked_words(stripped), _find_topics(clause)) for name in group
    } - extract_words(stripped)
    return " ".join((stripped, *sorted(meanings)))


def collect_vocabulary(doc: ToolDoc) -> frozenset[str]:
    """Collect the words of a tool's names, description, parameters and response fields."""
    known_words = (
        set(split_words(doc.api))
        | set(split_words(doc.toolset))
        | set(split_words(doc.category))
        | extract_words(doc.description)
    )
    for parameter in doc.parameters:
        known_words |= set(split_words(parameter.name))
    for field in output_fields(doc):
        known_words |= {*split_words(field.name), *field.holder, compact_name(field.name)}
    return frozenset(known_words)


_COMPOUND = re.compile(r"\b(e-?mail) address(?:es)?\b", re.IGNORECASE)
"""Two words for one thing; an address by itself is a street address."""


@lru_cache(maxsize=256)
def find_telling_words(clause: str) -> tuple[frozenset[str], ...]:
    """Find the content words of a clause, each as a set with its synonyms and what it may stand for.

    If a clause has question words alone, those that still carry some meaning are returned.
    """
    kinds = _find_topics(clause)
    pairs = pair_asked_words(_remove_values(_COMPOUND.sub(r"\1", clause)))
    groups = tuple(_add_unit_word(group) for own, group in pairs if not own & _QUESTION_WORDS)
    groups += tuple(_WORDS_BY_KIND[kind] for kind in sorted(kinds) if kind in _WORDS_BY_KIND and groups)
    return (
        groups
        or tuple(_add_unit_word(group) for own, group in pairs if not own & _EMPTY_WORDS)
        or ((kinds,) if kinds else ())
    )


def _add_unit_word(group: frozenset[str]) -> frozenset[str]:
    """Add "unit" to the words of a unit of measure.

    Units of time are left alone: "day" and "hour" rarely ask for a conversion.
    """
    return group | {"unit"} if group & UNITS.keys() - _TIME_UNITS else group


def _find_topics(clause: str) -> frozenset[str]:
    """Find the topics that the kinds of a clause's values suggest; dates count only if written with digits."""
    typed_spans = (span for span in find_spans(clause, _ANY_DAY) if span.kind in _TOPIC_BY_KIND)
    return frozenset(
        _TOPIC_BY_KIND[span.kind] for span in typed_spans if span.kind != "date" or any(c.isdigit() for c in span.text)
    )


def _is_known(vocabulary: frozenset[str], group: frozenset[str]) -> bool:
    """Return whether a vocabulary has a word of the group, or a longer or shorter form of one.

    ``conversion`` is a form of ``convert``: long words are compared by their first five letters.
    """
    if group & vocabulary:
        return True
    stems = {word[:5] for word in group if len(word) >= 5}
    return bool(stems) and any(word[:5] in stems for word in vocabulary if len(word) >= 5)


_HEAVY: frozenset[SpanKind] = frozenset({"date", "time", "coordinates", "email", "url"})
"""Kinds of values that count double."""
_SPECIFIC: frozenset[SpanKind] = frozenset({"quoted", "unit", "currency", "name"})
"""Kinds of values that count one and a half times."""


class ValueUsage:
    """Measures which values of one request tools use; the spans of each tool and text are cached."""

    def __init__(self, request: str) -> None:
        self._request = request
        self._used_spans: dict[tuple[ToolId, str], tuple[Span, ...]] = {}

    def measure_share(self, tools: Sequence[ToolDoc], clause: str) -> float:
        """Return the weighted share of a clause's values that calls of the tools would take, in [0, 1].

        A clause without values is measured by those of the whole request; 1 if there are none either.
        """
        text = self._request if strip_values(clause) == clause else clause
        values = find_atoms(text)
        if not values:
            return 1.0
        used = [span for tool in tools for span in self._find_used_spans(tool, text)]
        used_values = [atom for atom in values if any(atom.overlaps(span) for span in used)]
        return sum(map(_weigh, used_values)) / sum(map(_weigh, values))

    def _find_used_spans(self, tool: ToolDoc, text: str) -> tuple[Span, ...]:
        key = (tool.id, text)
        if key not in self._used_spans:
            self._used_spans[key] = find_used_spans(tool, text)
        return self._used_spans[key]


def _weigh(atom: Span) -> float:
    return 2.0 if atom.kind in _HEAVY else 1.5 if atom.kind in _SPECIFIC else 1.0


def find_unanswered_words(clauses: Sequence[str], path: Sequence[ToolDoc]) -> list[frozenset[str]]:
    """Find the content words of clauses that no name, parameter or field of the path's tools has.

    Each word is returned as a set with its synonyms and what it may stand for.
    """
    groups = dict.fromkeys(group for clause in clauses for group in find_telling_words(clause))
    return [group for group in groups if not any(has_word(tool, group) for tool in path)]


def has_answer_field(tool: ToolDoc, group: frozenset[str]) -> bool:
    """Return whether one of the words names a field of the tool's response."""
    return any(count_matches(field.name, group) for field in output_fields(tool))


def has_word(tool: ToolDoc, group: frozenset[str]) -> bool:
    """Return whether a tool's names, parameters or fields have one of the words."""
    names = {*split_words(tool.api), *split_words(tool.toolset)}
    names |= {word for parameter in tool.parameters for word in split_words(parameter.name)}
    names |= {word for field in output_fields(tool) for word in field.holder}
    return bool(group & names) or has_answer_field(tool, group)
