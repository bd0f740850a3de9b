"""Which of several things a request means: by its place ("the second author"), or by what it has most of ("the cheapest flight")."""

import re
from collections.abc import Mapping, Sequence
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

_MONEY, _TIME, _AGE = "price cost fare amount total fee rate", "duration minutes time length hours", "age"
_MOST: Mapping[str, tuple[str, bool]] = {
    "cheap": (_MONEY, False), "expensive": (_MONEY, True), "costly": (_MONEY, True), "dear": (_MONEY, True),
    "long": ("duration length distance pages minutes", True), "short": ("duration length distance pages minutes", False),
    "fast": (_TIME, False), "quick": (_TIME, False), "slow": (_TIME, True),
    "late": ("date year time published released day start due", True), "new": ("date year time published released founded", True),
    "recent": ("date year time published released day", True), "early": ("date year time published released day start due", False),
    "old": ("age founded year built date birth", False), "young": ("birth year founded date", True),
    "near": ("distance", False), "close": ("distance", False), "far": ("distance", True), "warm": ("temperature", True),
    "hot": ("temperature", True), "cold": ("temperature", False), "cool": ("temperature", False), "wet": ("precipitation rain", True),
    "dry": ("precipitation rain humidity", False), "wind": ("wind", True), "humid": ("humidity", True), "rain": ("precipitation rain", True),
    "heavy": ("weight mass", True), "light": ("weight mass", False), "tall": ("height elevation", True), "deep": ("depth", True),
    "populous": ("population", True), "populat": ("population", True), "rich": ("income wealth gdp", True), "strong": ("strength magnitude power", True),
    "big": ("population size area capacity count", True), "large": ("population size area capacity count", True),
    "small": ("population size area capacity count", False), "good": ("rating score rank", True), "bad": ("rating score rank", False),
    "popular": ("popularity rating votes count citation", True), "cit": ("citation", True), "rat": ("rating score", True),
}  # fmt: skip
_IRREGULAR = {"best": "good", "better": "good", "worst": "bad", "worse": "bad", "farthest": "far", "furthest": "far", "farther": "far",
              "further": "far", "biggest": "big", "bigger": "big", "hottest": "hot", "hotter": "hot", "wettest": "wet", "wetter": "wet",
              "driest": "dry", "drier": "dry", "earliest": "early", "earlier": "early", "costliest": "costly", "heaviest": "heavy",
              "heavier": "heavy", "windiest": "wind", "windier": "wind", "largest": "large", "larger": "large", "latest": "late", "later": "late",
              "closest": "close", "closer": "close", "rainiest": "rain", "rainier": "rain"}  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)?")
_COUNTED = word_set("more most fewest fewer less least")
_FEW = word_set("fewest fewer less least lowest lower")
_HIGH = word_set(
    "highest higher greatest greater maximum lowest lower minimum largest larger smallest smaller biggest bigger longest longer shortest shorter"
)
_LOW = word_set("lowest lower minimum smallest smaller shortest shorter")
_STOP = word_set("the a an of in on or and than one is are right now today likely recently")


@dataclass(frozen=True, slots=True)
class Rank:
    """The thing with the most (``most``) or least of a field that one of ``fields`` is in the name of. ``asked``: the request's own word."""

    fields: frozenset[str]
    most: bool
    asked: str


@dataclass(frozen=True, slots=True)
class Place:
    """The thing at ``index`` (-1: the last) of a list of what ``noun`` names."""

    index: int
    noun: str


@lru_cache(maxsize=256)
def places(request: str) -> tuple[Place, ...]:
    """The ordinals of a request, with the noun after each."""
    return tuple(
        Place(_PLACES[found[1].lower()], found[2].lower().strip("-"))
        for found in _ORDINAL.finditer(_QUOTED.sub(" ", request))
    )


@lru_cache(maxsize=256)
def ranks(request: str) -> tuple[Rank, ...]:
    """The superlatives and comparatives of a request: of an adjective what it measures, of *highest* and *more* the words after it."""
    tokens = [token.lower() for token in _WORD.findall(_QUOTED.sub(" ", request))]
    found: list[Rank] = []
    for at, token in enumerate(tokens):
        following = [word for word in tokens[at + 1 : at + 4] if word not in _STOP]
        head, _, tail = token.partition("-")
        if tail in ("rated", "ranked"):
            found.append(Rank(frozenset({"rating", "score"}), head not in _LOW, token))
        elif token in _COUNTED:
            found += _counted(token, following)
        elif token in _HIGH and following:
            nouns = frozenset(base for word in following[:2] for base in words(word))
            known = next((_MOST[stem] for stem in _stems(following[0]) if stem in _MOST), None)
            measured = Rank(frozenset(known[0].split()), True, "") if known else _measure(token)
            also = measured.fields if measured else frozenset[str]()
            found.append(Rank(nouns | also, token not in _LOW, token))
        else:
            measured = _measure(token)
            found += [measured] if measured else []
    return tuple(found)


def _counted(token: str, following: Sequence[str]) -> list[Rank]:
    if not following:
        return []
    most = token not in _FEW
    measured = next((_MOST[stem] for stem in _stems(following[0]) if stem in _MOST), None)
    if measured:
        fields, up = measured
        return [Rank(frozenset(fields.split()), up == most, f"{token} {following[0]}")]
    return [Rank(frozenset(words(following[0])), most, f"{token} {following[0]}")]


def _measure(token: str) -> Rank | None:
    base = _IRREGULAR.get(token)
    if base is None:
        stem = next(
            (token[: -len(end)] for end in ("est", "er") if token.endswith(end) and len(token) > len(end) + 2), ""
        )
        base = next((word for word in (stem, f"{stem}e", stem[:-1]) if stem and word in _MOST), None)
    if base is None:
        return None
    fields, most = _MOST[base]
    return Rank(frozenset(fields.split()), most, token)


def _stems(word: str) -> tuple[str, ...]:
    return (word, *(word[: -len(end)] for end in ("ed", "y", "ing") if word.endswith(end)))


def ranked(values: Sequence[Mapping[str, JsonValue]], rank: Rank) -> tuple[int, str] | None:
    """The place of the extreme among ``values`` (fields by dotted name), and the field that decided; None where no field does.

    The field must be a number or a date in more than one of them; those named by the request's own word come first.
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
    """The index in a list of ``size`` things that an ordinal of the request means; ``about``: the words that speak of the list.

    An ordinal with a noun that is not of the list means another one. None where no ordinal means this list, or it is too short.
    """
    for place in places(request):
        noun = words(place.noun)
        if not noun or set(noun) & (about | {"result", "one", "item", "hit", "option", "entry", "match"}):
            index = place.index if place.index >= 0 else size + place.index
            return index if 0 <= index < size else None
    return None
