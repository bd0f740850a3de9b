"""Long responses made short (thesis 4.3.3.3): the fields that a policy names, and only then a cut at the limit."""

import asyncio
from dataclasses import dataclass
from typing import cast

import orjson
from pydantic.types import JsonValue

from agent.compression.field_selection import FieldChoices
from agent.compression.json_paths import Selection, fields_of
from agent.compression.json_truncate import fitted, length, written
from agent.compression.markup_text import cut_text, readable, sound
from agent.policy.protocol import FieldsQuestion, Policy
from domain.tool import ToolDoc
from graph.lenient_json import is_too_deep, read_value

LIMIT = 1_024
"""Characters of a response that a policy is shown."""
_EXAMPLE = 4_096
_REPAIRED = 200_000
_CLOSED = ("}", "]", '"')
_UNFINISHED = " … (the response itself was cut off)"

Structure = dict[str, JsonValue] | list[JsonValue]


@dataclass(frozen=True, slots=True)
class Compressed:
    """``fields``: those kept; empty where all were. ``before`` and ``filtered``:
    characters of the response, and of what was left of it before the cut, if one was needed.
    """

    text: str
    fields: tuple[str, ...]
    before: int
    filtered: int
    cut: bool


async def compress(
    tool: ToolDoc, response: str, policy: Policy | None, choices: FieldChoices, limit: int = LIMIT
) -> Compressed | None:
    """What a policy is shown in place of a response, at most ``limit`` characters (at least 256); None where the response is short enough to be shown whole.

    Without a policy, as for the response of a failed call, nothing is chosen, only cut. Nor is it for a tool that changes something:
    nothing may come between such a call and the word of its outcome.
    Whatever a response holds, this raises nothing of its own, and takes time linear in its length.
    """
    if len(response) <= limit:
        return None
    value = await asyncio.to_thread(structure, response)
    whole = await asyncio.to_thread(shortened, response, value, (), limit)
    if value is None or not whole.cut or policy is None or not tool.safe:
        return whole
    question = await asyncio.to_thread(_question, tool, value)
    kept = await choices.choose(question, policy)
    return await asyncio.to_thread(shortened, response, value, kept, limit) if kept else whole


def _question(tool: ToolDoc, value: Structure) -> FieldsQuestion:
    return FieldsQuestion(tool, sound(fitted(value, _EXAMPLE)), fields_of(value))


def structure(response: str) -> Structure | None:
    """The object or list that a response holds, the cut end of one left out; None for any other text."""
    try:
        value = cast(JsonValue, orjson.loads(response))
    except orjson.JSONDecodeError:
        value = read_value(response[:_REPAIRED])
    if is_too_deep(value):
        return None
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = read_value(value)
    return value if isinstance(value, (dict, list)) and value else None


def shortened(response: str, value: Structure | None, kept: tuple[str, ...], limit: int = LIMIT) -> Compressed:
    """A response with only the ``kept`` fields (none named: all), cut if that is still too long. Deterministic.

    ``value`` is the response's :func:`structure`.
    """
    before = len(response)
    if value is None:
        plain = sound(readable(response, limit))
        left = len(plain) if len(plain) <= limit else max(len(plain), limit + 1)
        return Compressed(cut_text(plain, limit, before), (), before, left, len(plain) > limit)
    taken = Selection.of(kept).take(value) if kept else value
    mark = "" if response.rstrip().endswith(_CLOSED) else _UNFINISHED
    left = length(taken, before + limit) + len(mark)
    if left <= limit:
        return Compressed(sound(written(taken)) + mark, kept, before, left, False)
    return Compressed(sound(fitted(taken, limit - len(mark))) + mark, kept, before, left, True)
