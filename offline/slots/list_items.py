"""Which item of a list a request names: by its name, its identifier, a day, its place or rank, or because it is the only one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pydantic.types import JsonValue

from agent.compression.json_paths import leaves_of
from graph.identifiers import text_words, words
from offline.coverage import telling
from offline.nlp.entities import Span, spans
from offline.nlp.gazetteer import STARTERS, word_set
from offline.nlp.superlatives import placed, ranked, ranks

TITLES = word_set("name title subject label headline caption")
_KEYS = word_set("id code key number reference sku isbn email handle username login")
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{5,}(?![\w-])")
_MEASURE = re.compile(r"\d+(?:st|nd|rd|th|[A-Za-z]{1,4})|\d{4}-\d\d.*|\d+-\w+")
_PREFIX = re.compile(r"[^\W\d_]+(?=[_-])")
_CALENDAR = frozenset({"day", "hour"})
"""What a day or an hour in digits asks for: it is held against the item's own."""
_LONGEST = 300
_TELLS = ("name", "quoted", "code", "email")


@dataclass(frozen=True, slots=True)
class Known:
    """What else accounts for a request's words: the ``arguments`` of the calls as text, and the ``words`` of the tools."""

    arguments: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Match:
    """How well an item is named. ``strong``: by its own name or identifier, rather than by something that it may share."""

    score: int = 0
    strong: bool = False


def unnamed(
    items: Sequence[JsonValue], index: int, text: str, known: Known, about: frozenset[str] = frozenset()
) -> str:
    """Why ``items[index]`` is not the one that ``text`` names, as the end of a sentence; empty where it is.

    An item that is named by something weaker than its name, or that is the only one, must not be taken for a thing that the text
    names otherwise: every name and every telling word of the text is then to be found in it, or in what ``known`` accounts for.
    ``about``: the words that speak of the list, which an ordinal's noun must be among.
    """
    matches = [_match(item, text, known.words) for item in items]
    own, best = matches[index], max(match.score for match in matches)
    if own.score and own.score == best:
        if sum(match.score == best for match in matches) > 1:
            if _criterion(items, text, about) == index:
                return _strange(items[index], text, known, telling_too=False)
            return f"the request names more than one of its {len(items)} entries"
        return "" if own.strong else _strange(items[index], text, known, telling_too=True)
    if best:
        return "the request names another of its entries"
    if len(items) == 1:
        return _strange(items[0], text, known, telling_too=True)
    if _criterion(items, text, about) == index:
        return _strange(items[index], text, known, telling_too=False)
    return f"the request names none of its {len(items)} entries"


def identifiers(text: str) -> tuple[str, ...]:
    """What looks like an identifier in a text: letters and digits in one, and no measure or day."""
    return tuple(hit[0] for hit in _IDENTIFIER.finditer(text) if not _MEASURE.fullmatch(hit[0]))


def alike(one: str, other: str) -> bool:
    """Whether two identifiers are of one kind, as far as their prefixes tell (``evt_15faf141``)."""
    first, second = _PREFIX.match(one), _PREFIX.match(other)
    return bool(first and second and first[0].lower() == second[0].lower())


def stands(words_: str, text: str) -> bool:
    """Whether some words stand in a text, as whole words and whatever their case."""
    return re.search(rf"(?<!\w){re.escape(words_)}(?!\w)", text, re.IGNORECASE) is not None


def _match(item: JsonValue, text: str, common: frozenset[str]) -> _Match:
    score, strong, seen = 0, False, set[str]()
    told = [span for span in spans(text, _today()) if span.kind in ("name", "quoted", "date", "time")]
    for field, leaf in _texts(item):
        if leaf.lower() in seen:
            continue
        seen.add(leaf.lower())
        parts = set(words(field.rpartition(".")[2]) or words(field))
        telling_field = bool(parts & (TITLES | _KEYS))
        if len(leaf) > 1 and stands(leaf, text):
            named = _is_quoted(leaf, told) or not text_words(leaf) <= common | STARTERS
            score += 2 * named
            strong = strong or (telling_field and named)
        elif parts & TITLES and any(span.kind in ("name", "quoted") and stands(span.text, leaf) for span in told):
            score, strong = score + 1, True
        elif any(_when(span, leaf) for span in told):
            score += 1
    return _Match(score, strong)


def _texts(item: JsonValue) -> Iterator[tuple[str, str]]:
    leaves = leaves_of(item) if isinstance(item, (dict, list)) else [("name", item)]
    for field, leaf in leaves:
        if isinstance(leaf, str) and 0 < len(leaf) <= _LONGEST:
            yield field, leaf
        elif isinstance(leaf, int) and not isinstance(leaf, bool) and _KEYS & set(words(field)):
            yield field, str(leaf)


def _is_quoted(leaf: str, told: Sequence[Span]) -> bool:
    return any(span.kind == "quoted" and span.value.lower() == leaf.lower() for span in told)


def _when(span: Span, leaf: str) -> bool:
    """Whether a leaf is a day that the text names, or an hour of one."""
    if span.kind == "date":
        return re.fullmatch(rf"{re.escape(span.value)}(?:[T ].*)?", leaf) is not None
    return span.kind == "time" and re.fullmatch(rf"(?:[\d-]+[T ])?{re.escape(span.value)}(?::00.*)?", leaf) is not None


def _criterion(items: Sequence[JsonValue], text: str, about: frozenset[str]) -> int | None:
    """The item of the text's superlative, else of its ordinal."""
    rows = [_row(item) for item in items]
    by_rank = next((found[0] for rank in ranks(text) if (found := ranked(rows, rank))), None)
    return placed(text, len(items), about) if by_rank is None else by_rank


def _row(item: JsonValue) -> Mapping[str, JsonValue]:
    return dict(leaves_of(item)) if isinstance(item, (dict, list)) else {"value": item}


def _strange(item: JsonValue, text: str, known: Known, *, telling_too: bool) -> str:
    """What the text speaks of besides the item, as the end of a sentence; empty where that is nothing."""
    own = " ".join(str(leaf)[:_LONGEST] for leaf in _row(item).values())
    for span in spans(text, _today()):
        if span.kind in _TELLS and not _accounted(span.text, own, known):
            return f"the request names {span.text!r}, which is not there"
    if telling_too:
        there = known.words | text_words(own) | text_words(known.arguments)
        missing = next((g for g in telling(text) if not g & there and not _CALENDAR & g), None)
        if missing:
            return f"nothing there is known to be what the request says ({'/'.join(sorted(missing)[:3])})"
    return ""


def _accounted(name: str, own: str, known: Known) -> bool:
    return stands(name, own) or stands(name, known.arguments) or text_words(name) <= known.words | STARTERS


def _today() -> date:
    return datetime.now().astimezone().date()
