"""Scores how well a response field of one tool fits a parameter of another (a coupling; SoAy, definition 1)."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic.types import JsonValue

from domain.tool import JsonType, Parameter, ParameterType, ToolDoc
from graph.entities import ServiceEntities, get_service_key
from graph.entity_vocabulary import IDENTIFYING_WORDS, IDENTITY, strip_role_words
from graph.identifiers import extract_words, split_words
from graph.response_fields import OutputField, output_fields

__all__ = [
    "MIN_COUPLING_SCORE",
    "FieldCoupling",
    "OutputField",
    "find_best_field",
    "find_couplings",
    "output_fields",
    "score_coupling",
]

MIN_COUPLING_SCORE = 0.6
"""Minimum score at which a field counts as fit for a parameter."""

VAGUE_WORDS = frozenset(
    {
        "id", "name", "code", "key", "value", "type", "title", "date", "text", "url", "number", "query", "q", "status", "count",
        "description", "data", "result", "item", "page", "limit", "offset", "language", "format", "message", "time", "start", "end",
        "category", "source", "from", "to", "version", "total", "success", "error", "size", "sort", "order", "token",
    }
)  # fmt: skip
"""Words that say little about a value on their own."""
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
"""One-word field names with the more general word, or the full word, by which parameters ask for them."""

_NOTATION_WORDS = frozenset({"code"})
"""Words for the notation of a thing: a ``currency_code`` fits where a currency is wanted."""


_DAY_WORDS = frozenset({"date"})
"""Words that are vague as a name although their values are unmistakable: only a date looks like a date."""

_MIN_FLOW_SHARE = 0.5
"""Minimum share of recorded calls that took the parameter from a field for the field to count as known."""

_ECHO_FACTOR = 0.8
"""Factor for a field that repeats one of the producer's inputs, or, in a list, may repeat one."""

_DESCRIPTION_FACTOR = 0.9
"""Factor for a coupling whose entity is known only from a description."""

_UNKNOWN_ENUM_FACTOR = 0.6
"""Factor for a parameter with an enum when the field's values are unknown: enum values are chosen, not looked up."""

_OTHER_SPELLING_FACTOR = 0.9
"""Factor for a coupling whose sides are spelt differently: a ``uri`` and an ``href`` are both addresses."""


@dataclass(frozen=True, slots=True)
class FieldCoupling:
    """A field that fits a parameter, with its score in [0, 1]."""

    field: OutputField
    score: float


def score_coupling(
    field: OutputField,
    producer: ToolDoc,
    parameter: Parameter,
    consumer: ToolDoc | None = None,
    service: ServiceEntities | None = None,
    *,
    echoes: bool = True,
) -> float:
    """Score in [0, 1] how well a field of ``producer``'s response fits ``parameter`` (of ``consumer``, if given).

    The first of these that applies decides: an administrator's mark; recorded calls that took the parameter from this
    field; a stored link. Within a ``service``, a field that identifies something then fits only inputs for the same
    form of the same entity. Everywhere else the score is the product of three factors, each in [0, 1]:

    - *name*: 1 for the same words; 0.95, 0.85 or 0.7 if the field lacks words of the parameter that its holder, the
      producer's name or the producer's text supply (``id`` in ``people[]`` for ``person_id``), and likewise the other
      way round; a vague word alone (``id``, ``name_score``, ``status``) needs such support on both sides; else the
      share of common words, times 0.6, if the last words agree;
    - *type*: 1 for the same type, 0.95 if one converts to the other without loss, 0.5 if unsure, 0 for structures;
    - *example*: 1, or less if the field's example is outside the parameter's enum, or lacks the prefix of the
      parameter's ids.

    The same distinctive example on both sides adds 0.15. A field that only repeats an input of the producer counts
    less, and with ``echoes=False`` not at all outside a list, because its value was known before the call.
    """
    marked_score = _get_marked_score(field, producer, parameter, consumer)
    if marked_score is not None:
        return marked_score
    known_score = _get_recorded_score(field, producer, parameter) or _get_link_score(field, producer, parameter)
    if known_score:
        return known_score
    if _is_setting(parameter):
        return 0.0
    name_score = _score_by_entity(field, producer, parameter, consumer, service)
    if name_score is None:
        name_score = _score_name(field, producer, parameter, consumer, near=consumer is None or service is not None)
        is_echo = bool(name_score) and _repeats_input(field, producer)
    else:
        is_echo = bool(name_score) and service is not None and service.is_echo(producer, field)
    if is_echo:
        name_score *= _ECHO_FACTOR if echoes or "[]" in field.path else 0.0
    if name_score == 0.0:
        return 0.0
    return min(1.0, name_score * _score_types(field.type, parameter.type) * _score_example(field.example, parameter)
               + _score_same_example(field.example, parameter))  # fmt: skip


def _get_link_score(field: OutputField, producer: ToolDoc, parameter: Parameter) -> float:
    """Return the score of the stored link, which was computed with all tools of the service; 0 if there is none."""
    scores = (link.score for link in parameter.filled if link.source == producer.id and link.field == field.path)
    return next(scores, 0.0)


def _get_marked_score(
    field: OutputField, producer: ToolDoc, parameter: Parameter, consumer: ToolDoc | None
) -> float | None:
    """Return 1 or 0 as an administrator marked this field for the parameter, or None without a mark."""
    for mark in consumer.feed_marks if consumer is not None else ():
        if (mark.source, mark.field, mark.parameter) == (producer.id, field.path, parameter.name):
            return float(mark.fills)
    return None


def _score_by_entity(
    field: OutputField,
    producer: ToolDoc,
    parameter: Parameter,
    consumer: ToolDoc | None,
    service: ServiceEntities | None,
) -> float | None:
    """Score a field by its entity; None if the entity of either side is unknown or not decisive."""
    if consumer is None or service is None:
        return None
    input_slot = service.resolve_input(consumer, parameter)
    field_slot = service.resolve_field(producer, field) if input_slot is not None else None
    if input_slot is None or field_slot is None or input_slot.form != field_slot.form:
        return None
    if input_slot.form not in IDENTITY and not (input_slot.entities & field_slot.entities):
        return None
    if not input_slot.entities & field_slot.entities:
        return 0.0
    score = 1.0 if split_words(field.name) == split_words(parameter.name) and len(split_words(field.name)) > 1 else 0.95
    score *= 1.0 if input_slot.explicit and field_slot.explicit else _DESCRIPTION_FACTOR
    return score * (1.0 if input_slot.spelling in (field_slot.spelling, "") else _OTHER_SPELLING_FACTOR)


def _repeats_input(field: OutputField, producer: ToolDoc) -> bool:
    """Return whether a field is named like an input of the producer; in a list, like a required one."""
    if not producer.parameters:
        return False
    name_words = split_words(field.name)
    required_flags = [
        parameter.required for parameter in producer.parameters if split_words(parameter.name) == name_words
    ]
    return any(required_flags) if "[]" in field.path else bool(required_flags)


def _is_setting(parameter: Parameter) -> bool:
    """Return whether an input is a setting rather than a subject: a flag, or an optional number like ``page``."""
    if parameter.type == "boolean":
        return True
    name_words = frozenset(split_words(parameter.name))
    return (
        not parameter.required
        and parameter.type in ("integer", "number")
        and name_words <= VAGUE_WORDS - IDENTIFYING_WORDS
    )


def find_couplings(
    fields: tuple[OutputField, ...],
    producer: ToolDoc,
    parameter: Parameter,
    consumer: ToolDoc | None = None,
    service: ServiceEntities | None = None,
    *,
    echoes: bool = True,
) -> list[FieldCoupling]:
    """Return the fields with a score of at least :data:`MIN_COUPLING_SCORE`, best first.

    Ties go to the shallower, then the earlier field. ``service``: what is known of the service that both tools belong
    to; without it, only the two tools are considered.
    """
    if service is None and consumer is not None and get_service_key(producer) == get_service_key(consumer):
        service = ServiceEntities([(producer, fields), (consumer, output_fields(consumer))], complete=False)
    index = _index_by_word(fields)
    wanted_words = {*split_words(parameter.name), *(IDENTITY if parameter.type in ("array", "object") else ())}
    candidates = {field for word in wanted_words for field in index.get(word, ())}
    known_paths = {flow.field for flow in parameter.flows if flow.source == producer.id}
    known_paths |= {link.field for link in parameter.filled if link.source == producer.id}
    known_paths |= (
        {mark.field for mark in consumer.feed_marks if mark.source == producer.id} if consumer else set[str]()
    )
    candidates |= {field for field in fields if field.path in known_paths}
    scored = [
        FieldCoupling(field, score_coupling(field, producer, parameter, consumer, service, echoes=echoes))
        for field in candidates
    ]
    fitting = [coupling for coupling in scored if coupling.score >= MIN_COUPLING_SCORE]
    return sorted(fitting, key=lambda c: (-c.score, c.field.path.count("."), c.field.position))


def find_best_field(
    producer: ToolDoc, parameter: Parameter, consumer: ToolDoc | None = None, *, echoes: bool = True
) -> FieldCoupling | None:
    """Return the response field of ``producer`` that fits best; None below :data:`MIN_COUPLING_SCORE`."""
    fitting = find_couplings(output_fields(producer), producer, parameter, consumer, echoes=echoes)
    return fitting[0] if fitting else None


def _get_recorded_score(field: OutputField, producer: ToolDoc, parameter: Parameter) -> float:
    """Return the score of recorded calls: from :data:`MIN_COUPLING_SCORE` at a share of one half to 1 at a share of 1.

    0 if fewer than half, or only a single call, took the parameter from this field.
    """
    for flow in parameter.flows:
        if flow.source == producer.id and flow.field == field.path and flow.count > 1 and flow.share >= _MIN_FLOW_SHARE:
            return MIN_COUPLING_SCORE + (1 - MIN_COUPLING_SCORE) * (flow.share - _MIN_FLOW_SHARE) / (
                1 - _MIN_FLOW_SHARE
            )
    return 0.0


@lru_cache(maxsize=2048)
def _index_by_word(fields: tuple[OutputField, ...]) -> dict[str, tuple[OutputField, ...]]:
    """Index fields by the words of their names and aliases."""
    index: defaultdict[str, list[OutputField]] = defaultdict(list)
    for field in fields:
        for word in {*(split_words(field.name) or field.holder), *get_field_words(field)}:
            index[word].append(field)
    return {word: tuple(word_fields) for word, word_fields in index.items()}


def get_field_words(field: OutputField) -> tuple[str, ...]:
    """Return the words that name a field: its own, or those of the list around a nameless item."""
    return resolve_alias(split_words(field.name) or field.holder)


@lru_cache(maxsize=8192)
def get_subject_words(api: str) -> frozenset[str]:
    """Return the words of a tool's name without verbs: ``getCoauthors`` → coauthor."""
    return frozenset(split_words(api)) - _VERBS


def _collect_document_words(doc: ToolDoc) -> frozenset[str]:
    """Return the words of a tool's description and of its parameters' names."""
    return extract_words(doc.description) | {
        word for parameter in doc.parameters for word in split_words(parameter.name)
    }


def _score_name(
    output: OutputField, producer: ToolDoc, parameter: Parameter, consumer: ToolDoc | None, *, near: bool
) -> float:
    """Score in [0, 1] how well a field's name fits a parameter's name; the name factor of :func:`score_coupling`.

    ``near``: both tools may be of one service, so words of the producer's text count more.
    """
    wanted_words, own_words, holder = strip_role(split_words(parameter.name)), get_field_words(output), output.holder
    own_set, wanted_set = frozenset(own_words), frozenset(wanted_words)
    common = own_set & wanted_set
    if not common:
        return 0.0
    surplus, lacking = own_set - wanted_set, wanted_set - own_set
    if not surplus and not lacking and not wanted_set <= VAGUE_WORDS:
        return 1.0
    if own_set == wanted_set == _DAY_WORDS:
        return 0.65
    if own_set == wanted_set and consumer is not None and not consumer.safe and not wanted_set & IDENTITY:
        return 0.0  # the ``name`` of a thing to be created is not that of an existing thing
    supply_score = _score_supplied_words(lacking, holder, producer, near=near) if lacking else 1.0
    unexplained_words = surplus or (
        frozenset(holder) | get_subject_words(producer.api) if wanted_set <= VAGUE_WORDS else surplus
    )
    demand_score = (
        _score_requested_words(unexplained_words, parameter, consumer, exact=bool(surplus))
        if unexplained_words
        else 1.0
    )
    if wanted_set <= VAGUE_WORDS and not surplus and not unexplained_words:
        demand_score = 0.5
    score = min(supply_score, demand_score)
    same_head = find_head_word(own_words) == find_head_word(wanted_words)
    if surplus and surplus <= _NOTATION_WORDS and not lacking and not wanted_set <= VAGUE_WORDS:
        return max(score, 0.75)  # a ``currency_code`` where a currency is asked for
    if same_head and not lacking and not {wanted_words[-1], own_words[-1]} & VAGUE_WORDS:
        return max(score, 0.7)  # a kind of what is wanted: ``birth_city`` is a city
    if score >= MIN_COUPLING_SCORE or own_words[-1] != wanted_words[-1]:
        return score if same_head else score * 0.6
    return max(score, 0.6 * len(common - VAGUE_WORDS) / len(own_set | wanted_set))


def strip_role(name_words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a parameter's words without its role if what remains says something: ``source_id`` stays whole."""
    without_role = strip_role_words(name_words)
    return name_words if set(without_role) <= VAGUE_WORDS - _DAY_WORDS else without_role


def resolve_alias(name_words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the kind that a one-word name stands for (``town`` → city), else its words."""
    return (_KIND_OF[name_words[0]],) if len(name_words) == 1 and name_words[0] in _KIND_OF else name_words


def find_head_word(name_words: tuple[str, ...]) -> str:
    """Return the word that says what a thing is: the last one that is not a word of notation."""
    return next((word for word in reversed(name_words) if word not in _NOTATION_WORDS), name_words[-1])


def _score_supplied_words(lacking: frozenset[str], holder: tuple[str, ...], producer: ToolDoc, *, near: bool) -> float:
    """Score whether the holder or tool of a field supplies the words that the field's own name lacks.

    A mere mention in the text of another service's tool (``near`` is false) scores too low for a coupling. Otherwise
    every ``id`` would fit everywhere.
    """
    if lacking <= set(holder):
        return 0.95
    if lacking <= set(holder) | get_subject_words(producer.api):
        return 0.85
    mentioned = lacking <= set(holder) | get_subject_words(producer.api) | _collect_document_words(producer)
    return (0.7 if near else 0.5) if mentioned else 0.3


def _score_requested_words(
    surplus_words: frozenset[str], parameter: Parameter, consumer: ToolDoc | None, *, exact: bool
) -> float:
    """Score whether the parameter's description or tool mentions the words that only the field's name has.

    With ``exact`` all words must be mentioned, otherwise any of them is enough.
    """
    described = extract_words(parameter.description)
    about = (get_subject_words(consumer.api) | extract_words(consumer.description)) if consumer else frozenset[str]()
    for known_words, score in ((described, 0.9), (described | about, 0.8)):
        if surplus_words <= known_words or (not exact and surplus_words & known_words):
            return score
    return 0.4


def _score_types(field: JsonType | None, parameter: ParameterType) -> float:
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


def _score_example(example: JsonValue, parameter: Parameter) -> float:
    """Score a field's example against the parameter's id prefix and enum."""
    if isinstance(example, str) and isinstance(parameter.example, str):
        own = _PREFIX.match(parameter.example)
        if own and not example.startswith(own[0]):
            return 0.5
    if not parameter.enum:
        return _UNKNOWN_ENUM_FACTOR if '"enum"' in (parameter.json_schema or "") else 1.0
    if example is None:
        return _UNKNOWN_ENUM_FACTOR
    return 1.0 if str(example).casefold() in {str(value).casefold() for value in parameter.enum} else 0.4


def _score_same_example(example: JsonValue, parameter: Parameter) -> float:
    """Return the bonus for an example that equals the parameter's example or default."""
    parameter_values = {str(value) for value in (parameter.example, parameter.default) if value not in (None, "")}
    return 0.15 if example is not None and len(str(example)) >= 4 and str(example) in parameter_values else 0.0


Basis = Literal["said", "recorded", "entity", "names"]
"""Basis of a feed: an administrator's mark, recorded calls, the entity of both sides, or the names of both."""


def find_basis(
    field: OutputField, producer: ToolDoc, parameter: Parameter, consumer: ToolDoc, service: ServiceEntities | None
) -> Basis:
    """Return which of the rules of :func:`score_coupling` decided."""
    if _get_marked_score(field, producer, parameter, consumer) is not None:
        return "said"
    if _get_recorded_score(field, producer, parameter):
        return "recorded"
    return "entity" if _score_by_entity(field, producer, parameter, consumer, service) else "names"
