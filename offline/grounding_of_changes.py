"""What a call that changes something may take from an earlier answer: only what the request names, never what merely comes first."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from pydantic.types import JsonValue

from agent.policy.protocol import Arguments, ArgumentsQuestion
from agent.text import clean
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.tool import ToolDoc
from graph.identifiers import text_words, words
from graph.literals import read_value
from offline.change_words import changes, makes, told_to_change, undoes
from offline.coverage import vocabulary
from offline.nlp.clauses import clauses, parts
from offline.nlp.entities import spans
from offline.nlp.gazetteer import ARTICLES
from offline.slots.list_items import Known, alike, identifiers, stands, unnamed

_PLACE = re.compile(r"\[(\d*|\*)\]|([^.\[\]]+)")
_POINTS_BACK = re.compile(r"\b(?:it|its|them|their|that|this|these|those|one|ones|there|same|him|her|his|such)\b", re.I)
_ALL = re.compile(r"\b(?:all|every|each|everyone|everybody)\b", re.I)
_SHORTEST = 3
_ANY_DAY = date(2000, 1, 1)

Earlier = Sequence[tuple[ToolDoc, StepResult]]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as it would be made, and the texts of the request that may name what it is made for."""

    tool: ToolDoc
    values: JsonObject
    earlier: Earlier
    texts: tuple[str, ...]


def not_asked_for(question: ArgumentsQuestion, answer: Arguments) -> str:
    """Why a call must not be made with these arguments, in a sentence; empty where it may.

    Of a tool that changes something, every value that comes from a list of an earlier answer must be of the item that the request
    names (:func:`offline.slots.list_items.unnamed`); so must the values by which that answer was got. An identifier in the request is
    used or refused, never replaced by another of its kind. Holds for every policy; what a person has decided on is not questioned.
    """
    if not changes(question.tool):
        return ""
    call = _Call(question.tool, answer.values, question.earlier, _texts(question.request, question.tool))
    nameless = _nameless(question, answer)
    if nameless:
        return f"{question.tool.api} was not called: the request does not say what {clean(nameless, 80)} is to be."
    for parameter, reference in _taken(call, answer.provenance):
        if parameter in answer.settled:
            continue
        reasons = [_refused(call, reference, text) for text in call.texts]
        if all(reasons):
            return f"{question.tool.api} was not called: its {clean(parameter, 80)} would come from {reasons[0]}. Name what is meant, or give its identifier."
    return ""


def _nameless(question: ArgumentsQuestion, answer: Arguments) -> str:
    """A required parameter whose value is only the order's own words: "Delete the book" names no book."""
    own = frozenset(words(question.tool.api)) | ARTICLES
    quoted = {span.value for span in spans(question.request, _ANY_DAY) if span.kind == "quoted"}
    free = {parameter.name for parameter in question.tool.required if not parameter.enum}
    for binding in answer.provenance:
        value = answer.values.get(binding.parameter)
        if binding.origin == "request" and binding.parameter in free and isinstance(value, str) and value not in quoted:
            told = text_words(value)
            if told and told <= own:
                return binding.parameter
    return ""


def _texts(request: str, tool: ToolDoc) -> tuple[str, ...]:
    """The clauses that order the tool's change, each once per thing that it names; the request itself where a clause points back to it."""
    own = [clause for clause in clauses(request) if makes(tool, told_to_change(clause, loose=True))]
    if not own or any(_POINTS_BACK.search(clause) for clause in own):
        return (request,)
    single = [part.text for part in parts(request) if part.named and set(part.clauses) & set(own)]
    return tuple(dict.fromkeys((*own, *single)))


def _taken(call: _Call, provenance: Sequence[Binding]) -> Iterator[tuple[str, str]]:
    """The parameters whose values come from earlier answers, with the place; values of no told origin are looked for there."""
    told = {binding.parameter: binding for binding in provenance}
    for name, value in call.values.items():
        binding = told.get(name)
        if binding is not None and binding.origin == "step":
            yield name, binding.reference
        elif (
            binding is None and isinstance(value, str) and len(value) >= _SHORTEST and value not in " ".join(call.texts)
        ):
            yield from ((name, place) for place in _places_of(value, call.earlier))


def _places_of(value: str, earlier: Earlier) -> Iterator[str]:
    for number, (_, result) in enumerate(earlier, start=1):
        if result.status == "ok":
            found = next((place for place, leaf in _walk(read_value(result.response), "") if leaf == value), None)
            if found is not None:
                yield f"{number}.{found}"


def _walk(value: JsonValue, place: str, depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    if depth > 12:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, f"{place}.{key}" if place else key, depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, f"{place}[{index}]", depth + 1)
    else:
        yield place, value


def _refused(call: _Call, reference: str, text: str, depth: int = 0) -> str:
    """Why the value at a place is not what the text names, as the end of a sentence: which answer it is of, and what is wrong."""
    number, _, place = reference.partition(".")
    if not number.isdigit() or not 1 <= int(number) <= len(call.earlier) or depth > len(call.earlier):
        return ""
    producer, result = call.earlier[int(number) - 1]
    whole = read_value(result.response)
    lists, value = lists_at(whole, place)
    item = lists[-1][0][lists[-1][1]] if lists and lists[-1][1] is not None else value
    reasons = [_replaced(call, value, item, text)]
    reasons += [_unnamed(items, index, text, _known(call, producer), _about(producer, place)) for items, index in lists]
    if (
        undoes(call.tool) and changes(producer) and not lists
    ):  # what was made a moment ago is the last thing to be undone
        reasons.append(unnamed([whole], 0, text, _known(call, producer), _about(producer, place)))
    why = next((reason for reason in reasons if reason), "")
    if why:
        return f"{producer.api} (step {number}): {why}"
    before = [b.reference for b in result.provenance if b.origin == "step" and b.reference != reference]
    return next((why for place in before if (why := _refused(call, place, text, depth + 1))), "")


def lists_at(value: JsonValue, place: str) -> tuple[list[tuple[list[JsonValue], int | None]], JsonValue]:
    """The lists on the way to a place, each with the index there (None: all of it), and the value found."""
    lists: list[tuple[list[JsonValue], int | None]] = []
    for hit in _PLACE.finditer(place):
        if isinstance(value, list) and hit[1] is not None:
            index = int(hit[1]) if hit[1].isdigit() else None
            if index is not None and index >= len(value):
                return lists, None
            lists.append((value, index))
            value = value if index is None else value[index]
            if index is None:
                break
        else:
            value = value.get(hit[2]) if isinstance(value, dict) else None
    return lists, value


def _unnamed(items: list[JsonValue], index: int | None, text: str, known: Known, about: frozenset[str]) -> str:
    if index is not None:
        return unnamed(items, index, text, known, about)
    return "" if _ALL.search(text) or len(items) == 1 else f"all of its {len(items)} entries"


def _replaced(call: _Call, value: JsonValue, holder: JsonValue, text: str) -> str:
    """The identifier of the text that this value would stand in for: of its kind, and neither used nor the item's own."""
    own = json.dumps(holder, ensure_ascii=False)[:20_000]
    sent = _as_text(call.values)
    used = _as_text([result.arguments for _, result in call.earlier])
    for told in identifiers(text):
        kin = isinstance(value, str) and alike(told, value)
        if not stands(told, own) and not stands(told, sent) and (kin or not stands(told, used)):
            return f"the request names {told}, which is not there"
    return ""


def _known(call: _Call, producer: ToolDoc) -> Known:
    tools = (call.tool, producer, *(tool for tool, _ in call.earlier))
    used = _as_text([*(result.arguments for _, result in call.earlier), call.values])
    return Known(used, frozenset[str]().union(*(vocabulary(tool) for tool in tools)))


def _about(producer: ToolDoc, place: str) -> frozenset[str]:
    return frozenset((*words(re.sub(r"\[\d+\]", " ", place)), *words(producer.api))) | text_words(producer.description)


def _as_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:50_000]
