"""How much of a clause a tool covers: words by the tool's names and fields, values by the calls it would take."""

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache

from domain.tool import ToolDoc, ToolId
from graph.identifiers import text_words, words
from graph.response_fields import output_fields
from offline.nlp.asked_words import asked_groups, asked_pairs, compact, match
from offline.nlp.coordination import atoms
from offline.nlp.entities import Span, SpanKind, spans
from offline.nlp.gazetteer import UNITS, word_set
from offline.slots.binding import uses

_VALUES = word_set("quoted name number email url domain ip phone coordinates code time date")
_ASKING = word_set(
    "provide need want like help information detail data please using use api tool retrieve fetch obtain return display let know look see make sure "
    "available specific certain various different first second last name id day number difference compare comparison between versus more less most "
    "least far have has had got lie live stay happen exist mean say think come keep exactly away going able there approximately roughly total overall "
    "altogether expect wonder curious interested put pick read just present find write buy did getting called call possible early left both each same "
    "third fourth fifth here today tomorrow yesterday currently current best worst top later earlier take out up one two three thing if off back "
    "whether bring bad until till"
)
_HOLLOW = word_set(
    "have has had got lie live there here come keep exactly take out up thing want need like please more bring most s mean say"
)
"""Words that carry no meaning even alone."""
_SET = {"date": word_set("date day from start year"), "time": frozenset({"time", "hour", "slot"})}
"""Words for what a day or an hour in digits asks of a tool: an input for it."""
_TYPED = {"date": "date", "time": "time","currency": "currency", "unit": "unit", "language": "language", "email": "email", "url": "url", "ip": "ip",
          "phone": "phone", "coordinates": "coordinates"}  # fmt: skip
"""Topic of a value by its mere kind: a request that names two currencies is about currencies."""

_SPELLS = word_set("day week month year hour minute second")
_ANY_DAY = date(2000, 1, 1)
_DOTTED = re.compile(r"[^\W\d_]+\d+\.\d+")
"""A name such as ``PM2.5`` is what is asked for, and not a value."""
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=256)
def bare(clause: str) -> str:
    """Return a clause without its values (names, numbers, quotations): what is asked, not of whom.

    A tool's text knows no values. The clause is returned unchanged if fewer than two words would remain.
    """
    left = _without_values(clause)
    return left if len(_WORD.findall(left)) >= 2 else clause


def _without_values(clause: str) -> str:
    text, cut = clause, len(clause)
    values = (span for span in spans(clause, _ANY_DAY) if span.kind in _VALUES and not _DOTTED.fullmatch(span.text))
    # From the end on, so that the places of earlier spans stay valid. A single word that is the whole clause stays.
    for span in sorted(values, key=lambda span: -span.start):
        if span.end <= cut and (span.start > 0 or " " in span.text or span.end < len(clause)):
            text, cut = text[: span.start] + text[span.end :], span.start
    return " ".join(text.replace('""', "").replace("''", "").split())


def supported(relevance: float, clause: str, vocabulary: frozenset[str]) -> float:
    """Return the mean of a tool's similarity to a clause and of its share of known words, in [0, 1]."""
    return (relevance + support(clause, vocabulary)) / 2


def support(clause: str, vocabulary: frozenset[str]) -> float:
    """Return the share of a clause's telling words that are in a vocabulary, in [0, 1]; 0 without any."""
    asked = telling(clause)
    return sum(_knows(vocabulary, group) for group in asked) / len(asked) if asked else 0.0


@lru_cache(maxsize=256)
def plain(clause: str) -> str:
    """Return a clause as a tool's document would word it: without values, with synonyms of its words."""
    own = bare(clause)
    meant = {name for group in (*asked_groups(own), _kinds(clause)) for name in group} - text_words(own)
    return " ".join((own, *sorted(meant)))


def vocabulary(doc: ToolDoc) -> frozenset[str]:
    """Collect the words of a tool's names, description, parameters and response fields."""
    known = set(words(doc.api)) | set(words(doc.toolset)) | set(words(doc.category)) | text_words(doc.description)
    for parameter in doc.parameters:
        known |= set(words(parameter.name))
    for field in output_fields(doc):
        known |= {*words(field.name), *field.holder, compact(field.name)}
    return frozenset(known)


_ONE_THING = re.compile(r"\b(e-?mail) address(?:es)?\b", re.IGNORECASE)
"""Two words for one thing; an address by itself is a street address."""


@lru_cache(maxsize=256)
def telling(clause: str) -> tuple[frozenset[str], ...]:
    """Find the words of a clause that say what is asked, each with what it may stand for.

    The name of a unit stands for units as well.
    """
    kinds = _kinds(clause)
    pairs = asked_pairs(_without_values(_ONE_THING.sub(r"\1", clause)))
    told = tuple(_with_sort(group) for own, group in pairs if not own & _ASKING)
    told += tuple(_SET[kind] for kind in sorted(kinds) if kind in _SET and told)
    return told or tuple(_with_sort(group) for own, group in pairs if not own & _HOLLOW) or ((kinds,) if kinds else ())


def _with_sort(group: frozenset[str]) -> frozenset[str]:
    return group | {"unit"} if group & UNITS.keys() - _SPELLS else group


def _kinds(clause: str) -> frozenset[str]:
    found = (span for span in spans(clause, _ANY_DAY) if span.kind in _TYPED)
    return frozenset(_TYPED[span.kind] for span in found if span.kind != "date" or any(c.isdigit() for c in span.text))


def _knows(vocabulary: frozenset[str], group: frozenset[str]) -> bool:
    """Return whether a vocabulary has a word of the group, or a longer or shorter form of one.

    ``conversion`` is a form of ``convert``: long words are compared by their first five letters.
    """
    if group & vocabulary:
        return True
    stems = {word[:5] for word in group if len(word) >= 5}
    return bool(stems) and any(word[:5] in stems for word in vocabulary if len(word) >= 5)


_HEAVY: frozenset[SpanKind] = frozenset({"date", "time", "coordinates", "email", "url"})
"""Kinds of values that count double."""
_TELLING: frozenset[SpanKind] = frozenset({"quoted", "unit", "currency", "name"})
"""Kinds of values that count one and a half times."""


class Uses:
    """Finds the values of one request that tools use; each result is cached."""

    def __init__(self, request: str) -> None:
        self._request = request
        self._known: dict[tuple[ToolId, str], tuple[Span, ...]] = {}

    def share(self, tools: Sequence[ToolDoc], clause: str) -> float:
        """Return the weighted share of a clause's values that calls of the tools take, in [0, 1]; 1 if there are none.

        The request's values count for a clause without any.
        """
        text = self._request if bare(clause) == clause else clause
        told = atoms(text)
        if not told:
            return 1.0
        used = [span for tool in tools for span in self._of(tool, text)]
        taken = [atom for atom in told if any(atom.overlaps(span) for span in used)]
        return sum(map(_weight, taken)) / sum(map(_weight, told))

    def _of(self, tool: ToolDoc, text: str) -> tuple[Span, ...]:
        key = (tool.id, text)
        if key not in self._known:
            self._known[key] = uses(tool, text)
        return self._known[key]


def _weight(atom: Span) -> float:
    return 2.0 if atom.kind in _HEAVY else 1.5 if atom.kind in _TELLING else 1.0


def unsaid(clauses: Sequence[str], path: Sequence[ToolDoc]) -> list[frozenset[str]]:
    """Find the telling words of clauses that neither names nor fields of a path's tools know.

    Each word comes with what it may stand for.
    """
    asked = dict.fromkeys(group for clause in clauses for group in telling(clause))
    return [group for group in asked if not any(speaks(tool, group) for tool in path)]


def answers(tool: ToolDoc, group: frozenset[str]) -> bool:
    """Return whether one of the words names a field of the tool's response."""
    return any(match(field.name, group) for field in output_fields(tool))


def speaks(tool: ToolDoc, group: frozenset[str]) -> bool:
    """Return whether a tool's names, parameters or fields have one of the words."""
    named = {*words(tool.api), *words(tool.toolset)}
    named |= {word for parameter in tool.parameters for word in words(parameter.name)}
    named |= {word for field in output_fields(tool) for word in field.holder}
    return bool(group & named) or answers(tool, group)
