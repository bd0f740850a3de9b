"""An item that the request names and an earlier answer's list does not hold: no other item is taken in its place."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher

from pydantic.types import JsonValue

from agent.compression.json_paths import leaves_of
from agent.policy.protocol import Arguments, ArgumentsQuestion
from agent.text import clean
from domain.plan import Binding, StepResult
from domain.tool import ToolDoc
from graph.coupling import subject
from graph.identifiers import singular, words
from graph.literals import read_value
from offline.coverage import vocabulary
from offline.grounding_of_changes import Earlier, lists_at
from offline.nlp.clauses import parts
from offline.nlp.entities import Span, spans
from offline.nlp.gazetteer import ARTICLES, STARTERS, word_set
from offline.slots.list_items import TITLES

_ANY_DAY = date(2000, 1, 1)
_OTHERS = word_set(
    "in near around from to into within across through tell email message invite remind send for with by as"
)
"""What stands before a place, a person or a purpose, rather than before one of the things listed."""
_ANY = re.compile(
    r"\b(?:(?:what|which)(?=\s+([\w-]+))|(?:an?|any|some|every|each|all|\w+est|most \w+|best|first|last|second|third)(?=\s+((?:[\w-]+\s+){0,2}[\w-]+)))",
    re.I,
)
_SEARCHING = word_set("q query search term keyword text")
_ALIKE = 0.8
_SHOWN = 8
_LONGEST = 60
_TOLD = 20_000


@dataclass(frozen=True, slots=True)
class _List:
    """A list that a value is taken from: its items, their names, and the step that gave it."""

    titles: tuple[str, ...]
    producer: ToolDoc
    result: StepResult


def absent(question: ArgumentsQuestion, answer: Arguments) -> str:
    """Why no item may be taken from an earlier list, in a sentence that tells what there is; empty where one may.

    That is so where the request names something by a proper name that is neither a value of a call, nor told by any earlier answer, nor
    a word of the tools', and where each item of the list has a name and none is named by the request. What a person has decided on
    is not questioned.
    """
    for binding in answer.provenance:
        if binding.origin != "step" or binding.parameter in answer.settled:
            continue
        for found in _lists(binding, question.earlier):
            name = _sought(question, answer, found)
            if name:
                return _sentence(name, found)
    return ""


def _lists(binding: Binding, earlier: Earlier) -> Iterator[_List]:
    number, _, place = binding.reference.partition(".")
    if not number.isdigit() or not 1 <= int(number) <= len(earlier):
        return
    producer, result = earlier[int(number) - 1]
    for items, index in lists_at(read_value(result.response), place)[0]:
        titles = tuple(_title(item) for item in items)
        if index is not None and all(titles):
            yield _List(titles, producer, result)


def _title(item: JsonValue) -> str:
    """The name of an item: of its own fields, or of those just below."""
    if not isinstance(item, dict):
        return ""
    named = [
        leaf
        for field, leaf in leaves_of(item)
        if isinstance(leaf, str) and TITLES & set(words(field.rpartition(".")[2]))
    ]
    return named[0] if named else ""


def _sought(question: ArgumentsQuestion, answer: Arguments, found: _List) -> str:
    """The name that the request gives to an item of the list and that none there has."""
    text = _part(question.request, found)
    if _searched(found) or _reworded(found.result, text) or _anything(text, found):
        return ""
    asked = _asked(found)
    common = _common(question) | asked
    told = [
        span for span in spans(text, _ANY_DAY) if span.kind in ("name", "quoted") and not _tokens(span.value) <= asked
    ]
    if any(_fits(span.value, title, common) for span in told for title in found.titles):
        return ""
    known = [
        *(str(value) for _, result in question.earlier for value in result.arguments.values()),
        *(str(value) for value in answer.values.values()),
    ]
    answers = [_tokens(result.response[:_TOLD]) for _, result in question.earlier if result.status == "ok"]
    for span in told:
        own = _tokens(span.value) - common
        if not own or not _names_an_item(span, text):
            continue
        if not any(_fits(span.value, value, frozenset()) for value in known) and not any(
            own <= all_ for all_ in answers
        ):
            return span.value
    return ""


def _part(request: str, found: _List) -> str:
    """The parts of a request that name what the list was asked for; the request itself where they are not told apart."""
    values = [value for value in found.result.arguments.values() if isinstance(value, str) and value]
    own = [part.text for part in parts(request) if any(value.lower() in part.text.lower() for value in values)]
    return " ".join(dict.fromkeys(own)) or request


def _searched(found: _List) -> bool:
    """Whether the list was asked for by what its things are called, so that what is in it is what was meant."""
    asked = _asked(found)
    by_name = any(name.lower() == "name" or _SEARCHING & set(words(name)) for name in found.result.arguments)
    return by_name or any(_tokens(title) <= asked for title in found.titles)


def _reworded(result: StepResult, text: str) -> bool:
    """Whether the list was asked for in other words than the request's: what it calls by another name may be there."""
    own = {binding.parameter: binding.origin for binding in result.provenance}
    return any(
        own.get(name, "") not in ("user", "step", "default")
        and isinstance(value, str)
        and value.istitle()
        and value.lower() not in text.lower()
        for name, value in result.arguments.items()
    )


def _anything(text: str, found: _List) -> bool:
    """Whether the request speaks of one of the listed things without naming it: ``a hotel``, ``the cheapest room``."""
    nouns = subject(found.producer.api)
    for hit in _ANY.finditer(text):
        phrase = (hit[1] or hit[2]).split()
        plain = [word for word in phrase if not word[0].isupper()]
        if plain == phrase[: len(plain)] and nouns & {base for word in plain for base in words(word)}:
            return True
    return False


def _common(question: ArgumentsQuestion) -> frozenset[str]:
    """Words that tell nothing of an item: those of the tools, and articles."""
    tools = (question.tool, *(tool for tool, _ in question.earlier))
    return frozenset[str]().union(ARTICLES, STARTERS, *(vocabulary(tool) for tool in tools))


def _asked(found: _List) -> frozenset[str]:
    """The words of what the list was asked for: a place that its things are in, and may be named after."""
    return _tokens(" ".join(str(value) for value in found.result.arguments.values()))


def _names_an_item(span: Span, text: str) -> bool:
    """Whether a name is one that a listed thing may have: not a place, a person or a purpose by the word before it."""
    if span.kind == "quoted" or (span.before and span.before[-1] in ARTICLES):
        return True
    return (
        len(span.text.split()) > 1 or bool(re.match(r"\s+in\s+[A-Z]", text[span.end :]))
    ) and span.cue not in _OTHERS


def _fits(name: str, title: str, common: frozenset[str]) -> bool:
    """Whether a name may be that of what has this title: all of the one in the other, but for common words, initials and slips."""
    one, other = _tokens(name), _tokens(title)
    if one <= other and one - ARTICLES:
        return True
    one, other = one - common, other - common
    return _within(one, other) or _within(other, one)


def _within(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and all(any(_alike(word, known) for known in other) for word in one)


def _alike(one: str, other: str) -> bool:
    if len(one) == 1 or len(other) == 1:
        return one[:1] == other[:1]
    return one == other or SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _tokens(text: str) -> frozenset[str]:
    return frozenset(singular(word) for word in re.findall(r"[^\W_]+", re.sub(r"['’]s?\b", "", text.lower())))


def _sentence(name: str, found: _List) -> str:
    of = ", ".join(str(value) for value in found.result.arguments.values() if isinstance(value, str))
    there = _joined(found.titles)
    where = f" in {clean(of, _LONGEST)}" if of else ""
    return f"There is nothing called {clean(name, _LONGEST)!r}{where}; there are: {there}."


def _joined(titles: Sequence[str]) -> str:
    shown = [clean(title, _LONGEST) for title in dict.fromkeys(titles)]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more
