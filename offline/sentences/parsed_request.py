"""Parse a request for the author: its values, what it asks for, and what is to be done with what is found."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import takewhile
from typing import Literal

from graph.identifiers import split_words
from offline.nlp.asked_words import count_matches, find_synonyms, pair_asked_words
from offline.nlp.clauses import split_asks
from offline.nlp.entities import Span, find_spans
from offline.nlp.gazetteer import word_set
from offline.nlp.superlatives import (
    OrdinalReference,
    RankCriterion,
    find_ordinals,
    find_rank_criteria,
    is_comparative,
    is_measuring_participle,
    remove_ordinals,
)
from offline.sentences.kind_nouns import is_of_kind

FigureKind = Literal["count", "sum", "average", "difference"]
BoundTest = Literal["=", ">", ">=", "<", "<=", "contains"]
_FIGURES: tuple[tuple[FigureKind, re.Pattern[str]], ...] = (
    ("count", re.compile(r"\bhow many\b|\bnumber of\b|\bcount (?:of|the|how)\b|\bhow often\b|\bhow (?:large|big) is the list\b", re.I)),
    ("sum", re.compile(r"\b(?:sum|total|altogether|in all|combined|add(?:ed)? up|overall|together|in total)\b", re.I)),
    ("difference", re.compile(r"\b(?:difference|by how (?:much|many)|how (?:much|many) more|save)\b", re.I)),
    ("average", re.compile(r"\b(?:average|mean|on average)\b", re.I)),
)  # fmt: skip
_GREATER = re.compile(
    r"(?:\b(?:over|above|more than|longer than|higher than|better than|older than|larger than|greater than|later than|after|exceed\w*)|>)\s*(?:the\s+)?(?:year\s+)?$",
    re.I,
)
_AT_LEAST = re.compile(
    r"(?:\b(?:at least|no less than|minimum of|from|since|starting)|>=)\s*(?:the\s+)?(?:year\s+)?$", re.I
)
_SMALLER = re.compile(
    r"(?:\b(?:under|below|less than|fewer than|shorter than|lower than|cheaper than|earlier than|before|younger than|smaller than)|<)\s*(?:the\s+)?(?:year\s+)?$",
    re.I,
)
_AT_MOST = re.compile(
    r"(?:\b(?:at most|up to|no more than|maximum of|until|not over)|<=)\s*(?:the\s+)?(?:year\s+)?$", re.I
)
_BOUND_SUFFIX = re.compile(
    r"\s*(?:\w+\s+)?(?:or|and)\s+(more|above|higher|later|older|longer|better|less|below|earlier|fewer|lower|shorter|younger|cheaper)\b",
    re.I,
)
_GREATER_WORDS = word_set("more above higher later older longer better")
_CONTENT = "description summary abstract plot synopsis overview"
"""Fields that say what something is about."""
_ABOUT = re.compile(r"\bwhat\b[^.?!]*\babout\s*(?=[.?!]|$)", re.I)
_MEANING_BY_QUESTION_WORD = (
    (re.compile(r"\bwho(?:m|se)?\b", re.I), "name"),
    (re.compile(r"\b(?:at most|upper|maximum|top)\b", re.I), "maximum"),
    (re.compile(r"\b(?:at least|lower end|minimum)\b", re.I), "minimum"),
    (re.compile(r"\bwhere\b", re.I), "city town country place location address organization"),
    (re.compile(r"\bwhen\b|\bwhat (?:day|date)\b", re.I), "date day time year"),
    (_ABOUT, _CONTENT),
)
_TIMES = re.compile(r"\bhow many times\b", re.I)
_LIST_QUESTION = re.compile(
    r"\b(?:list|all|every|each|everything|everyone|everybody|names of)\b|\b(?:who|what|which) (?:are|were)\b", re.I
)
VAGUE_WORDS = word_set("code number value level amount")
"""Words that do not say which field is meant unless another word does."""
_OBJECTS = word_set(
    "the a an me us my our whichever which what it them this that these those one all each every of with at in on to for"
)
"""Words after a verb at the start of a sentence, whose capital makes it no name."""
_SUBORDINATORS = word_set(
    "since before after until till while though although because unless once whether whenever wherever during within"
)
"""Conjunctions, which a capital at the start of a sentence does not make names."""
_NO_VALUES = word_set("one a an both")
"""Number words that are articles or quantifiers here."""
_CLASS_CUES = word_set("many which what all every each")
"""Words before the kind of thing that is asked for."""
_NEGATION = re.compile(
    r"\b(?:not|never|without|except|neither|nor|excluding|(?<!each )(?:an)?other(?! day\b))\b|\b(?:is|are|was|were|has|have|does)n['’]t\b",
    re.I,
)
"""A negation, which no sentence of the grammar can say."""
_NOTABLE = re.compile(
    r"\b(?:representative|best[- ]known|most (?:important|famous|influential|notable)|signature|landmark)\b", re.I
)
"""Words for the best known of several things."""
_FILLER = word_set(
    "field area topic domain subject name named called please thing want need like know would could tell give show find list both each every all "
    "person people one choose decide love say hear look see may can use keep let make take get have currently also present moment ask among has had hold held do done there number count many often difference save total altogether sum combined average mean together overall "
    "out them going go back away here there again still just only very too also even ever own other another same such something anything nothing everything "
    "someone anyone everybody anybody everyone himself herself itself themselves myself yourself already yet soon "
    "most least more less fewest fewer highest lowest greatest smallest largest biggest best worst higher lower larger smaller after before since until over under above below"
)
"""Words that ask for no field."""
_VALUES = frozenset(
    {
        "name",
        "quoted",
        "code",
        "email",
        "url",
        "domain",
        "ip",
        "phone",
        "date",
        "time",
        "number",
        "coordinates",
        "currency",
        "country",
        "language",
    }
)
_OPENING_QUESTION_WORD = re.compile(r"(?:^\W*|[.?!:;,]\s*|\band\s+|\bknow\s+|\bme\s+)(where|when)\b", re.I)
_KIND_ASKED = re.compile(
    r"\bwhich\s+((?:(?!(?:is|are|was|were|do|does|did|has|have|of|by)\b)[^\W\d_]+(?:-[^\W\d_]+)?\s*){1,3})", re.I
)
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_SIGNIFICANT_TOKEN = re.compile(r"\b(?:[^\W\d_a-z][^\W_]*|\d[^\W_]*)")
_QUESTION = re.compile(
    r"\b(?:who|whose|whom|what|which|where|when|how|why|tell|give|show|list|name|find|count|need|know|like)\b|\?", re.I
)
_MAX_PHRASE_WORDS = 4
_SMALL_WORDS = word_set(
    "a an the of in on at to for from by with and or is are was were be been do does did has have had i me my we our you your it its this that these "
    "those what which who whom whose when where why how there their his her them he she they not no if so as than then into about among between "
    "please tell give show find list name many much all any some more most less least per will would can could should may might"
)


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part of the request that names something, and must be used by the sentence."""

    start: int
    end: int
    text: str
    weight: float
    """Weight in the share of the request that is covered."""

    def holds(self, span: Span) -> bool:
        """Return whether a span shares a character with the part."""
        return span.start < self.end and self.start < span.end

    def is_covered_by(self, used: Sequence[Span]) -> bool:
        """Return whether every capitalised word and number of the part lies in one of these spans."""
        own_spans = [span for span in used if self.holds(span)]
        token_starts = [
            self.start + one.start()
            for one in _SIGNIFICANT_TOKEN.finditer(self.text)
            if one[0].lower() not in _SMALL_WORDS
        ]
        return bool(own_spans) and all(any(span.start <= at < span.end for span in own_spans) for at in token_starts)


@dataclass(frozen=True, slots=True)
class AskedUnit:
    """One thing that a request asks about, by a word or an idiom."""

    own_words: frozenset[str]
    """Forms of the word itself; empty for question words."""
    meanings: frozenset[str]
    """Words that it may stand for."""
    weight: float = 1.0
    """Weight in the share of the request that is covered."""
    is_repetition: bool = False
    """True if it is the second mention of a word, as in "the colleagues of her colleagues"."""

    def score_match(
        self,
        name_words: frozenset[str],
        description_words: frozenset[str],
        description_noun: frozenset[str] = frozenset(),
    ) -> float:
        """Score how well a name and a description express it, from 0 to 1.

        A word in the name counts more than one in the description, and the word itself more than what it stands for.
        ``description_noun``: the noun that the description is about.
        """
        if any(count_matches(word, self.own_words) for word in name_words):
            return 0.7 if self.own_words <= VAGUE_WORDS else 1.0
        if any(count_matches(word, self.meanings) for word in name_words) or any(
            count_matches(word, self.own_words - VAGUE_WORDS) for word in description_noun
        ):
            return 0.8
        if any(count_matches(word, self.own_words) for word in description_words):
            return 0.7
        return 0.5 if any(count_matches(word, self.meanings) for word in description_words) else 0.0


COUNT_UNIT = AskedUnit(word_set("number count total amount"), word_set("number count total amount"), 0.7)
"""The number of things, which a field may state or a count gives."""


@dataclass(frozen=True, slots=True)
class ValueBound:
    """A bound that the request sets with a number or a day."""

    test: BoundTest
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """What the author knows of a request."""

    request: str
    values: tuple[NamedPart, ...]
    """Parts that name something; overlapping readings are one part."""
    spans: tuple[Span, ...]
    """The spans of the values."""
    units: tuple[AskedUnit, ...]
    """The things that are asked about, a word or idiom each."""
    ranks: tuple[RankCriterion, ...]
    """What its superlatives and comparatives rank by."""
    figures: tuple[FigureKind, ...]
    """Kinds of numbers that are to be computed."""
    bounds: tuple[ValueBound, ...]
    phrases: tuple[Span, ...]
    """Runs of words that may be values, though nothing marks them as such."""
    today: date
    asks_for_list: bool = False
    """True if a list of things is asked for."""
    classes: tuple[Span, ...] = ()
    """Phrases for the kind of things that is asked for."""
    is_negated: bool = False
    """True if it has a negation."""
    ordinals: tuple[OrdinalReference, ...] = ()
    """Ordinals of things that the functions return: "the second author"."""
    wanted_kinds: tuple[str, ...] = ()
    """Nouns after *which*, for the kinds of things asked for."""

    def is_value(self, span: Span) -> bool:
        """Return whether a span is a value, rather than a word of the functions themselves."""
        return span.kind not in _VALUES or any(one.holds(span) for one in self.values)

    @property
    def has_repetition(self) -> bool:
        """True if a word is said twice, so that a function may be called with its own results."""
        return any(one.is_repetition for one in self.units)

    @property
    def total_weight(self) -> float:
        """Weight of everything that a sentence should cover."""
        return (
            sum(one.weight for one in (*self.values, *self.units))
            + len(self.ranks)
            + len(self.bounds)
            + len(self.ordinals)
        )


def parse_request(
    request: str, today: date, vocabulary: frozenset[str] = frozenset(), kinds: frozenset[str] = frozenset()
) -> ParsedRequest:
    """Parse a request.

    Args:
        request: the request.
        today: the day that relative dates count from.
        vocabulary: words of the offered functions, which are no names at the start of a sentence.
        kinds: nouns for what the functions return.
    """
    value_spans = [
        span
        for span in find_spans(request, today)
        if span.kind in _VALUES
        and not _is_sentence_opening(span, request, vocabulary)
        and span.text.lower() not in _NO_VALUES
    ]
    values = tuple(_group_values(value_spans))
    rest = request
    for value in values:
        rest = rest[: value.start] + " " * (value.end - value.start) + rest[value.end :]
    ordinals = tuple(one for one in find_ordinals(rest) if one.index >= 0 and one.noun and is_of_kind(one.noun, kinds))
    rest = _TIMES.sub("how often", remove_ordinals(rest, {one.noun for one in ordinals}))
    units = tuple(
        AskedUnit(own, meant) for own, meant in pair_asked_words(_NOTABLE.sub(" ", rest)) if not own <= _FILLER
    )
    rest_words = [word for token in _WORD.findall(rest) for word in split_words(token)]
    for cue in {one.cue for one in value_spans}:  # the ship A or the ship B: said of each, it is said once
        lead_count = len(
            {value for value in values for one in value_spans if one.cue == cue and value.start == one.start}
        )
        rest_words = _remove_word(rest_words, cue, lead_count - 1)
    units += tuple(
        replace(one, is_repetition=True)
        for one in units
        if one.own_words and max(map(rest_words.count, one.own_words)) > 1
    )
    units += tuple(
        AskedUnit(frozenset(), word_set(meant), 0.6)
        for pattern, meant in _MEANING_BY_QUESTION_WORD
        if pattern.search(rest)
    )
    if _FIGURES[0][1].search(rest):
        units = (*units, COUNT_UNIT)
    phrases = tuple(_find_phrases(_NOTABLE.sub(_blank_out, rest), vocabulary))
    values += tuple(NamedPart(one.start, one.end, one.text, 1.0) for one in phrases if one.before[-1:] == ("about",))
    return ParsedRequest(
        request, values, tuple(value_spans), units, find_rank_criteria(rest) + _find_notable_ranks(rest),
        tuple(name for name, pattern in _FIGURES if pattern.search(rest)),
        tuple(_find_bounds(request, value_spans)), phrases, today, bool(_LIST_QUESTION.search(rest)), tuple(one for one in phrases if one.before[-1:] and one.before[-1] in _CLASS_CUES), bool(_NEGATION.search(rest)),
        ordinals, tuple(_find_wanted_kinds(rest, kinds | vocabulary)),
    )  # fmt: skip


def _find_wanted_kinds(rest: str, kinds: frozenset[str]) -> Iterator[str]:
    """Yield the noun of each phrase after *which*, if the functions know it."""
    for hit in _KIND_ASKED.finditer(rest):
        nouns = takewhile(lambda word: word.lower() not in _SMALL_WORDS, hit[1].split())
        yield from [word for word in reversed(list(nouns)) if is_of_kind(word, kinds)][:1]  # the last is its noun


def _remove_word(all_words: list[str], word: str, times: int) -> list[str]:
    """Remove up to ``times`` occurrences of a word."""
    positions = [place for place, one in enumerate(all_words) if one == word][: max(times, 0)]
    return [one for place, one in enumerate(all_words) if place not in positions]


def split_questions(request: str) -> Iterator[str]:
    """Yield the parts of a request that ask for something."""
    position = 0
    for ask in split_asks(request):
        start = request.find(ask.text, position)
        end = start + len(ask.text) if start >= 0 else position
        part = request[position : end + 1] if start >= 0 else ask.text
        if _QUESTION.search(part):
            yield part
        position = end


def find_topic_meanings(question: str) -> frozenset[str]:
    """Return the fields that answer a question of the form "what … about"; empty for any other question."""
    return word_set(_CONTENT) if _ABOUT.search(question) else frozenset[str]()


def find_where_meanings(question: str) -> Iterator[frozenset[str]]:
    """Yield the fields that answer a *where* or *when* at the start of a question.

    Within a clause, these words do not ask for anything.
    """
    for opened in _OPENING_QUESTION_WORD.finditer(question):
        yield from (word_set(meant) for pattern, meant in _MEANING_BY_QUESTION_WORD if pattern.fullmatch(opened[1]))


def _find_notable_ranks(rest: str) -> tuple[RankCriterion, ...]:
    """Return a rank by fame for each mention of a best known thing."""
    return tuple(
        RankCriterion(frozenset(word_set("citation popularity rating votes score")), True)
        for _ in _NOTABLE.finditer(rest)
    )


def _is_sentence_opening(span: Span, request: str, vocabulary: frozenset[str]) -> bool:
    """Return whether a span is a word that owes its capital to the start of a sentence."""
    if (
        span.kind != "name"
        or " " in span.text
        or request[: span.start].rstrip()[-1:] not in ("", ".", "!", "?", ":", ";")
    ):
        return False
    return (
        set(split_words(span.text)) <= vocabulary
        or span.text.lower() in _SUBORDINATORS
        or bool(span.after[:1] and span.after[0] in _OBJECTS)
    )


def _blank_out(match: re.Match[str]) -> str:
    return "\n" * len(match[0])


def _is_function_word(text: str, vocabulary: frozenset[str]) -> bool:
    """Return whether the functions use a word, or a synonym of it."""
    return any(
        {word, *find_synonyms(word)} & vocabulary or count_matches(word, vocabulary) for word in split_words(text)
    )


def _group_values(value_spans: list[Span]) -> Iterator[NamedPart]:
    """Group overlapping spans as readings of one value."""
    groups: list[list[Span]] = []
    for span in sorted(value_spans, key=lambda one: (one.start, -one.end)):
        if groups and span.start < max(one.end for one in groups[-1]):
            groups[-1].append(span)
        else:
            groups.append([span])
    for group in groups:
        start, end = min(one.start for one in group), max(one.end for one in group)
        longest = next(one for one in group if one.end - one.start == max(other.end - other.start for other in group))
        is_strong = any(one.kind not in ("unit", "number", "language") for one in group)
        yield NamedPart(start, end, longest.text, 2.0 if is_strong else 1.0)


def _find_bounds(request: str, value_spans: list[Span]) -> Iterator[ValueBound]:
    """Yield the bounds that the words around numbers, days and times set."""
    for span in value_spans:
        if span.kind not in ("number", "date", "time"):
            continue
        before, after = request[: span.start], _BOUND_SUFFIX.match(request, span.end)
        if after:
            later: BoundTest = ">=" if after[1].lower() in _GREATER_WORDS else "<="
            yield ValueBound(later, span)
            continue
        tests: tuple[tuple[BoundTest, re.Pattern[str]], ...] = (
            ("<=", _AT_MOST),
            (">=", _AT_LEAST),
            (">", _GREATER),
            ("<", _SMALLER),
        )
        test: BoundTest | None = next((name for name, pattern in tests if pattern.search(before)), None)
        if test is not None:
            yield ValueBound(test, span)


def _find_phrases(rest: str, vocabulary: frozenset[str]) -> Iterator[Span]:
    """Yield short runs of words that neither the grammar nor the functions explain."""
    run: list[re.Match[str]] = []
    for token in [*_WORD.finditer(rest), None]:
        is_plain = (
            token is not None
            and token[0].lower() not in _SMALL_WORDS | _FILLER
            and not is_measuring_participle(token[0].lower())
            and not is_comparative(token[0].lower())
            and not _is_function_word(token[0], vocabulary)
        )
        if token is not None and is_plain and (not run or rest[run[-1].end() : token.start()] in (" ", "-")):
            run.append(token)
            continue
        if 0 < len(run) <= _MAX_PHRASE_WORDS:
            start, end = run[0].start(), run[-1].end()
            before = tuple(word for one in _WORD.findall(rest[:start])[-4:] for word in split_words(one))
            after = tuple(word for one in _WORD.findall(rest[end:])[:3] for word in split_words(one))
            yield Span("phrase", rest[start:end], rest[start:end], start, end, before, after)
        run = [token] if token is not None and is_plain else []
