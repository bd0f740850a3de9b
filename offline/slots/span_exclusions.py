"""What a span is not, by the words around it: the title of a book is no city, the country in "the capital of Norvania" neither."""

import re

from agent.parameters.kinds import GENERIC, ORGANIZATION_WORDS, WORK_WORDS
from agent.parameters.needs import Need
from graph.identifiers import words
from offline.nlp.entities import Span
from offline.nlp.gazetteer import NAMING_CUES, word_set

_NAMED_KINDS = frozenset({"place", "person", "organization", "country"})
_SEATS = word_set("capital president population currency flag birthplace mayor author writer university")
_ACTING = word_set("by has have had did does is with author")
_SMALL = frozenset({"the", "a", "an", "of", "called", "titled", "named", "entitled", "'", '"'})

_AIM = re.compile(r"\W*(?:please\s+)?(?:mark|set|flag|put|move|change)\b.*\b(?:as|to)\s+$", re.IGNORECASE | re.DOTALL)


def is_organization(span: Span) -> bool:
    """Whether a name says itself that it is an organisation's: ``Ilsenau Polytechnic``."""
    return bool(ORGANIZATION_WORDS & set(words(span.text)))


def is_aim(request: str, start: int) -> bool:
    """Whether what starts here is what a thing is to become, not what it is: ``mark the task as [done]``."""
    return _AIM.match(request[:start]) is not None


def is_personal(span: Span) -> bool:
    """Whether a name is built as most people's: two or three capitalised words."""
    parts = span.text.split()
    return (
        span.kind == "name"
        and 2 <= len(parts) <= 3
        and not is_organization(span)
        and all(part[:1].isupper() and not part.isupper() for part in parts)
    )


def standing(need: Need, span: Span, typed: frozenset[tuple[int, int]]) -> float:
    """What speaks against (or, for names of people and organisations, for) a span, to be added to its score.

    ``typed``: the places of spans that are currencies. A lone capitalised word that opens the request may owe its capital to that.
    """
    score = 0.0
    if span.kind == "name":
        score += _named(need, span)
        if span.start == 0 and " " not in span.text:
            score -= 0.1
        if span.text.isupper() and (span.start, span.end) in typed and need.kind in _NAMED_KINDS | {"query"}:
            score -= 0.15
    if need.kind == "query" and "title" in need.described | set(need.words) and _is_maker(span):
        score -= 0.3
    if need.kind in _NAMED_KINDS:
        score -= 0.6 * (_is_work(span) or _holds_another(need, span))
    if need.kind in _NAMED_KINDS | {"query"} and _is_generic(span) and span.cue not in NAMING_CUES:
        score -= 0.4
    return score


def _named(need: Need, span: Span) -> float:
    if is_organization(span):
        return {"organization": 0.3, "person": -0.4, "place": -0.2}.get(need.kind, 0.0)
    if is_personal(span):
        return {"person": 0.15, "organization": -0.1}.get(need.kind, 0.0)
    return 0.0


def _is_maker(span: Span) -> bool:
    """``papers that [X Y] has written``, ``by [X Y] of [University]``: who made a thing is not what it is called."""
    if span.kind not in ("name", "phrase") or not span.text[:1].isupper():
        return False
    if is_organization(span):
        return span.cue in ("of", "at", "from")
    return span.cue in _ACTING and " " in span.text


def _is_work(span: Span) -> bool:
    """``the novel [X]``, ``the author of [X]``: what is written, not who or where."""
    if span.kind not in ("quoted", "name", "phrase"):
        return False
    near = next((word for word in reversed(span.before) if word not in _SMALL), "")
    if "of" in span.before[-2:]:
        return span.kind == "quoted" and near in ("author", "writer", *WORK_WORDS)
    return near in WORK_WORDS


def _holds_another(need: Need, span: Span) -> bool:
    """``the capital of [X]``, ``the university of [X Y]``: what is wanted belongs to the span, and is not the span."""
    if span.cue != "of" or span.kind not in ("name", "country", "phrase"):
        return False
    owned = set(span.before[-3:]) & _SEATS
    if need.kind == "place":
        return "capital" in owned
    return need.kind == "organization" and bool(owned) and is_personal(span)


def _is_generic(span: Span) -> bool:
    """``the city``, ``some country``: a kind of thing, not a thing."""
    return span.kind == "phrase" and span.text == span.text.lower() and (words(span.text) or ("",))[-1] in GENERIC
