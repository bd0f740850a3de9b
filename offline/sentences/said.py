"""Parse a request: its values, the words that ask for something, and what is to be done with what is found."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import takewhile
from typing import Literal

from graph.identifiers import words
from offline.nlp.asked_words import asked_pairs, match, synonyms
from offline.nlp.clauses import asks
from offline.nlp.entities import Span, spans
from offline.nlp.gazetteer import word_set
from offline.nlp.superlatives import Place, Rank, compares, measured, places, ranks, without_places
from offline.sentences.kinds import goes_by

Figure = Literal["count", "sum", "average", "difference"]
Test = Literal["=", ">", ">=", "<", "<=", "contains"]
_FIGURES: tuple[tuple[Figure, re.Pattern[str]], ...] = (
    ("count", re.compile(r"\bhow many\b|\bnumber of\b|\bcount (?:of|the|how)\b|\bhow often\b|\bhow (?:large|big) is the list\b", re.I)),
    ("sum", re.compile(r"\b(?:sum|total|altogether|in all|combined|add(?:ed)? up|overall|together|in total)\b", re.I)),
    ("difference", re.compile(r"\b(?:difference|by how (?:much|many)|how (?:much|many) more|save)\b", re.I)),
    ("average", re.compile(r"\b(?:average|mean|on average)\b", re.I)),
)  # fmt: skip
_MORE = re.compile(
    r"(?:\b(?:over|above|more than|longer than|higher than|better than|older than|larger than|greater than|later than|after|exceed\w*)|>)\s*(?:the\s+)?(?:year\s+)?$",
    re.I,
)
_LEAST = re.compile(
    r"(?:\b(?:at least|no less than|minimum of|from|since|starting)|>=)\s*(?:the\s+)?(?:year\s+)?$", re.I
)
_LESS = re.compile(
    r"(?:\b(?:under|below|less than|fewer than|shorter than|lower than|cheaper than|earlier than|before|younger than|smaller than)|<)\s*(?:the\s+)?(?:year\s+)?$",
    re.I,
)
_MOST = re.compile(
    r"(?:\b(?:at most|up to|no more than|maximum of|until|not over)|<=)\s*(?:the\s+)?(?:year\s+)?$", re.I
)
_BEHIND = re.compile(
    r"\s*(?:\w+\s+)?(?:or|and)\s+(more|above|higher|later|older|longer|better|less|below|earlier|fewer|lower|shorter|younger|cheaper)\b",
    re.I,
)
_LATER = word_set("more above higher later older longer better")
_CONTENT = "description summary abstract plot synopsis overview"
_ABOUT = re.compile(r"\bwhat\b[^.?!]*\babout\s*(?=[.?!]|$)", re.I)
_ASKING = (
    (re.compile(r"\bwho(?:m|se)?\b", re.I), "name"),
    (re.compile(r"\b(?:at most|upper|maximum|top)\b", re.I), "maximum"),
    (re.compile(r"\b(?:at least|lower end|minimum)\b", re.I), "minimum"),
    (re.compile(r"\bwhere\b", re.I), "city town country place location address organization"),
    (re.compile(r"\bwhen\b|\bwhat (?:day|date)\b", re.I), "date day time year"),
    (_ABOUT, _CONTENT),
)
_TIMES = re.compile(r"\bhow many times\b", re.I)
_MANY = re.compile(
    r"\b(?:list|all|every|each|everything|everyone|everybody|names of)\b|\b(?:who|what|which) (?:are|were)\b", re.I
)
VAGUE = word_set("code number value level amount")
"""Words that say too little alone."""
_OBJECTS = word_set(
    "the a an me us my our whichever which what it them this that these those one all each every of with at in on to for"
)
_OPENING = word_set(
    "since before after until till while though although because unless once whether whenever wherever during within"
)
"""Words that a capital at the start of a sentence does not make a name."""
_NO_VALUES = word_set("one a an both")
_CLASSES = word_set("many which what all every each")
"""Words before the kind of thing that is asked for."""
_NOT = re.compile(
    r"\b(?:not|never|without|except|neither|nor|excluding|(?<!each )(?:an)?other(?! day\b))\b|\b(?:is|are|was|were|has|have|does)n['’]t\b",
    re.I,
)
_NOTABLE = re.compile(
    r"\b(?:representative|best[- ]known|most (?:important|famous|influential|notable)|signature|landmark)\b", re.I
)
_FILLER = word_set(
    "field area topic domain subject name named called please thing want need like know would could tell give show find list both each every all "
    "person people one choose decide love say hear look see may can use keep let make take get have currently also present moment ask among has had hold held do done there number count many often difference save total altogether sum combined average mean together overall "
    "out them going go back away here there again still just only very too also even ever own other another same such something anything nothing everything "
    "someone anyone everybody anybody everyone himself herself itself themselves myself yourself already yet soon "
    "most least more less fewest fewer highest lowest greatest smallest largest biggest best worst higher lower larger smaller after before since until over under above below"
)
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
_OPENED = re.compile(r"(?:^\W*|[.?!:;,]\s*|\band\s+|\bknow\s+|\bme\s+)(where|when)\b", re.I)
_KIND_ASKED = re.compile(
    r"\bwhich\s+((?:(?!(?:is|are|was|were|do|does|did|has|have|of|by)\b)[^\W\d_]+(?:-[^\W\d_]+)?\s*){1,3})", re.I
)
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_TELLING = re.compile(r"\b(?:[^\W\d_a-z][^\W_]*|\d[^\W_]*)")
_QUESTION = re.compile(
    r"\b(?:who|whose|whom|what|which|where|when|how|why|tell|give|show|list|name|find|count|need|know|like)\b|\?", re.I
)
_LONGEST = 4
_SMALL = word_set(
    "a an the of in on at to for from by with and or is are was were be been do does did has have had i me my we our you your it its this that these "
    "those what which who whom whose when where why how there their his her them he she they not no if so as than then into about among between "
    "please tell give show find list name many much all any some more most less least per will would can could should may might"
)


@dataclass(frozen=True, slots=True)
class Value:
    """A part of the request that names something; its readings lie between ``start`` and ``end``."""

    start: int
    end: int
    text: str
    weight: float

    def holds(self, span: Span) -> bool:
        """Return whether a span shares a character with the value."""
        return span.start < self.end and self.start < span.end

    def told_by(self, used: Sequence[Span]) -> bool:
        """Return whether all names and figures of the value lie in these spans."""
        own = [span for span in used if self.holds(span)]
        telling = [self.start + one.start() for one in _TELLING.finditer(self.text) if one[0].lower() not in _SMALL]
        return bool(own) and all(any(span.start <= at < span.end for span in own) for at in telling)


@dataclass(frozen=True, slots=True)
class Unit:
    """Something asked for by a word or an idiom."""

    own: frozenset[str]
    """Words that say it."""
    meant: frozenset[str]
    """Words that it may stand for."""
    weight: float = 1.0
    again: bool = False
    """True if it stands for the second mention of a word."""

    def strength(self, own: frozenset[str], told: frozenset[str], sort: frozenset[str] = frozenset()) -> float:
        """Score how well a name and a description say the same, from 0 to 1.

        ``description_noun``: the noun that the description is about.
        """
        if any(match(word, self.own) for word in own):
            return 0.7 if self.own <= VAGUE else 1.0
        if any(match(word, self.meant) for word in own) or any(match(word, self.own - VAGUE) for word in sort):
            return 0.8
        if any(match(word, self.own) for word in told):
            return 0.7
        return 0.5 if any(match(word, self.meant) for word in told) else 0.0


COUNTED = Unit(word_set("number count total amount"), word_set("number count total amount"), 0.7)
"""The number of things, which a field states or a count gives."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A test against a number or a day of the request."""

    test: Test
    span: Span


@dataclass(frozen=True, slots=True)
class Said:
    """A request as the author reads it."""

    request: str
    values: tuple[Value, ...]
    """Parts that name something."""
    spans: tuple[Span, ...]
    units: tuple[Unit, ...]
    """Words that ask for something."""
    ranks: tuple[Rank, ...]
    figures: tuple[Figure, ...]
    """Numbers that are to be computed."""
    bounds: tuple[Bound, ...]
    phrases: tuple[Span, ...]
    """Runs of words that may be a value, though nothing marks them as one."""
    today: date
    many: bool = False
    """True if a list of things is asked for."""
    classes: tuple[Span, ...] = ()
    """Phrases for the class of things that is asked for."""
    negated: bool = False
    """True if it has a negation."""
    places: tuple[Place, ...] = ()
    """Ordinals of what functions return: the second author."""
    wanted: tuple[str, ...] = ()
    """Kinds of things that *which* asks for."""

    def names(self, span: Span) -> bool:
        """Return whether a span is more than words of the functions themselves."""
        return span.kind not in _VALUES or any(one.holds(span) for one in self.values)

    @property
    def repeats(self) -> bool:
        """True if a word stands in it twice: the colleagues of the colleagues."""
        return any(one.again for one in self.units)

    @property
    def total(self) -> float:
        """Weight of everything that it says."""
        return (
            sum(one.weight for one in (*self.values, *self.units))
            + len(self.ranks)
            + len(self.bounds)
            + len(self.places)
        )


def said_in(
    request: str, today: date, vocabulary: frozenset[str] = frozenset(), kinds: frozenset[str] = frozenset()
) -> Said:
    """Parse a request.

    ``vocabulary``: words of the offered functions, which are no names where they open a sentence; ``kinds``: nouns
    for what the functions return.
    """
    found = [
        span
        for span in spans(request, today)
        if span.kind in _VALUES and not _opens(span, request, vocabulary) and span.text.lower() not in _NO_VALUES
    ]
    values = tuple(_values(found))
    rest = request
    for value in values:
        rest = rest[: value.start] + " " * (value.end - value.start) + rest[value.end :]
    ordinals = tuple(one for one in places(rest) if one.index >= 0 and one.noun and goes_by(one.noun, kinds))
    rest = _TIMES.sub("how often", without_places(rest, {one.noun for one in ordinals}))
    units = tuple(Unit(own, meant) for own, meant in asked_pairs(_NOTABLE.sub(" ", rest)) if not own <= _FILLER)
    spoken = [word for token in _WORD.findall(rest) for word in words(token)]
    for cue in {one.cue for one in found}:  # the ship A or the ship B: said of each, it is said once
        leads = len({value for value in values for one in found if one.cue == cue and value.start == one.start})
        spoken = _without(spoken, cue, leads - 1)
    units += tuple(replace(one, again=True) for one in units if one.own and max(map(spoken.count, one.own)) > 1)
    units += tuple(Unit(frozenset(), word_set(meant), 0.6) for pattern, meant in _ASKING if pattern.search(rest))
    if _FIGURES[0][1].search(rest):
        units = (*units, COUNTED)
    phrases = tuple(_phrases(_NOTABLE.sub(_blank, rest), vocabulary))
    values += tuple(Value(one.start, one.end, one.text, 1.0) for one in phrases if one.before[-1:] == ("about",))
    return Said(
        request, values, tuple(found), units, ranks(rest) + _notable(rest),
        tuple(name for name, pattern in _FIGURES if pattern.search(rest)),
        tuple(_bounds(request, found)), phrases, today, bool(_MANY.search(rest)), tuple(one for one in phrases if one.before[-1:] and one.before[-1] in _CLASSES), bool(_NOT.search(rest)),
        ordinals, tuple(_wanted(rest, kinds | vocabulary)),
    )  # fmt: skip


def _wanted(rest: str, kinds: frozenset[str]) -> Iterator[str]:
    for asked in _KIND_ASKED.finditer(rest):
        named = takewhile(lambda word: word.lower() not in _SMALL, asked[1].split())
        yield from [word for word in reversed(list(named)) if goes_by(word, kinds)][:1]  # the last is its noun


def _without(spoken: list[str], word: str, times: int) -> list[str]:
    """Remove up to this many occurrences of a word."""
    at = [place for place, one in enumerate(spoken) if one == word][: max(times, 0)]
    return [one for place, one in enumerate(spoken) if place not in at]


def questions(request: str) -> Iterator[str]:
    """Yield the parts of a request that ask for something."""
    at = 0
    for one in asks(request):
        start = request.find(one.text, at)
        end = start + len(one.text) if start >= 0 else at
        part = request[at : end + 1] if start >= 0 else one.text
        if _QUESTION.search(part):
            yield part
        at = end


def asked_about(question: str) -> frozenset[str]:
    """Return what *what … about* may stand for, which is all that such a question asks; empty for others."""
    return word_set(_CONTENT) if _ABOUT.search(question) else frozenset[str]()


def asked_where(question: str) -> Iterator[frozenset[str]]:
    """Yield what a *where* or *when* that opens a question may stand for.

    One that follows what it is about asks nothing.
    """
    for opened in _OPENED.finditer(question):
        yield from (word_set(meant) for pattern, meant in _ASKING if pattern.fullmatch(opened[1]))


def _notable(rest: str) -> tuple[Rank, ...]:
    """Return a rank by fame: a work that represents its author is the best known one."""
    return tuple(
        Rank(frozenset(word_set("citation popularity rating votes score")), True) for _ in _NOTABLE.finditer(rest)
    )


def _opens(span: Span, request: str, vocabulary: frozenset[str]) -> bool:
    """Return whether a word has its capital from the start of a sentence."""
    if (
        span.kind != "name"
        or " " in span.text
        or request[: span.start].rstrip()[-1:] not in ("", ".", "!", "?", ":", ";")
    ):
        return False
    return (
        set(words(span.text)) <= vocabulary
        or span.text.lower() in _OPENING
        or bool(span.after[:1] and span.after[0] in _OBJECTS)
    )


def _blank(found: re.Match[str]) -> str:
    return "\n" * len(found[0])


def _spoken(text: str, vocabulary: frozenset[str]) -> bool:
    """Return whether a word, or a synonym, is one that the functions use themselves."""
    return any({word, *synonyms(word)} & vocabulary or match(word, vocabulary) for word in words(text))


def _values(found: list[Span]) -> Iterator[Value]:
    """Group overlapping spans as readings of one value."""
    groups: list[list[Span]] = []
    for span in sorted(found, key=lambda one: (one.start, -one.end)):
        if groups and span.start < max(one.end for one in groups[-1]):
            groups[-1].append(span)
        else:
            groups.append([span])
    for group in groups:
        start, end = min(one.start for one in group), max(one.end for one in group)
        whole = next(one for one in group if one.end - one.start == max(other.end - other.start for other in group))
        strong = any(one.kind not in ("unit", "number", "language") for one in group)
        yield Value(start, end, whole.text, 2.0 if strong else 1.0)


def _bounds(request: str, found: list[Span]) -> Iterator[Bound]:
    """Yield the tests that the words around numbers, days and hours make of them."""
    for span in found:
        if span.kind not in ("number", "date", "time"):
            continue
        before, after = request[: span.start], _BEHIND.match(request, span.end)
        if after:
            later: Test = ">=" if after[1].lower() in _LATER else "<="
            yield Bound(later, span)
            continue
        tests: tuple[tuple[Test, re.Pattern[str]], ...] = (("<=", _MOST), (">=", _LEAST), (">", _MORE), ("<", _LESS))
        test: Test | None = next((name for name, pattern in tests if pattern.search(before)), None)
        if test is not None:
            yield Bound(test, span)


def _phrases(rest: str, vocabulary: frozenset[str]) -> Iterator[Span]:
    """Yield runs of words that the functions do not use themselves."""
    run: list[re.Match[str]] = []
    for token in [*_WORD.finditer(rest), None]:
        plain = (
            token is not None
            and token[0].lower() not in _SMALL | _FILLER
            and not measured(token[0].lower())
            and not compares(token[0].lower())
            and not _spoken(token[0], vocabulary)
        )
        if token is not None and plain and (not run or rest[run[-1].end() : token.start()] in (" ", "-")):
            run.append(token)
            continue
        if 0 < len(run) <= _LONGEST:
            start, end = run[0].start(), run[-1].end()
            before = tuple(word for one in _WORD.findall(rest[:start])[-4:] for word in words(one))
            after = tuple(word for one in _WORD.findall(rest[end:])[:3] for word in words(one))
            yield Span("phrase", rest[start:end], rest[start:end], start, end, before, after)
        run = [token] if token is not None and plain else []
