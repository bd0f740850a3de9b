"""Compression of long responses (thesis 4.3.3.3): first the fields that a policy selects, then a cut at the limit."""

import asyncio
from dataclasses import dataclass
from typing import cast

import orjson
from pydantic.types import JsonValue

from agent.compression.field_selection import FieldChoices
from agent.compression.json_paths import PathSelection, list_field_paths
from agent.compression.json_truncation import dump_compact, measure_length, truncate_json
from agent.compression.markup_text import cut_text, extract_text, replace_surrogates
from agent.policy.protocol import FieldsQuestion, Policy
from domain.tool import ToolDoc
from graph.lenient_json import is_too_deep, read_value

COMPRESSION_LIMIT = 1_024
"""Characters of a response that a policy is shown."""
_MAX_EXAMPLE_CHARS = 4_096
"""Characters of the example from which a policy chooses fields."""
_MAX_REPAIRED_CHARS = 200_000
"""Characters of broken JSON that are repaired; the repair is much slower than parsing."""
_CLOSING_CHARACTERS = ("}", "]", '"')
"""Last characters of a complete JSON object, list or string."""
_UNFINISHED_NOTE = " … (the response itself was cut off)"

JsonStructure = dict[str, JsonValue] | list[JsonValue]


@dataclass(frozen=True, slots=True)
class CompressedResponse:
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


async def compress_response(
    tool: ToolDoc, response: str, policy: Policy | None, choices: FieldChoices, limit: int = COMPRESSION_LIMIT
) -> CompressedResponse | None:
    """Compress a response to at most ``limit`` characters (256 or more); None if it is short enough already.

    It is only cut, with no fields selected, if there is no policy (as for the response of a failed call), and for a
    tool that changes something: no call of a model may delay or fail the report of such a change.

    Foreign responses must not break a run, so this raises no error for any content and takes linear time.
    """
    if len(response) <= limit:
        return None
    # In threads, as responses may have megabytes.
    value = await asyncio.to_thread(parse_structure, response)
    truncated = await asyncio.to_thread(shorten_response, response, value, (), limit)
    if value is None or not truncated.cut or policy is None or not tool.safe:
        return truncated
    question = await asyncio.to_thread(_build_question, tool, value)
    kept_fields = await choices.choose(question, policy)
    return await asyncio.to_thread(shorten_response, response, value, kept_fields, limit) if kept_fields else truncated


def _build_question(tool: ToolDoc, value: JsonStructure) -> FieldsQuestion:
    return FieldsQuestion(tool, replace_surrogates(truncate_json(value, _MAX_EXAMPLE_CHARS)), list_field_paths(value))


def parse_structure(response: str) -> JsonStructure | None:
    """Parse a response that is a JSON object or list, without its end if it was cut off; None for any other text.

    JSON inside a JSON string is parsed as well, since some tools encode their result twice.
    """
    try:
        value = cast(JsonValue, orjson.loads(response))
    except orjson.JSONDecodeError:
        value = read_value(response[:_MAX_REPAIRED_CHARS])
    if is_too_deep(value):
        return None
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = read_value(value)
    return value if isinstance(value, (dict, list)) and value else None


def shorten_response(
    response: str, value: JsonStructure | None, kept_fields: tuple[str, ...], limit: int = COMPRESSION_LIMIT
) -> CompressedResponse:
    """Reduce a response to the ``kept_fields`` fields, or to all if that is empty, and cut it if it is still too long.

    ``value``: the parsed response, from :func:`parse_structure`.
    """
    original_chars = len(response)
    if value is None:
        plain = replace_surrogates(extract_text(response, limit))
        # ``readable`` stops soon after the limit, so for a longer text this is not its full length.
        remaining_chars = len(plain) if len(plain) <= limit else max(len(plain), limit + 1)
        return CompressedResponse(
            cut_text(plain, limit, original_chars), (), original_chars, remaining_chars, len(plain) > limit
        )
    selected = PathSelection.from_paths(kept_fields).select(value) if kept_fields else value
    end_note = "" if response.rstrip().endswith(_CLOSING_CHARACTERS) else _UNFINISHED_NOTE
    remaining_chars = measure_length(selected, original_chars + limit) + len(end_note)
    if remaining_chars <= limit:
        return CompressedResponse(
            replace_surrogates(dump_compact(selected)) + end_note, kept_fields, original_chars, remaining_chars, False
        )
    return CompressedResponse(
        replace_surrogates(truncate_json(selected, limit - len(end_note))) + end_note,
        kept_fields,
        original_chars,
        remaining_chars,
        True,
    )
