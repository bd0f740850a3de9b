"""Resolve follow-up questions by rules: what one means standing alone, and which earlier calls it builds on."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.conversation import NOTE
from agent.parameters.needs import need_of
from agent.policy.protocol import Results
from agent.policy.subtasks import NAMED, AskedEarlier, DecomposeQuestion, Decomposition, Subtask
from agent.text import clean
from domain.plan import StepResult
from offline.list_filter import held, narrowed, things_of
from offline.nlp.coordination import atoms
from offline.nlp.entities import Span
from offline.nlp.gazetteer import word_set

_NAMES = word_set("name country quoted code currency language email domain url ip")
_SORTS = {"number": "number", "unit": "unit", "coordinates": "coordinates", "date": "date", "time": "time"}
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAYS = "Mondays?|Tuesdays?|Wednesdays?|Thursdays?|Fridays?|Saturdays?|Sundays?"
_NAMED_TIMES = ((re.compile(rf"\b(?:{_MONTHS})\b"), "month"), (re.compile(rf"\b(?:{_DAYS})\b"), "weekday"))
_FILLER = re.compile(
    r"\b(?:and|but|or|so|then|now|ok|okay|well|what|how|about|if|it|is|was|were|be|are|the|a|same|also|again|instead|too|please|thanks|"
    r"for|in|on|at|to|from|of|with|by|year|do|that|this|one|as|would|will|only|just|me|show|tell|give|compare|hotel|film|book|city)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"^\W*(?:and|but|or|so|then|now|what about|how about|the same|same|also|what if)\b", re.IGNORECASE)
_EXISTS = re.compile(
    r"\b(?:is|are|was|were|will)\s+there\b(?!\s*[?.!]*$)|\bthere\s+(?:is|are|was|were)\b", re.IGNORECASE
)
_OWNS = re.compile(r"\b(its|their|his|her)\b(?=\s+\w)", re.IGNORECASE)
_IS = re.compile(r"\b(it|they|them|he|she|him|her)\b", re.IGNORECASE)
_THERE = re.compile(
    r"\b(?:over )?there\b|\b(?:in|at|to|from|of) (?:that|this|the same) (?:city|town|place|village|country)\b",
    re.IGNORECASE,
)
_LED_THERE = re.compile(r"\b(from|to|of|near|around)\s+(?:over )?there\b", re.IGNORECASE)
_THAT = re.compile(
    r"\b(?:that|this|the same) (?:city|town|place|country|book|novel|film|movie|company|firm|person|author|product|recipe|team|hotel|"
    r"restaurant|parcel|order|word|currency|airport|employer|job|player|share|stock)\b",
    re.IGNORECASE,
)
_PERSONAL = word_set("he she him his her")
_LIST = re.compile(
    r"\b(?:of|among|from|between) (?:them|those|these|the results|the list)\b|\b(?:those|these|ones)\b|\bwhich one\b|"
    r"\bthe (?:\w+ )?(?:one|first|second|third|fourth|last|other|others)\b(?=\s*(?:$|[^\w\s]|one\b|of\b))|"
    r"\bthe [a-z]+est\b(?=\s*(?:$|[?.!,]|one\b|of (?:them|those|these)\b))",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"\b(?:they|them|their|those|these)\b", re.IGNORECASE)
_LEAD = re.compile(r"^\W*(?:and|so|but|then|ok|okay|now)\b[\s,]*(?=\w)", re.IGNORECASE)
_ORDER = re.compile(r"^\W*(\w+)\s+(?:it|them|him|her|that|this|those|these)\b", re.IGNORECASE)
_PLACES = frozenset({"place", "country"})
_LEAST = 2


@dataclass(frozen=True, slots=True)
class Meant:
    """A follow-up question, resolved."""

    description: str
    """The question as it stands alone, as far as rules can word it."""
    steps: tuple[int, ...]
    """Numbers of the earlier calls whose results it needs."""
    listed: bool
    """True if it means things of an earlier list."""
    reason: str


def meant(request: str, earlier: Sequence[AskedEarlier]) -> Meant | None:
    """Resolve a request that follows these; None if it stands alone."""
    if not earlier:
        return None
    again = _asked_again(request, earlier[-1])
    if again:
        more = meant(again, earlier[:-1]) if _leans(again) else None
        reason = "it asks the same of something else"
        return Meant(again, more.steps if more else (), more is not None and more.listed, reason)
    if not _leans(request):
        return None
    known = [one for one in reversed(earlier) if one.steps]
    if not known:
        return None
    last = next((one for one in known if _lists(request, one)), known[0])
    steps = tuple(number for number, _, _ in last.steps)
    if _LIST.search(request) or _lists(request, last):
        return Meant(request, steps, True, "it asks about what was found before")
    text, thing = _said(_LEAD.sub("", request), last, known)
    own = any(atom.kind in _NAMES for atom in atoms(request))
    if own and _point(last) and _point(last) in text:  # what is known of the place is not of what else it names
        return Meant(text, (), False, "it asks more about the same place")
    source = next((one for one in known if any(_calls_for(thing, result) for _, _, result in one.steps)), last)
    return Meant(text, tuple(number for number, _, _ in source.steps), False, "it asks more about the same")


def _leans(request: str) -> bool:
    """Return whether a request's pronouns stand for something that it does not name itself, or not before them."""
    text = _EXISTS.sub(lambda hit: " " * len(hit[0]), request)
    order = _ORDER.match(request)  # whose first word only looks like a name
    named = [atom.end for atom in atoms(request) if atom.kind in _NAMES and not (order and atom.end <= order.end(1))]
    if not named and any(one.search(text) for one in (_OWNS, _IS)):
        return True
    hits = [hit.start() for one in (_THERE, _THAT, _LIST) if (hit := one.search(text))]
    return bool(hits) and not any(end <= min(hits) for end in named)


def _asked_again(request: str, before: AskedEarlier) -> str:
    """Return the earlier question with this request's values, if it says little else; empty otherwise."""
    told = [*_values(request)]
    if not told or not before.request:
        return ""
    rest = request
    for start, end, _ in sorted(told, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    left = re.sub(r"[^\w]+", " ", _FILLER.sub(" ", rest)).strip()
    if left or not (_OPENS.search(request) or len(request.split()) <= _LEAST + len(told)):
        return ""
    text = before.request
    used = {str(value).casefold() for _, _, result in before.steps for value in result.arguments.values()}
    for start, end, sort in told:
        text = _replaced(text, (request[start:end], sort, _cue(request, start)), used)
    return text


def _values(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and sort of each value of a text."""
    taken: list[Span] = atoms(text)
    yield from ((one.start, one.end, _SORTS.get(one.kind, "name")) for one in taken)
    for pattern, sort in _NAMED_TIMES:
        for hit in pattern.finditer(text):
            if not any(one.start < hit.end() and hit.start() < one.end for one in taken):
                yield hit.start(), hit.end(), sort


def _replaced(text: str, new: tuple[str, str, str], used: Collection[str]) -> str:
    """Replace a value of the same sort in a text; add the value if the text has none of that sort.

    ``new``: value, sort, and the preposition before it. Of several candidates the one behind the same preposition is
    replaced, else the last one that a call was made for.
    """
    value, sort, cue = new
    kin = [(start, end) for start, end, own in _values(text) if own == sort]
    if sort == "number" and re.fullmatch(r"(?:19|20)\d\d", value):
        kin = [place for place in kin if re.fullmatch(r"(?:19|20)\d\d", text[slice(*place)])] or kin
    same = [place for place in kin if cue and _cue(text, place[0]) == cue]
    if not kin:
        return f"{text.rstrip(' ?.!')} {cue} {value}?".replace("  ", " ") if cue else f"{text.rstrip(' ?.!')} {value}?"
    called = [place for place in same or kin if text[slice(*place)].casefold() in used]
    start, end = (called or same or kin)[-1]
    return f"{text[:start]}{value}{text[end:]}"


def _cue(text: str, start: int) -> str:
    """Return the preposition before a place of a text; empty if there is none."""
    found = re.search(r"\b(in|on|at|to|for|from|of|with|by|into)\s+(?:the\s+)?[\"“'‘]?$", text[:start], re.IGNORECASE)
    return found[1].lower() if found and found[1].lower() != "for" else ""


def _lists(request: str, last: AskedEarlier) -> bool:
    """Return whether a request means things of a list that was found."""
    if not (_LIST.search(request) or _PLURAL.search(request)):
        return False
    return any(things_of(result) is not None for _, _, result in last.steps[-1:])


def _said(request: str, last: AskedEarlier, known: Sequence[AskedEarlier]) -> tuple[str, str]:
    """Replace the words that stand for an earlier thing, and return the text with that thing; empty if unknown."""
    # The "there" of "is there" names no place: a NUL stands for it until places are replaced.
    text = _EXISTS.sub(lambda hit: hit[0].replace("there", "\0"), request)
    place, _ = _named(last, known, places=True)
    point = _point(last)
    if (place or point) and _THERE.search(text):
        where = f"at {point}" if point else f"in {place}"
        text = _LED_THERE.sub(lambda hit: f"{hit[1]} {point or place}", text)
        return _THERE.sub(where, text).replace("\0", "there"), place
    thing, kind = _named(last, known, places=False)
    text = text.replace("\0", "there")
    personal = any(hit[0].lower() in _PERSONAL for hit in (*_OWNS.finditer(text), *_IS.finditer(text)))
    if not thing or (personal and kind != "person"):
        return request, ""
    for pattern, words in ((_THAT, thing), (_OWNS, f"{thing}'s"), (_IS, thing)):
        text = pattern.sub(lambda _, words=words: words, text, count=1)
    return text, thing


def _named(last: AskedEarlier, known: Sequence[AskedEarlier], *, places: bool) -> tuple[str, str]:
    """Find what the last question named and calls were made for, with the kind of its parameter."""
    for _, tool, result in (step for one in (last, *known) for step in one.steps):
        for parameter in tool.parameters:
            value, kind = result.arguments.get(parameter.name), need_of(parameter).kind
            told = isinstance(value, str) and len(value) > 1 and value.casefold() in last.request.casefold()
            if told and (not places or kind in _PLACES):
                return str(value), kind
    names = [atom for atom in atoms(last.request) if atom.kind in _NAMES]
    return (names[-1].text, "") if names else ("" if places else _point(last), "")


def _point(last: AskedEarlier) -> str:
    """Return the coordinates that the last question gave for a place; empty if it gave none."""
    points = [atom.text for atom in atoms(last.request) if atom.kind == "coordinates"]
    return points[-1] if points else ""


def _calls_for(thing: str, result: StepResult) -> bool:
    return bool(thing) and thing in result.arguments.values()


def followed(question: DecomposeQuestion) -> Decomposition | None:
    """Return one subtask that stands alone, with the earlier calls it builds on; None without a reference."""
    found = meant(question.request, question.earlier)
    if found is None:
        return None
    one = Subtask(1, clean(found.description, NAMED), found.description, earlier=found.steps)
    if found.listed:
        made = [(number, result) for asked in question.earlier for number, _, result in asked.steps]
        holding = next((number for number, result in reversed(made) if held(found.description, result)), None)
        if holding is not None:
            one = replace(one, earlier=(holding,), reread=True)
    return Decomposition((one,), found.reason)


def narrowed_to(request: str, steps: Results) -> Results:
    """Return the steps, those of earlier questions narrowed to what this request means."""
    return [
        (tool, result.model_copy(update={"response": left}))
        if result.note == NOTE and (left := narrowed(request, result)) is not None
        else (tool, result)
        for tool, result in steps
    ]
