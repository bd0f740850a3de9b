"""Compression of long responses (thesis 4.3.3.3): first the fields that a policy selects, then a cut at the limit."""

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
"""Characters of the example from which a policy chooses fields."""
_REPAIRED = 200_000
"""Characters of broken JSON that are repaired; the repair is much slower than parsing."""
_CLOSED = ("}", "]", '"')
"""Last characters of a complete JSON object, list or string."""
_UNFINISHED = " … (the response itself was cut off)"

Structure = dict[str, JsonValue] | list[JsonValue]


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compressed response."""

    text: str
    """The text to show."""
    fields: tuple[str, ...]
    """Fields that were kept; empty if all were."""
    before: int
    """Characters of the response."""
    filtered: int
    """Characters left by the selection of fields, before any cut."""
    cut: bool
    """True if it still had to be cut at the limit."""


async def compress(
    tool: ToolDoc, response: str, policy: Policy | None, choices: FieldChoices, limit: int = LIMIT
) -> Compressed | None:
    """Compress a response to at most ``limit`` characters (256 or more); None if it is short enough already.

    It is only cut, with no fields selected, if there is no policy (as for the response of a failed call), and for a
    tool that changes something: no call of a model may delay or fail the report of such a change.

    Foreign responses must not break a run, so this raises no error for any content and takes linear time.
    """
    if len(response) <= limit:
        return None
    # In threads, as responses may have megabytes.
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
    """Parse a response that is a JSON object or list, without its end if it was cut off; None for any other text.

    JSON inside a JSON string is parsed as well, since some tools encode their result twice.
    """
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
    """Reduce a response to the ``kept`` fields, or to all if that is empty, and cut it if it is still too long.

    ``value``: the parsed response, from :func:`structure`.
    """
    before = len(response)
    if value is None:
        plain = sound(readable(response, limit))
        # ``readable`` stops soon after the limit, so for a longer text this is not its full length.
        left = len(plain) if len(plain) <= limit else max(len(plain), limit + 1)
        return Compressed(cut_text(plain, limit, before), (), before, left, len(plain) > limit)
    taken = Selection.of(kept).take(value) if kept else value
    mark = "" if response.rstrip().endswith(_CLOSED) else _UNFINISHED
    left = length(taken, before + limit) + len(mark)
    if left <= limit:
        return Compressed(sound(written(taken)) + mark, kept, before, left, False)
    return Compressed(sound(fitted(taken, limit - len(mark))) + mark, kept, before, left, True)
