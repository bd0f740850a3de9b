"""Read values for a parameter from earlier responses: which field it is, and which item of a list."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameters.needs import Need
from agent.request_reader import feed_of
from domain.event import Feed
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc
from graph.coupling import couplings, subject
from graph.identifiers import singular, text_words, words
from graph.lenient_json import read_value
from graph.response_fields import OutputField, fields_of_value
from offline.nlp.gazetteer import STARTERS
from offline.nlp.superlatives import placed, ranked, ranks
from offline.slots.candidates import of_another

_MAX_LEAVES = 20_000
_NAMED = 2.0
"""Score of an item whose name stands in the request."""


@dataclass(frozen=True, slots=True)
class Fed:
    """A value of an earlier response."""

    value: JsonValue
    score: float
    reference: str
    """Step, counted from 1, and place in its response: ``2.items[0].lat``."""


@dataclass(frozen=True, slots=True)
class _Response:
    fields: tuple[OutputField, ...]
    leaves: dict[str, list[tuple[str, JsonValue]]]
    """Places and values by path."""


def fed(
    parameter: Parameter, need: Need, consumer: ToolDoc, request: str, earlier: Sequence[tuple[ToolDoc, StepResult]]
) -> list[Fed]:
    """Find the values of earlier responses that fit, best first.

    Later steps win ties, since they are nearer to the request's end. Of a list the item is taken whose texts the
    request names best, else the first.
    """
    found: list[Fed] = []
    for number, (producer, result) in enumerate(earlier, start=1):
        if result.status != "ok" or not result.response:
            continue
        response = _read(result.response)
        for coupling in couplings(response.fields, producer, parameter, consumer)[:3]:
            if of_another(coupling.field.path, need, consumer):
                continue
            leaves = response.leaves.get(coupling.field.path, [])
            about = _about(coupling.field, producer)
            place_value = _best_item(leaves, response, request, need, about)
            if place_value is not None:
                score = coupling.score + (-0.01 if need.role == "from" else 0.01) * number
                found.append(Fed(place_value[1], score, f"{number}.{place_value[0]}".rstrip(".")))
    return sorted(found, key=lambda value: -value.score)


@lru_cache(maxsize=64)
def _read(text: str) -> _Response:
    value = read_value(text)
    leaves: dict[str, list[tuple[str, JsonValue]]] = {}
    for count, (path, place, leaf) in enumerate(_walk(value, "", "", 0)):
        if count >= _MAX_LEAVES:
            break
        leaves.setdefault(path, []).append((place, leaf))
    return _Response(fields_of_value(value), leaves)


def _walk(value: JsonValue, path: str, place: str, depth: int) -> Iterator[tuple[str, str, JsonValue]]:
    """Yield path, place and value of each scalar of a response."""
    if depth > 12:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, f"{path}.{key}" if path else key, f"{place}.{key}" if place else key, depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, f"{path}[]", f"{place}[{index}]", depth + 1)
    elif value is not None and value != "":
        yield path, place, value


def _about(field: OutputField, producer: ToolDoc) -> frozenset[str]:
    """Collect the words that may refer to the list that a field is in."""
    return frozenset((*words(field.path), *field.holder)) | subject(producer.api) | text_words(producer.description)


def _best_item(
    leaves: list[tuple[str, JsonValue]], response: _Response, request: str, need: Need, about: frozenset[str]
) -> tuple[str, JsonValue] | None:
    """Select the leaf of the item that the request names best, else means by place or rank, else the first.

    None if no value fits.
    """
    fitting = [(place, value) for place, raw in leaves if (value := _fit(raw, need)) is not None]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    told = _item_scores(response, request)
    if max(told.get(_item(place), 0.0) for place, _ in fitting) < _NAMED:
        meant = _by_rank(fitting, response, request)
        meant = placed(request, len(fitting), about) if meant is None else meant
        if meant is not None:
            return fitting[meant]
    return max(enumerate(fitting), key=lambda entry: (told.get(_item(entry[1][0]), 0.0), -entry[0]))[1]


def _by_rank(fitting: Sequence[tuple[str, JsonValue]], response: _Response, request: str) -> int | None:
    """Select the item with the most, or the least, of what the request's superlative measures."""
    wanted = ranks(request)
    if not wanted:
        return None
    items = {_item(place): dict[str, JsonValue]() for place, _ in fitting}
    for path, found in response.leaves.items():
        for place, value in found:
            if _item(place) in items:
                items[_item(place)][path] = value
    values = [items[_item(place)] for place, _ in fitting]
    return next((found[0] for rank in wanted if (found := ranked(values, rank))), None)


def _item(place: str) -> str:
    """Return the innermost list item that holds a place: ``items[2].location.lat`` → ``items[2]``."""
    return place[: place.rfind("]") + 1]


def _item_scores(response: _Response, request: str) -> dict[str, float]:
    """Score the items of a response by how well the request names their texts."""
    wanted = {singular(word) for word in re.findall(r"\w+", request.lower())} - STARTERS
    lowered = request.lower()
    scores: dict[str, float] = {}
    for leaves in response.leaves.values():
        for place, value in leaves:
            if isinstance(value, bool):
                continue
            text = str(value)[:200].lower()
            own = {singular(word) for word in re.findall(r"\w+", text)} - STARTERS
            if own:
                whole = 2.0 if len(text) > 2 and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", lowered) else 0.0
                item = _item(place)
                scores[item] = scores.get(item, 0.0) + whole + len(own & wanted) / len(own)
    return scores


def _fit(value: JsonValue, need: Need) -> JsonValue:
    """Convert a value to the parameter's type; None if it does not fit."""
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


def feeding(parameter: Parameter, need: Need, tool: ToolDoc, path: Sequence[ToolDoc]) -> Feed | None:
    """Find the step of the path that feeds a parameter best; of equals the last."""
    return feed_of(parameter, tool, path, lambda field: not of_another(field, need, tool))
