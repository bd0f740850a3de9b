"""Find which of several things a request means.

It is meant by an ordinal ("the second author"), or by what it has most of ("the cheapest flight").
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic.types import JsonValue

from graph.identifiers import words
from offline.nlp.gazetteer import NUMBER_WORDS, word_set

_PLACES = {
    "first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "fifth": 4, "5th": 4, "sixth": 5, "6th": 5,
    "seventh": 6, "7th": 6, "eighth": 7, "8th": 7, "ninth": 8, "9th": 8, "tenth": 9, "10th": 9, "last": -1, "final": -1, "lead": 0,
    "leading": 0, "top": 0,
}  # fmt: skip
_TIMES = r"(?:\d+|few|weeks?|months?|years?|nights?|days?|hours?|times?|minutes?|seconds?|of (?:january|february|march|april|may|june|july|august|september|october|november|december)|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|name|half|class|aid|" + "|".join(NUMBER_WORDS) + r")\b"  # fmt: skip
_ORDINAL = re.compile(
    rf"\b({'|'.join(_PLACES)})\b(?![,.]|\s+(?!one\b){_TIMES})(?:\s+(?:listed|named|known))?\s*((?:[^\W\d_]|-)*)", re.I
)
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
_MOST: Mapping[str, tuple[frozenset[str], bool]] = {
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
"""Measures by adjective or stem of a participle: words of the measure, and whether the most of it is meant."""
_IRREGULAR = {"best": "good", "better": "good", "worst": "bad", "worse": "bad"} | dict.fromkeys(
    ("farthest", "furthest", "farther", "further"), "far"
)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)?")
_CLAUSE_END = re.compile(r"[.?!;:,](?=\s|$)")
_LASTING = re.compile(r"\b(?:has|have|had)\s+(?:\w+\s+)?(?:been|existed|lived|worked|served|stood)\b[^.?!;:,]*$")
"""A lasting state; if it has lasted longer, it began earlier."""
_COUNTED = word_set("more most fewest fewer less least")
_FEW = word_set("fewest fewer less least lowest lower")
_HIGH = word_set(
    "highest higher greatest greater maximum lowest lower minimum largest larger smallest smaller biggest bigger longest longer shortest shorter"
)
_LOW = word_set("lowest lower minimum smallest smaller shortest shorter")
_STOP = word_set("the a an of in on or and than one is are right now today likely recently")
_BESIDE = word_set("of in at for than on there between among")
_FUNCTION = word_set(
    "was were be been its their whose which what who it they that this these those much even far still no any some with has have had get gets "
    "going do does did not how two both"
)


@dataclass(frozen=True, slots=True)
class Rank:
    """The thing with the most or the least of a field."""

    fields: frozenset[str]
    """Words, one of which the field's name must have."""
    most: bool
    """True if the most is meant; otherwise the least."""


@dataclass(frozen=True, slots=True)
class Place:
    """The thing at an index of a list."""

    index: int
    """Index in the list; -1 is the last."""
    noun: str
    """The noun after the ordinal, which says what the list is of."""


@lru_cache(maxsize=256)
def places(request: str) -> tuple[Place, ...]:
    """Find the ordinals of a request, with the noun after each."""
    return tuple(
        Place(_PLACES[found[1].lower()], found[2].lower().strip("-"))
        for found in _ORDINAL.finditer(_QUOTED.sub(" ", request))
    )


def without_places(request: str, nouns: Collection[str]) -> str:
    """Blank out the ordinals of a request that stand before these nouns."""
    return _ORDINAL.sub(
        lambda found: f"{' ' * (found.start(2) - found.start())}{found[2]}" if found[2].lower() in nouns else found[0],
        request,
    )


def measured(word: str) -> bool:
    """Return whether a participle says by what things are ranked: *rated*, *cited*."""
    return word.endswith("ed") and _measured(word) is not None


def compares(word: str) -> bool:
    """Return whether a word is a comparative or superlative that measures something: *older*, *best*."""
    return _compared(word) is not None


@lru_cache(maxsize=256)
def ranks(request: str) -> tuple[Rank, ...]:
    """Find the superlatives and comparatives of a request.

    An adjective gives what it measures; *highest* and *more* give the words after them.
    """
    request = _QUOTED.sub(" ", request)
    marks = list(_WORD.finditer(request))
    tokens = [mark[0].lower() for mark in marks]
    found: list[Rank] = []
    for at, token in enumerate(tokens):
        clause = _CLAUSE_END.search(request, marks[at].end())
        end = clause.start() if clause else len(request)
        following = [mark[0].lower() for mark in marks[at + 1 : at + 4] if mark.end() <= end]
        following = [word for word in following if word not in _STOP]
        head, _, tail = token.partition("-")
        if tail in ("rated", "ranked"):
            found.append(Rank(frozenset({"rating", "score"}), head not in _LOW))
        elif token in _COUNTED and at and tokens[at - 1] == "at":
            continue
        elif token in ("longer", "longest") and _LASTING.search(request, 0, marks[at].start()) and not following:
            found.append(Rank(*_MOST["old"]))
        elif token in _COUNTED:
            if at and (behind := _measured(tokens[at - 1 - (tokens[at - 1] == "the")])):
                found.append(Rank(behind[0], behind[1] == (token not in _FEW)))
            elif following:
                fields, most = _measured(following[0]) or (
                    frozenset(base for word in following[:2] for base in words(word)),
                    True,
                )
                found.append(Rank(fields, most == (token not in _FEW)))
        elif token in _HIGH and at and not following and (behind := _verb(tokens[at - 1])):
            found.append(Rank(behind[0], token not in _LOW))
        elif token in _HIGH and _measure_before(tokens, at, following):
            found.append(Rank(frozenset(words(tokens[at - 1])), token not in _LOW))
        elif token in _HIGH and following:
            nouns = frozenset(base for word in following[:2] for base in words(word))
            fields, _ = _measured(following[0]) or _compared(token) or (frozenset[str](), True)
            found.append(Rank(nouns | fields, token not in _LOW))
        elif known := _compared(token):
            found.append(Rank(*known))
    return tuple(found)


def _measure_before(tokens: Sequence[str], at: int, following: Sequence[str]) -> bool:
    """Return whether the measure stands before the adjective: "the fare is lower", "the draught greater of the two"."""
    joined = not following or tokens[at + 1] in _BESIDE
    plain = at > 0 and tokens[at - 1] not in _STOP | _FUNCTION and not tokens[at - 1].endswith("ly")
    return joined and plain and _compared(tokens[at - 1]) is None


def _measured(word: str) -> tuple[frozenset[str], bool] | None:
    stems = (word, *(word[: -len(end)] for end in ("ed", "y", "ing") if word.endswith(end)))
    return next((_MOST[stem] for stem in stems if stem in _MOST), None)


def _verb(word: str) -> tuple[frozenset[str], bool] | None:
    """Find what a verb measures, as in *readers rate highest*."""
    stems = (word[: -len(end)] for end in ("ed", "e", "es") if word.endswith(end))
    return next((_MOST[stem] for stem in stems if stem in _MOST), None)


def _compared(token: str) -> tuple[frozenset[str], bool] | None:
    """Find what the adjective of a comparative or superlative measures."""
    if token in _IRREGULAR:
        return _MOST[_IRREGULAR[token]]
    stem = next((token[: -len(end)] for end in ("est", "er") if token.endswith(end) and len(token) > len(end) + 2), "")
    return next((_MOST[word] for word in (stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y") if word in _MOST), None)


def ranked(values: Sequence[Mapping[str, JsonValue]], rank: Rank) -> tuple[int, str] | None:
    """Find the index of the extreme among ``values`` (fields by dotted name), and the field that decided.

    The field must be a number or a date in more than one of them; fields named by the request's own word come first.
    None if no field qualifies.
    """
    names = list(dict.fromkeys(name for value in values for name in value))
    for name in sorted(names, key=lambda name: -len(rank.fields & set(words(name.rpartition(".")[2])))):
        if not rank.fields & set(words(name.rpartition(".")[2])):
            return None
        known = [(at, key) for at, value in enumerate(values) if (key := _comparable(value.get(name))) is not None]
        if len(known) > 1 and len({type(key) for _, key in known}) == 1:
            best = (max if rank.most else min)(known, key=lambda pair: pair[1])  # type: ignore[type-var]
            return best[0], name
    return None


def _comparable(value: JsonValue) -> float | str | None:
    """Return a value as a number, or as text if it is a date or time; None if it cannot be ranked."""
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


def placed(request: str, size: int, about: frozenset[str]) -> int | None:
    """Return the index in a list of ``size`` things that an ordinal of the request means.

    ``list_words``: words that may refer to the list. An ordinal with another noun means another list. None if no
    ordinal means this list, or if it is too short.
    """
    for place in places(request):
        noun = words(place.noun)
        if not noun or set(noun) & (about | {"result", "one", "item", "hit", "option", "entry", "match"}):
            index = place.index if place.index >= 0 else size + place.index
            return index if 0 <= index < size else None
    return None
