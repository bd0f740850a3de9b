"""Read values for a parameter from earlier responses: the field that fits, and the right item of a list."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameter_needs import ParameterNeed
from agent.request_reader import find_feed
from domain.event import Feed
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc
from graph.coupling import find_couplings, get_subject_words
from graph.identifiers import extract_words, singularize, split_words
from graph.lenient_json import read_value
from graph.response_fields import OutputField, read_fields
from offline.nlp.gazetteer import STARTERS
from offline.nlp.superlatives import find_extreme, find_rank_criteria, resolve_ordinal
from offline.slots.span_readings import is_other_name

_MAX_LEAVES = 20_000
"""Scalars of a response that are read."""
_NAMED_SCORE = 2.0
"""Score from which an item counts as named by the request."""


@dataclass(frozen=True, slots=True)
class ResponseValue:
    """A value of an earlier response."""

    value: JsonValue
    score: float
    """Score of the coupling; later steps have a little more."""
    reference: str
    """The step, counted from 1, and the place in its response: ``2.items[0].lat``."""


@dataclass(frozen=True, slots=True)
class _ParsedResponse:
    """A response as fields and scalars."""

    fields: tuple[OutputField, ...]
    leaves: dict[str, list[tuple[str, JsonValue]]]
    """Places and values of its scalars by path; a path has ``[]`` where a place has an index."""


def find_response_values(
    parameter: Parameter,
    need: ParameterNeed,
    consumer: ToolDoc,
    request: str,
    earlier: Sequence[tuple[ToolDoc, StepResult]],
) -> list[ResponseValue]:
    """Find the values of earlier responses that fit a parameter, best first.

    Later steps win ties, since they are nearer to the request's end; for the start of a pair, earlier ones do. Of a
    list the item is taken that the request names best, else the one that it means by rank or ordinal, else the first.
    """
    values: list[ResponseValue] = []
    for number, (producer, result) in enumerate(earlier, start=1):
        if result.status != "ok" or not result.response:
            continue
        response = _parse_response(result.response)
        for coupling in find_couplings(response.fields, producer, parameter, consumer)[:3]:
            if is_other_name(coupling.field.path, need, consumer):
                continue
            leaves = response.leaves.get(coupling.field.path, [])
            list_words = _collect_list_words(coupling.field, producer)
            place_value = _select_item(leaves, response, request, need, list_words)
            if place_value is not None:
                # Later steps win ties; for the start of a pair, earlier ones do.
                score = coupling.score + (-0.01 if need.role == "from" else 0.01) * number
                values.append(ResponseValue(place_value[1], score, f"{number}.{place_value[0]}".rstrip(".")))
    return sorted(values, key=lambda value: -value.score)


@lru_cache(maxsize=64)
def _parse_response(text: str) -> _ParsedResponse:
    value = read_value(text)
    leaves: dict[str, list[tuple[str, JsonValue]]] = {}
    for count, (path, place, leaf) in enumerate(_walk_leaves(value, "", "", 0)):
        if count >= _MAX_LEAVES:
            break
        leaves.setdefault(path, []).append((place, leaf))
    return _ParsedResponse(read_fields(value), leaves)


def _walk_leaves(value: JsonValue, path: str, place: str, depth: int) -> Iterator[tuple[str, str, JsonValue]]:
    """Yield path, place and value of each scalar of a response."""
    if depth > 12:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk_leaves(
                item, f"{path}.{key}" if path else key, f"{place}.{key}" if place else key, depth + 1
            )
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk_leaves(item, f"{path}[]", f"{place}[{index}]", depth + 1)
    elif value is not None and value != "":
        yield path, place, value


def _collect_list_words(field: OutputField, producer: ToolDoc) -> frozenset[str]:
    """Collect the words by which a request may refer to the list that holds a field."""
    return (
        frozenset((*split_words(field.path), *field.holder))
        | get_subject_words(producer.api)
        | extract_words(producer.description)
    )


def _select_item(
    leaves: list[tuple[str, JsonValue]],
    response: _ParsedResponse,
    request: str,
    need: ParameterNeed,
    list_words: frozenset[str],
) -> tuple[str, JsonValue] | None:
    """Select the scalar of the item that the request names best, else means by rank or ordinal, else the first.

    Returns:
        The place and the converted value; None if no value fits the parameter.
    """
    fitting = [(place, value) for place, raw in leaves if (value := _convert_value(raw, need)) is not None]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    scores = _score_items(response, request)
    if max(scores.get(_get_item_place(place), 0.0) for place, _ in fitting) < _NAMED_SCORE:
        index = _select_by_rank(fitting, response, request)
        index = resolve_ordinal(request, len(fitting), list_words) if index is None else index
        if index is not None:
            return fitting[index]
    return max(enumerate(fitting), key=lambda entry: (scores.get(_get_item_place(entry[1][0]), 0.0), -entry[0]))[1]


def _select_by_rank(fitting: Sequence[tuple[str, JsonValue]], response: _ParsedResponse, request: str) -> int | None:
    """Return the index of the item with the most, or the least, of what the request's superlative measures."""
    criteria = find_rank_criteria(request)
    if not criteria:
        return None
    items = {_get_item_place(place): dict[str, JsonValue]() for place, _ in fitting}
    for path, place_values in response.leaves.items():
        for place, value in place_values:
            if _get_item_place(place) in items:
                items[_get_item_place(place)][path] = value
    values = [items[_get_item_place(place)] for place, _ in fitting]
    return next((place_values[0] for rank in criteria if (place_values := find_extreme(values, rank))), None)


def _get_item_place(place: str) -> str:
    """Return the innermost list item that holds a place: ``items[2].location.lat`` → ``items[2]``."""
    return place[: place.rfind("]") + 1]


def _score_items(response: _ParsedResponse, request: str) -> dict[str, float]:
    """Score the items of a response by how well the request names their texts."""
    request_words = {singularize(word) for word in re.findall(r"\w+", request.lower())} - STARTERS
    lowered = request.lower()
    scores: dict[str, float] = {}
    for leaves in response.leaves.values():
        for place, value in leaves:
            if isinstance(value, bool):
                continue
            text = str(value)[:200].lower()
            value_words = {singularize(word) for word in re.findall(r"\w+", text)} - STARTERS
            if value_words:
                exact_match = 2.0 if len(text) > 2 and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", lowered) else 0.0
                item = _get_item_place(place)
                scores[item] = scores.get(item, 0.0) + exact_match + len(value_words & request_words) / len(value_words)
    return scores


def _convert_value(value: JsonValue, need: ParameterNeed) -> JsonValue:
    """Convert a value to the parameter's type; None if it does not fit type, bounds or enum."""
    if isinstance(value, (dict, list)) or value is None:
        return None
    if need.enum and value not in need.enum:
        return None
    if need.type == "any":
        return value
    if need.type == "array":
        return [value]
    if need.type == "string":
        return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    if need.type == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if need.type == "integer" and not number.is_integer():
        return None
    if (need.minimum is not None and number < need.minimum) or (need.maximum is not None and number > need.maximum):
        return None
    return int(number) if isinstance(value, int) or need.type == "integer" else number


def find_input_feed(parameter: Parameter, need: ParameterNeed, tool: ToolDoc, path: Sequence[ToolDoc]) -> Feed | None:
    """Find the step of the path that feeds a parameter best; the last of several that are equal."""
    return find_feed(parameter, tool, path, lambda field: not is_other_name(field, need, tool))
