"""Couplings: how well a field of one tool's response fills a parameter of another (SoAy, definition 1)."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic.types import JsonValue

from domain.tool import JsonType, Parameter, ParameterType, ToolDoc
from graph.entities import Service, service_of
from graph.identifiers import text_words, words
from graph.response_fields import OutputField, output_fields
from graph.vocabulary import FORMS, IDENTITY, thing

__all__ = ["COUPLED", "Coupling", "OutputField", "best_field", "couplings", "match", "output_fields"]

COUPLED = 0.6
"""Minimum score at which a field counts as fit for a parameter."""

VAGUE = frozenset(
    {
        "id", "name", "code", "key", "value", "type", "title", "date", "text", "url", "number", "query", "q", "status", "count",
        "description", "data", "result", "item", "page", "limit", "offset", "language", "format", "message", "time", "start", "end",
        "category", "source", "from", "to", "version", "total", "success", "error", "size", "sort", "order", "token",
    }
)  # fmt: skip
"""Words that say little of a value on their own."""
_VERBS = frozenset(
    {"get", "search", "list", "find", "fetch", "create", "add", "show", "by", "for", "of", "the", "all", "api"}
)


_KIND_OF = {
    "capital": "city",
    "birthplace": "city",
    "hometown": "city",
    "town": "city",
    "sym": "symbol",
    "ticker": "symbol",
}
"""Field names that are a kind of what a parameter is named after, or a short form of its name."""

_FORMS = frozenset({"code"})
"""Words for how a thing is written down: a ``currency_code`` fits where a currency is asked for."""


_DAY = frozenset({"date"})
"""Words that are vague as a name but not as a value: only days are written as days."""

_HALF = 0.5
"""Minimum share of recorded calls that took the parameter from a field for the field to count as known."""

_ECHO = 0.8
"""Factor for a field that repeats one of the producer's inputs, or, in a list, may repeat one."""

_SAID = 0.9
"""Factor for a coupling whose entity is known only from a description."""

_ENUM = 0.6
"""Score of an example that may be none of the values that a parameter allows: these are chosen, not looked up."""

_WRITTEN = 0.9
"""Factor for a coupling whose sides are spelt differently: a ``uri`` and an ``href`` are both addresses."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """A field that fits a parameter, with its score in [0, 1]."""

    field: OutputField
    score: float


def match(
    field: OutputField,
    producer: ToolDoc,
    parameter: Parameter,
    consumer: ToolDoc | None = None,
    service: Service | None = None,
    *,
    echoes: bool = True,
) -> float:
    """Score in [0, 1] how well a field of ``producer``'s response fits ``parameter`` (of ``consumer``, if given).

    In this order: an administrator's mark decides; then recorded calls that took the parameter from this field; then a link that a
    store holds. Within a ``service``, a field that identifies something fits an input that asks for the same form of the same entity,
    and nothing else. Elsewhere the score is the product of three factors, each in [0, 1]:

    - *name*: 1 for the same words; 0.95, 0.85 or 0.7 if the field lacks words of the parameter that its holder, the
      producer's name or the producer's text supply (``id`` in ``people[]`` for ``person_id``), and likewise the other way
      round; a vague word alone (``id``, ``name``, ``status``) needs such support on both sides; else the share of
      common words, times 0.6, if the last words agree;
    - *type*: 1 for the same type, 0.95 if one converts to the other without loss, 0.5 if unsure, 0 for structures;
    - *example*: 1, or less if the field's example is outside the parameter's enum, or lacks the prefix of the parameter's ids.

    The same telling example on both sides adds 0.15. A field that only repeats the producer's input counts less; with
    ``echoes=False`` it counts nothing outside a list, because whoever has it there had it before the call.
    """
    said = _said(field, producer, parameter, consumer)
    if said is not None:
        return said
    known = _recorded(field, producer, parameter) or _linked(field, producer, parameter)
    if known:
        return known
    if _is_setting(parameter):
        return 0.0
    name = _typed(field, producer, parameter, consumer, service)
    if name is None:
        name = _name_score(field, producer, parameter, consumer, near=consumer is None or service is not None)
        echo = bool(name) and _repeats(field, producer)
    else:
        echo = bool(name) and service is not None and service.echoes(producer, field)
    if echo:
        name *= _ECHO if echoes or "[]" in field.path else 0.0
    if name == 0.0:
        return 0.0
    return min(1.0, name * _type_score(field.type, parameter.type) * _example_score(field.example, parameter)
               + _same_example(field.example, parameter))  # fmt: skip


def _linked(field: OutputField, producer: ToolDoc, parameter: Parameter) -> float:
    """Return the score of the stored link, computed with all tools of the service in sight; 0 if there is none."""
    found = (one.score for one in parameter.filled if one.source == producer.id and one.field == field.path)
    return next(found, 0.0)


def _said(field: OutputField, producer: ToolDoc, parameter: Parameter, consumer: ToolDoc | None) -> float | None:
    """Return 1 or 0 as an administrator marked this field for the parameter, or None without a mark."""
    for mark in consumer.feed_marks if consumer is not None else ():
        if (mark.source, mark.field, mark.parameter) == (producer.id, field.path, parameter.name):
            return float(mark.fills)
    return None


def _typed(
    field: OutputField, producer: ToolDoc, parameter: Parameter, consumer: ToolDoc | None, service: Service | None
) -> float | None:
    """Score a field by its entity; None if the entity is not known of both sides."""
    if consumer is None or service is None:
        return None
    wanted = service.taken(consumer, parameter)
    given = service.given(producer, field) if wanted is not None else None
    if wanted is None or given is None or wanted.form != given.form:
        return None
    if wanted.form not in IDENTITY and not (wanted.entities & given.entities):
        return None
    if not wanted.entities & given.entities:
        return 0.0
    score = 1.0 if words(field.name) == words(parameter.name) and len(words(field.name)) > 1 else 0.95
    score *= 1.0 if wanted.told and given.told else _SAID
    return score * (1.0 if wanted.written in (given.written, "") else _WRITTEN)


def _repeats(field: OutputField, producer: ToolDoc) -> bool:
    """Return whether a field is named like an input of the producer; in a list, like a required one."""
    if not producer.parameters:
        return False
    named = words(field.name)
    own = [one.required for one in producer.parameters if words(one.name) == named]
    return any(own) if "[]" in field.path else bool(own)


def _is_setting(parameter: Parameter) -> bool:
    """Return whether an input says how to answer, not about what: a flag, or an optional number like ``page``."""
    if parameter.type == "boolean":
        return True
    named = frozenset(words(parameter.name))
    return not parameter.required and parameter.type in ("integer", "number") and named <= VAGUE - FORMS


def couplings(
    fields: tuple[OutputField, ...],
    producer: ToolDoc,
    parameter: Parameter,
    consumer: ToolDoc | None = None,
    service: Service | None = None,
    *,
    echoes: bool = True,
) -> list[Coupling]:
    """Return the fields with a score of at least :data:`COUPLED`, best first.

    Ties go to the shallower, then the earlier field. ``service``: what is known of the service that both tools belong to; without it,
    only the two tools are considered.
    """
    if service is None and consumer is not None and service_of(producer) == service_of(consumer):
        service = Service([(producer, fields), (consumer, output_fields(consumer))], whole=False)
    index = _by_word(fields)
    asked = {*words(parameter.name), *(IDENTITY if parameter.type in ("array", "object") else ())}
    near = {field for word in asked for field in index.get(word, ())}
    known = {flow.field for flow in parameter.flows if flow.source == producer.id}
    known |= {one.field for one in parameter.filled if one.source == producer.id}
    known |= {mark.field for mark in consumer.feed_marks if mark.source == producer.id} if consumer else set[str]()
    near |= {field for field in fields if field.path in known}
    scored = [Coupling(field, match(field, producer, parameter, consumer, service, echoes=echoes)) for field in near]
    fit = [coupling for coupling in scored if coupling.score >= COUPLED]
    return sorted(fit, key=lambda c: (-c.score, c.field.path.count("."), c.field.position))


def best_field(
    producer: ToolDoc, parameter: Parameter, consumer: ToolDoc | None = None, *, echoes: bool = True
) -> Coupling | None:
    """Return the documented field of ``producer`` that fits best, or None if none reaches :data:`COUPLED`."""
    found = couplings(output_fields(producer), producer, parameter, consumer, echoes=echoes)
    return found[0] if found else None


def _recorded(field: OutputField, producer: ToolDoc, parameter: Parameter) -> float:
    """Return the score of recorded calls: from :data:`COUPLED` at a share of one half to 1 at a share of 1.

    0 if fewer than half, or only a single call, took the parameter from this field.
    """
    for flow in parameter.flows:
        if flow.source == producer.id and flow.field == field.path and flow.count > 1 and flow.share >= _HALF:
            return COUPLED + (1 - COUPLED) * (flow.share - _HALF) / (1 - _HALF)
    return 0.0


@lru_cache(maxsize=2048)
def _by_word(fields: tuple[OutputField, ...]) -> dict[str, tuple[OutputField, ...]]:
    """Index fields by the words of their names and aliases."""
    index: defaultdict[str, list[OutputField]] = defaultdict(list)
    for field in fields:
        for word in {*(words(field.name) or field.holder), *field_words(field)}:
            index[word].append(field)
    return {word: tuple(found) for word, found in index.items()}


def field_words(field: OutputField) -> tuple[str, ...]:
    """Return the words that name a field: its own, or those of the list that holds it."""
    return aliased(words(field.name) or field.holder)


@lru_cache(maxsize=8192)
def subject(api: str) -> frozenset[str]:
    """Return what a tool is about, by its name without verbs: ``getCoauthors`` → coauthor."""
    return frozenset(words(api)) - _VERBS


def _own_words(doc: ToolDoc) -> frozenset[str]:
    """Return the words of a tool's description and of its parameters' names."""
    return text_words(doc.description) | {word for parameter in doc.parameters for word in words(parameter.name)}


def _name_score(
    output: OutputField, producer: ToolDoc, parameter: Parameter, consumer: ToolDoc | None, *, near: bool
) -> float:
    """Score in [0, 1] how well a field's name fits a parameter's name; the name factor of :func:`match`.

    ``near``: both tools may be of one service, so words of the producer's text count more.
    """
    wanted, field, holder = plain(words(parameter.name)), field_words(output), output.holder
    has, wants = frozenset(field), frozenset(wanted)
    common = has & wants
    if not common:
        return 0.0
    surplus, lacking = has - wants, wants - has
    if not surplus and not lacking and not wants <= VAGUE:
        return 1.0
    if has == wants == _DAY:
        return 0.65
    if has == wants and consumer is not None and not consumer.safe and not wants & IDENTITY:
        return 0.0  # the ``name`` of what a call creates is no existing thing's name
    given = _supplied(lacking, holder, producer, near=near) if lacking else 1.0
    asked = surplus or (frozenset(holder) | subject(producer.api) if wants <= VAGUE else surplus)
    taken = _asked_for(asked, parameter, consumer, exact=bool(surplus)) if asked else 1.0
    if wants <= VAGUE and not surplus and not asked:
        taken = 0.5
    score = min(given, taken)
    same_head = head(field) == head(wanted)
    if surplus and surplus <= _FORMS and not lacking and not wants <= VAGUE:
        return max(score, 0.75)  # a ``currency_code`` where a currency is asked for
    if same_head and not lacking and not {wanted[-1], field[-1]} & VAGUE:
        return max(score, 0.7)  # a kind of what is wanted: ``birth_city`` is a city
    if score >= COUPLED or field[-1] != wanted[-1]:
        return score if same_head else score * 0.6
    return max(score, 0.6 * len(common - VAGUE) / len(has | wants))


def plain(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return a parameter's words without its role if what remains says something: ``source_id`` stays whole."""
    left = thing(wanted)
    return wanted if set(left) <= VAGUE - _DAY else left


def aliased(field: tuple[str, ...]) -> tuple[str, ...]:
    """Return the kind that a one-word name stands for (``town`` → city), else its words."""
    return (_KIND_OF[field[0]],) if len(field) == 1 and field[0] in _KIND_OF else field


def head(name: tuple[str, ...]) -> str:
    """Return the word that says what a thing is: the last one that is not a word of notation."""
    return next((word for word in reversed(name) if word not in _FORMS), name[-1])


def _supplied(lacking: frozenset[str], holder: tuple[str, ...], producer: ToolDoc, *, near: bool) -> float:
    """Score whether the words that the field's own name lacks are supplied by its holder or its tool.

    A mere mention in the text of a tool of another set (not ``near``) counts too little to couple: everybody's ``id`` would be
    everybody's.
    """
    if lacking <= set(holder):
        return 0.95
    if lacking <= set(holder) | subject(producer.api):
        return 0.85
    mentioned = lacking <= set(holder) | subject(producer.api) | _own_words(producer)
    return (0.7 if near else 0.5) if mentioned else 0.3


def _asked_for(asked: frozenset[str], parameter: Parameter, consumer: ToolDoc | None, *, exact: bool) -> float:
    """Score whether the parameter's description or its tool mentions what the field adds to the parameter's name.

    ``exact``: all words must be mentioned; else any of them is enough.
    """
    described = text_words(parameter.description)
    about = (subject(consumer.api) | text_words(consumer.description)) if consumer else frozenset[str]()
    for known, score in ((described, 0.9), (described | about, 0.8)):
        if asked <= known or (not exact and asked & known):
            return score
    return 0.4


def _type_score(field: JsonType | None, parameter: ParameterType) -> float:
    """Score how well a field's type fits a parameter's type."""
    if field is None or parameter == "any":
        return 0.9
    if field == parameter or {field, parameter} == {"integer", "number"} or parameter == "array":
        return 1.0 if parameter != "array" or field not in ("object", "array") else 0.5
    if parameter == "string" and field in ("integer", "number"):
        return 0.95
    if field == "string" and parameter in ("integer", "number"):
        return 0.9
    return 0.0 if "object" in (field, parameter) or field == "array" else 0.4


_PREFIX = re.compile(r"([A-Za-z]{1,6})[_-](?=[\w-]*\d)")
"""Prefix of an id: ``cus_9s6XKzkNRiz8i3``. Many services mark the kind of an id by it."""


def _example_score(example: JsonValue, parameter: Parameter) -> float:
    """Score a field's example against the parameter's id prefix and enum."""
    if isinstance(example, str) and isinstance(parameter.example, str):
        own = _PREFIX.match(parameter.example)
        if own and not example.startswith(own[0]):
            return 0.5
    if not parameter.enum:
        return _ENUM if '"enum"' in (parameter.json_schema or "") else 1.0
    if example is None:
        return _ENUM
    return 1.0 if str(example).casefold() in {str(value).casefold() for value in parameter.enum} else 0.4


def _same_example(example: JsonValue, parameter: Parameter) -> float:
    """Return the bonus for an example that equals the parameter's example or default."""
    known = {str(value) for value in (parameter.example, parameter.default) if value not in (None, "")}
    return 0.15 if example is not None and len(str(example)) >= 4 and str(example) in known else 0.0


Basis = Literal["said", "recorded", "entity", "names"]
"""Basis of a feed: an administrator's mark, recorded calls, the entity of both sides, or the names of both."""


def basis_of(
    field: OutputField, producer: ToolDoc, parameter: Parameter, consumer: ToolDoc, service: Service | None
) -> Basis:
    """Return the first judgement of :func:`match` that decided."""
    if _said(field, producer, parameter, consumer) is not None:
        return "said"
    if _recorded(field, producer, parameter):
        return "recorded"
    return "entity" if _typed(field, producer, parameter, consumer, service) else "names"
