"""Resolve follow-up questions by rules: what a question means by itself, and which earlier calls it builds on."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.conversation import REUSED_NOTE
from agent.parameter_needs import derive_need
from agent.policy.protocol import (
    MAX_SUBTASK_NAME_CHARS,
    DecomposeQuestion,
    Decomposition,
    EarlierRequest,
    Results,
    Subtask,
)
from agent.text import clean_text
from domain.plan import StepResult
from offline.list_filter import find_list_items, is_answered_by, narrow_response
from offline.nlp.coordination import find_atoms
from offline.nlp.entities import Span
from offline.nlp.gazetteer import word_set

_NAMES = word_set("name country quoted code currency language email domain url ip")
"""Kinds of spans that name a thing."""
_SORT_BY_KIND = {"number": "number", "unit": "unit", "coordinates": "coordinates", "date": "date", "time": "time"}
"""Sorts of values that may replace each other; spans of any other kind are of the sort ``name``."""
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_WEEKDAYS = "Mondays?|Tuesdays?|Wednesdays?|Thursdays?|Fridays?|Saturdays?|Sundays?"
_NAMED_TIMES = ((re.compile(rf"\b(?:{_MONTHS})\b"), "month"), (re.compile(rf"\b(?:{_WEEKDAYS})\b"), "weekday"))
_FILLER = re.compile(
    r"\b(?:and|but|or|so|then|now|ok|okay|well|what|how|about|if|it|is|was|were|be|are|the|a|same|also|again|instead|too|please|thanks|"
    r"for|in|on|at|to|from|of|with|by|year|do|that|this|one|as|would|will|only|just|me|show|tell|give|compare|hotel|film|book|city)\b",
    re.IGNORECASE,
)
"""Words that add nothing to the values of a follow-up such as ``and what about Rome?``."""
_FOLLOW_UP_OPENING = re.compile(
    r"^\W*(?:and|but|or|so|then|now|what about|how about|the same|same|also|what if)\b", re.IGNORECASE
)
"""Opening words of a question that repeats the one before it with other values."""
_EXISTS = re.compile(
    r"\b(?:is|are|was|were|will)\s+there\b(?!\s*[?.!]*$)|\bthere\s+(?:is|are|was|were)\b", re.IGNORECASE
)
"""``is there`` and ``there are``, whose *there* is no place."""
_POSSESSIVE = re.compile(r"\b(its|their|his|her)\b(?=\s+\w)", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(it|they|them|he|she|him|her)\b", re.IGNORECASE)
_THERE = re.compile(
    r"\b(?:over )?there\b|\b(?:in|at|to|from|of) (?:that|this|the same) (?:city|town|place|village|country)\b",
    re.IGNORECASE,
)
_PREPOSITION_THERE = re.compile(r"\b(from|to|of|near|around)\s+(?:over )?there\b", re.IGNORECASE)
_DEMONSTRATIVE = re.compile(
    r"\b(?:that|this|the same) (?:city|town|place|country|book|novel|film|movie|company|firm|person|author|product|recipe|team|hotel|"
    r"restaurant|parcel|order|word|currency|airport|employer|job|player|share|stock)\b",
    re.IGNORECASE,
)
_PERSONAL = word_set("he she him his her")
_LIST_REFERENCE = re.compile(
    r"\b(?:of|among|from|between) (?:them|those|these|the results|the list)\b|\b(?:those|these|ones)\b|\bwhich one\b|"
    r"\bthe (?:\w+ )?(?:one|first|second|third|fourth|last|other|others)\b(?=\s*(?:$|[^\w\s]|one\b|of\b))|"
    r"\bthe [a-z]+est\b(?=\s*(?:$|[?.!,]|one\b|of (?:them|those|these)\b))",
    re.IGNORECASE,
)
"""Words that mean one or several items of a list: ``the second one``, ``which of them``, ``the cheapest``."""
_PLURAL = re.compile(r"\b(?:they|them|their|those|these)\b", re.IGNORECASE)
_LEAD = re.compile(r"^\W*(?:and|so|but|then|ok|okay|now)\b[\s,]*(?=\w)", re.IGNORECASE)
"""Conjunctions that open a follow-up."""
_ORDER = re.compile(r"^\W*(\w+)\s+(?:it|them|him|her|that|this|those|these)\b", re.IGNORECASE)
"""An order about something mentioned before: ``book it``."""
_PLACES = frozenset({"place", "country"})
_MIN_WORDS = 2
"""Words besides its values up to which a question counts as a repetition with other values."""


@dataclass(frozen=True, slots=True)
class ResolvedFollowUp:
    """A follow-up question, put as a request that stands alone."""

    description: str
    """The question as it stands alone, as far as rules can word it."""
    steps: tuple[int, ...]
    """Numbers of the earlier calls whose results the question needs."""
    is_about_list: bool
    """True if the question means items of an earlier list."""
    reason: str
    """Why it is taken for a follow-up, for the user."""


def resolve_follow_up(request: str, earlier: Sequence[EarlierRequest]) -> ResolvedFollowUp | None:
    """Resolve a request against the requests before it; None if it stands alone."""
    if not earlier:
        return None
    repeated = _repeat_with_values(request, earlier[-1])
    if repeated:
        more = resolve_follow_up(repeated, earlier[:-1]) if _is_dependent(repeated) else None
        reason = "it asks the same of something else"
        return ResolvedFollowUp(repeated, more.steps if more else (), more is not None and more.is_about_list, reason)
    if not _is_dependent(request):
        return None
    with_calls = [one for one in reversed(earlier) if one.steps]
    if not with_calls:
        return None
    last = next((one for one in with_calls if _is_about_list(request, one)), with_calls[0])
    steps = tuple(number for number, _, _ in last.steps)
    if _LIST_REFERENCE.search(request) or _is_about_list(request, last):
        return ResolvedFollowUp(request, steps, True, "it asks about what was found before")
    text, thing = _resolve_pronouns(_LEAD.sub("", request), last, with_calls)
    has_own_name = any(atom.kind in _NAMES for atom in find_atoms(request))
    if (
        has_own_name and _find_coordinates(last) and _find_coordinates(last) in text
    ):  # what is known of the place is not of what else it names
        return ResolvedFollowUp(text, (), False, "it asks more about the same place")
    source = next((one for one in with_calls if any(_is_called_for(thing, result) for _, _, result in one.steps)), last)
    return ResolvedFollowUp(text, tuple(number for number, _, _ in source.steps), False, "it asks more about the same")


def _is_dependent(request: str) -> bool:
    """Return whether a request has pronouns that stand for something it does not name, or names only after them."""
    text = _EXISTS.sub(lambda hit: " " * len(hit[0]), request)
    order = _ORDER.match(request)  # whose first word only looks like a name
    name_ends = [
        atom.end for atom in find_atoms(request) if atom.kind in _NAMES and not (order and atom.end <= order.end(1))
    ]
    if not name_ends and any(one.search(text) for one in (_POSSESSIVE, _PRONOUN)):
        return True
    hits = [hit.start() for one in (_THERE, _DEMONSTRATIVE, _LIST_REFERENCE) if (hit := one.search(text))]
    return bool(hits) and not any(end <= min(hits) for end in name_ends)


def _repeat_with_values(request: str, before: EarlierRequest) -> str:
    """Return the earlier question with this request's values, if this request says little else; empty otherwise."""
    values = [*_find_values(request)]
    if not values or not before.request:
        return ""
    rest = request
    for start, end, _ in sorted(values, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    remaining_text = re.sub(r"[^\w]+", " ", _FILLER.sub(" ", rest)).strip()
    if remaining_text or not (_FOLLOW_UP_OPENING.search(request) or len(request.split()) <= _MIN_WORDS + len(values)):
        return ""
    text = before.request
    used = {str(value).casefold() for _, _, result in before.steps for value in result.arguments.values()}
    for start, end, sort in values:
        text = _replace_value(text, (request[start:end], sort, _find_cue(request, start)), used)
    return text


def _find_values(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and sort of each value of a text."""
    value_spans: list[Span] = find_atoms(text)
    yield from ((one.start, one.end, _SORT_BY_KIND.get(one.kind, "name")) for one in value_spans)
    for pattern, sort in _NAMED_TIMES:
        for hit in pattern.finditer(text):
            if not any(one.start < hit.end() and hit.start() < one.end for one in value_spans):
                yield hit.start(), hit.end(), sort


def _replace_value(text: str, new: tuple[str, str, str], used: Collection[str]) -> str:
    """Replace a value in a text by one of the same sort; append the new value if the text has none of that sort.

    Of several values of the sort, the one behind the same preposition is replaced, else one that a call was made for,
    else the last.

    Args:
        text: the earlier question.
        new: the new value, its sort, and the preposition before it.
        used: arguments of the earlier calls, in lower case.
    """
    value, sort, cue = new
    same_sort = [(start, end) for start, end, own in _find_values(text) if own == sort]
    if sort == "number" and re.fullmatch(r"(?:19|20)\d\d", value):
        same_sort = [place for place in same_sort if re.fullmatch(r"(?:19|20)\d\d", text[slice(*place)])] or same_sort
    same_cue = [place for place in same_sort if cue and _find_cue(text, place[0]) == cue]
    if not same_sort:
        return f"{text.rstrip(' ?.!')} {cue} {value}?".replace("  ", " ") if cue else f"{text.rstrip(' ?.!')} {value}?"
    used_values = [place for place in same_cue or same_sort if text[slice(*place)].casefold() in used]
    start, end = (used_values or same_cue or same_sort)[-1]
    return f"{text[:start]}{value}{text[end:]}"


def _find_cue(text: str, start: int) -> str:
    """Return the preposition before a place in a text; empty if there is none, or if it is *for*."""
    hit = re.search(r"\b(in|on|at|to|for|from|of|with|by|into)\s+(?:the\s+)?[\"“'‘]?$", text[:start], re.IGNORECASE)
    return hit[1].lower() if hit and hit[1].lower() != "for" else ""


def _is_about_list(request: str, last: EarlierRequest) -> bool:
    """Return whether a request refers to items of the list that the last call found."""
    if not (_LIST_REFERENCE.search(request) or _PLURAL.search(request)):
        return False
    return any(find_list_items(result) is not None for _, _, result in last.steps[-1:])


def _resolve_pronouns(request: str, last: EarlierRequest, with_calls: Sequence[EarlierRequest]) -> tuple[str, str]:
    """Replace the words that stand for an earlier thing.

    Returns:
        The text, and the thing; the thing is empty if it is unknown.
    """
    # The "there" of "is there" names no place: a NUL stands for it until places are replaced.
    text = _EXISTS.sub(lambda hit: hit[0].replace("there", "\0"), request)
    place, _ = _find_named_thing(last, with_calls, places=True)
    point = _find_coordinates(last)
    if (place or point) and _THERE.search(text):
        where = f"at {point}" if point else f"in {place}"
        text = _PREPOSITION_THERE.sub(lambda hit: f"{hit[1]} {point or place}", text)
        return _THERE.sub(where, text).replace("\0", "there"), place
    thing, kind = _find_named_thing(last, with_calls, places=False)
    text = text.replace("\0", "there")
    is_personal = any(hit[0].lower() in _PERSONAL for hit in (*_POSSESSIVE.finditer(text), *_PRONOUN.finditer(text)))
    if not thing or (is_personal and kind != "person"):
        return request, ""
    for pattern, words in ((_DEMONSTRATIVE, thing), (_POSSESSIVE, f"{thing}'s"), (_PRONOUN, thing)):
        text = pattern.sub(lambda _, words=words: words, text, count=1)
    return text, thing


def _find_named_thing(last: EarlierRequest, with_calls: Sequence[EarlierRequest], *, places: bool) -> tuple[str, str]:
    """Find what the last question named and a call was made for, with the kind of the call's parameter.

    With ``places``, only places and countries count.
    """
    for _, tool, result in (step for one in (last, *with_calls) for step in one.steps):
        for parameter in tool.parameters:
            value, kind = result.arguments.get(parameter.name), derive_need(parameter).kind
            is_named = isinstance(value, str) and len(value) > 1 and value.casefold() in last.request.casefold()
            if is_named and (not places or kind in _PLACES):
                return str(value), kind
    names = [atom for atom in find_atoms(last.request) if atom.kind in _NAMES]
    return (names[-1].text, "") if names else ("" if places else _find_coordinates(last), "")


def _find_coordinates(last: EarlierRequest) -> str:
    """Return the coordinates that the last question gave for a place; empty if it gave none."""
    points = [atom.text for atom in find_atoms(last.request) if atom.kind == "coordinates"]
    return points[-1] if points else ""


def _is_called_for(thing: str, result: StepResult) -> bool:
    return bool(thing) and thing in result.arguments.values()


def decompose_follow_up(question: DecomposeQuestion) -> Decomposition | None:
    """Return a follow-up as one subtask that stands alone; None if the request refers to nothing earlier.

    If an earlier response alone answers it, the subtask needs no calls.
    """
    resolved = resolve_follow_up(question.request, question.earlier)
    if resolved is None:
        return None
    subtask = Subtask(
        1, clean_text(resolved.description, MAX_SUBTASK_NAME_CHARS), resolved.description, earlier=resolved.steps
    )
    if resolved.is_about_list:
        calls = [(number, result) for asked in question.earlier for number, _, result in asked.steps]
        holding = next(
            (number for number, result in reversed(calls) if is_answered_by(resolved.description, result)), None
        )
        if holding is not None:
            subtask = replace(subtask, earlier=(holding,), needs_no_calls=True)
    return Decomposition((subtask,), resolved.reason)


def narrow_steps(request: str, steps: Results) -> Results:
    """Return the steps, with reused responses narrowed to the items that the request means."""
    return [
        (tool, result.model_copy(update={"response": narrowed_response}))
        if result.note == REUSED_NOTE and (narrowed_response := narrow_response(request, result)) is not None
        else (tool, result)
        for tool, result in steps
    ]
