"""Find which of several things a request means: by an ordinal, or by what it has most or least of.

Examples are "the second author" and "the cheapest flight".
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic.types import JsonValue

from graph.identifiers import split_words
from offline.nlp.gazetteer import NUMBER_WORDS, word_set

_INDEX_BY_ORDINAL = {
    "first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "sixth": 5, "6th": 5,
    "seventh": 6, "7th": 6, "eighth": 7, "8th": 7, "ninth": 8, "9th": 8, "tenth": 9, "10th": 9, "last": -1, "final": -1, "lead": 0,
    "leading": 0, "top": 0,
}  # fmt: skip
"""Index in a list by ordinal word; -1 is the last."""
_TIMES = r"(?:\d+|few|weeks?|months?|years?|nights?|days?|hours?|times?|minutes?|seconds?|of (?:january|february|march|april|may|june|july|august|september|october|november|december)|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|name|half|class|aid|" + "|".join(NUMBER_WORDS) + r")\b"  # fmt: skip
"""Words after an ordinal that make it no reference to a list: ``the last week``, ``the first of May``."""
_ORDINAL = re.compile(
    rf"\b({'|'.join(_INDEX_BY_ORDINAL)})\b(?![,.]|\s+(?!one\b){_TIMES})(?:\s+(?:listed|named|known))?\s*((?:[^\W\d_]|-)*)",
    re.I,
)
"""An ordinal, and the word after it."""
_QUOTED = re.compile(r"[\"“«‘'][^\"”»’']*[\"”»’'](?!\w)")

_MONEY, _TIME, _SIZE = (
    "price cost fare amount total fee rate rent charge tariff toll premium",
    "duration minutes time length hours",
    "population size area capacity count",
)
_LENGTH, _SINCE = (
    "duration length distance pages minutes",
    "date year time published released day start due founded established built",
)
_MEASURE_BY_STEM: Mapping[str, tuple[frozenset[str], bool]] = {
    word: (word_set(fields), most)
    for adjectives, fields, most in (
        ("expensive costly dear", _MONEY, True), ("cheap", _MONEY, False), ("long", _LENGTH, True), ("short", _LENGTH, False),
        ("fast quick", _TIME, False), ("slow", _TIME, True), ("late", _SINCE, True), ("early", _SINCE, False),
        ("new", "date year time published released founded", True), ("recent", "date year time published released day", True),
        ("old", "age founded year built date birth", False), ("young", "age birth year founded date", True), ("far", "distance", True),
        ("near close", "distance", False), ("warm hot", "temperature", True), ("cold cool", "temperature", False),
        ("wet rain", "precipitation rain", True), ("dry", "precipitation rain humidity", False), ("wind", "wind", True),
        ("humid", "humidity", True), ("heavy", "weight mass", True), ("light", "weight mass", False), ("tall", "height elevation", True),
        ("deep", "depth", True), ("populous populat", "population", True), ("rich", "income wealth gdp", True),
        ("strong", "strength magnitude power", True), ("big large", _SIZE, True), ("small", _SIZE, False),
        ("good", "rating score rank", True), ("bad", "rating score rank", False), ("cit", "citation", True), ("rat", "rating score", True),
        ("popular", "popularity rating votes count citation", True),

    )
    for word in adjectives.split()
}  # fmt: skip
"""For each adjective, or stem of a participle: words of the fields that it measures, and whether it means the most."""
_IRREGULAR = {"best": "good", "better": "good", "worst": "bad", "worse": "bad"} | dict.fromkeys(
    ("farthest", "furthest", "farther", "further"), "far"
)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)?")
_CLAUSE_END = re.compile(r"[.?!;:,](?=\s|$)")
_DURATION = re.compile(r"\b(?:has|have|had)\s+(?:\w+\s+)?(?:been|existed|lived|worked|served|stood)\b[^.?!;:,]*$")
"""A state that lasts; what has lasted longer began earlier."""
_COMPARING = word_set("more most fewest fewer less least")
_LESS_WORDS = word_set("fewest fewer less least lowest lower")
_HEIGHT_WORDS = word_set(
    "highest higher greatest greater maximum lowest lower minimum largest larger smallest smaller biggest bigger longest longer shortest shorter"
)
_LOW_WORDS = word_set("lowest lower minimum smallest smaller shortest shorter")
_SKIPPED = word_set("the a an of in on or and than one is are right now today likely recently")
_PREPOSITIONS = word_set("of in at for than on there between among")
_FUNCTION_WORDS = word_set(
    "was were be been its their whose which what who it they that this these those much even far still no any some with has have had get gets "
    "going do does did not how two both"
)


@dataclass(frozen=True, slots=True)
class RankCriterion:
    """A reference to the thing with the most, or the least, of some field."""

    fields: frozenset[str]
    """Words of which the field's name must have one."""
    most: bool
    """True if the thing with the most is meant, false for the least."""


@dataclass(frozen=True, slots=True)
class OrdinalReference:
    """A reference to the thing at some index of a list."""

    index: int
    """Index in the list; -1 is the last."""
    noun: str
    """The noun after the ordinal, which says what the list is of."""


@lru_cache(maxsize=256)
def find_ordinals(request: str) -> tuple[OrdinalReference, ...]:
    """Find the ordinals of a request, with the noun after each."""
    return tuple(
        OrdinalReference(_INDEX_BY_ORDINAL[found[1].lower()], found[2].lower().strip("-"))
        for found in _ORDINAL.finditer(_QUOTED.sub(" ", request))
    )


def remove_ordinals(request: str, nouns: Collection[str]) -> str:
    """Blank out the ordinals of a request that stand before these nouns."""
    return _ORDINAL.sub(
        lambda found: f"{' ' * (found.start(2) - found.start())}{found[2]}" if found[2].lower() in nouns else found[0],
        request,
    )


def is_measuring_participle(word: str) -> bool:
    """Return whether a participle names what things are ranked by: *rated*, *cited*."""
    return word.endswith("ed") and _find_measure(word) is not None


def is_comparative(word: str) -> bool:
    """Return whether a word is a comparative or superlative that measures something: *older*, *best*."""
    return _find_comparative_measure(word) is not None


@lru_cache(maxsize=256)
def find_rank_criteria(request: str) -> tuple[RankCriterion, ...]:
    """Find what the superlatives and comparatives of a request rank by.

    Adjectives such as *oldest* know what they measure. After *highest* and *more*, the following words say it.
    """
    request = _QUOTED.sub(" ", request)
    marks = list(_WORD.finditer(request))
    tokens = [mark[0].lower() for mark in marks]
    criteria: list[RankCriterion] = []
    for at, token in enumerate(tokens):
        clause = _CLAUSE_END.search(request, marks[at].end())
        end = clause.start() if clause else len(request)
        next_words = [mark[0].lower() for mark in marks[at + 1 : at + 4] if mark.end() <= end]
        next_words = [word for word in next_words if word not in _SKIPPED]
        head, _, tail = token.partition("-")
        if tail in ("rated", "ranked"):
            criteria.append(RankCriterion(frozenset({"rating", "score"}), head not in _LOW_WORDS))
        elif token in _COMPARING and at and tokens[at - 1] == "at":
            continue
        elif token in ("longer", "longest") and _DURATION.search(request, 0, marks[at].start()) and not next_words:
            criteria.append(RankCriterion(*_MEASURE_BY_STEM["old"]))
        elif token in _COMPARING:
            if at and (measure := _find_measure(tokens[at - 1 - (tokens[at - 1] == "the")])):
                criteria.append(RankCriterion(measure[0], measure[1] == (token not in _LESS_WORDS)))
            elif next_words:
                fields, most = _find_measure(next_words[0]) or (
                    frozenset(base for word in next_words[:2] for base in split_words(word)),
                    True,
                )
                criteria.append(RankCriterion(fields, most == (token not in _LESS_WORDS)))
        elif token in _HEIGHT_WORDS and at and not next_words and (measure := _find_verb_measure(tokens[at - 1])):
            criteria.append(RankCriterion(measure[0], token not in _LOW_WORDS))
        elif token in _HEIGHT_WORDS and _is_measure_before(tokens, at, next_words):
            criteria.append(RankCriterion(frozenset(split_words(tokens[at - 1])), token not in _LOW_WORDS))
        elif token in _HEIGHT_WORDS and next_words:
            nouns = frozenset(base for word in next_words[:2] for base in split_words(word))
            fields, _ = _find_measure(next_words[0]) or _find_comparative_measure(token) or (frozenset[str](), True)
            criteria.append(RankCriterion(nouns | fields, token not in _LOW_WORDS))
        elif own_measure := _find_comparative_measure(token):
            criteria.append(RankCriterion(*own_measure))
    return tuple(criteria)


def _is_measure_before(tokens: Sequence[str], at: int, following: Sequence[str]) -> bool:
    """Return whether the measure stands before the adjective: "the fare is lower"."""
    is_joined = not following or tokens[at + 1] in _PREPOSITIONS
    is_noun = at > 0 and tokens[at - 1] not in _SKIPPED | _FUNCTION_WORDS and not tokens[at - 1].endswith("ly")
    return is_joined and is_noun and _find_comparative_measure(tokens[at - 1]) is None


def _find_measure(word: str) -> tuple[frozenset[str], bool] | None:
    """Return what an adjective or participle measures; None if it measures nothing."""
    stems = (word, *(word[: -len(end)] for end in ("ed", "y", "ing") if word.endswith(end)))
    return next((_MEASURE_BY_STEM[stem] for stem in stems if stem in _MEASURE_BY_STEM), None)


def _find_verb_measure(word: str) -> tuple[frozenset[str], bool] | None:
    """Find what a verb measures, as in *readers rate highest*."""
    stems = (word[: -len(end)] for end in ("ed", "e", "es") if word.endswith(end))
    return next((_MEASURE_BY_STEM[stem] for stem in stems if stem in _MEASURE_BY_STEM), None)


def _find_comparative_measure(token: str) -> tuple[frozenset[str], bool] | None:
    """Find what the adjective of a comparative or superlative measures."""
    if token in _IRREGULAR:
        return _MEASURE_BY_STEM[_IRREGULAR[token]]
    stem = next((token[: -len(end)] for end in ("est", "er") if token.endswith(end) and len(token) > len(end) + 2), "")
    return next(
        (_MEASURE_BY_STEM[word] for word in (stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y") if word in _MEASURE_BY_STEM),
        None,
    )


def find_extreme(values: Sequence[Mapping[str, JsonValue]], rank: RankCriterion) -> tuple[int, str] | None:
    """Find the thing with the most, or the least, of what a criterion ranks by.

    A field qualifies if at least two things have a number, or a date, in it. Fields whose names share more words with
    the criterion come first.

    Returns:
        The index of the thing and the name of the deciding field; None if no field qualifies.
    """
    names = list(dict.fromkeys(name for value in values for name in value))
    for name in sorted(names, key=lambda name: -len(rank.fields & set(split_words(name.rpartition(".")[2])))):
        if not rank.fields & set(split_words(name.rpartition(".")[2])):
            return None
        comparable = [
            (at, key) for at, value in enumerate(values) if (key := _to_comparable(value.get(name))) is not None
        ]
        if len(comparable) > 1 and len({type(key) for _, key in comparable}) == 1:
            best = (max if rank.most else min)(comparable, key=lambda pair: pair[1])  # type: ignore[type-var]
            return best[0], name
    return None


def _to_comparable(value: JsonValue) -> float | str | None:
    """Convert a value to a number, or leave a date or time as text; None if it cannot be ranked."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value if re.match(r"\d{4}-\d\d(?:-\d\d)?|\d\d:\d\d", value) else None
    return None


def resolve_ordinal(request: str, size: int, list_words: frozenset[str]) -> int | None:
    """Return the index that an ordinal of the request means in a list; None if it means no item of it.

    Args:
        request: the request.
        size: number of things in the list.
        list_words: words that may refer to the list; an ordinal with any other noun means another list.
    """
    for place in find_ordinals(request):
        noun = split_words(place.noun)
        if not noun or set(noun) & (list_words | {"result", "one", "item", "hit", "option", "entry", "match"}):
            index = place.index if place.index >= 0 else size + place.index
            return index if 0 <= index < size else None
    return None
