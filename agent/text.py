"""Text of tools and catalogues, made harmless and short before it is shown to a person or a model."""

import re
import unicodedata

from pydantic.types import JsonValue

from domain.tool import ToolDoc

_ORIGIN = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/]*")
_NON_WORD = re.compile(r"\W", re.ASCII)
_DROPPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories of characters without a glyph: control, format (bidi), surrogates, private, unassigned."""


def clean_text(text: str, limit: int = 200) -> str:
    """Return text as one line of at most ``limit`` characters, without control and format characters."""
    # Only a bounded prefix is examined, so that a huge response costs no time.
    spaced = "".join(
        " " if char.isspace() else char
        for char in text[: 4 * limit + 64]
        if char.isspace() or unicodedata.category(char) not in _DROPPED_CATEGORIES
    )
    line = " ".join(spaced.split())
    cut = len(line) > limit or len(text) > 4 * limit + 64
    return line[: limit - 1].rstrip() + "…" if cut and len(line) >= limit else line


def format_scalar(value: JsonValue, limit: int = 200) -> str:
    """Format a JSON value for a person; of a list or an object, only the first items are shown."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.10g}"
        case int():
            return str(value)[:40]
        case str():
            return clean_text(value, limit)
        case list():
            return clean_text(", ".join(format_scalar(item, 60) for item in value[:10]), limit)
        case _:
            return clean_text(
                ", ".join(f"{key} {format_scalar(item, 60)}" for key, item in list(value.items())[:8]), limit
            )


def shorten_tool_name(tool: ToolDoc) -> str:
    """Return the name of an operation without the path and method that web frameworks append to make it unique.

    ``cancel_booking_bookings__booking_id__delete``, called by ``DELETE /bookings/{booking_id}``, becomes
    ``cancel_booking``.
    """
    route, method = _NON_WORD.sub("_", _ORIGIN.sub("", tool.url)), f"_{tool.method.lower()}"
    name_without_method = tool.api.lower().removesuffix(method)
    if name_without_method == tool.api.lower():
        return tool.api
    suffixes = (route[start:] for start, char in enumerate(route) if char == "_")
    suffix = next(
        (
            candidate
            for candidate in suffixes
            if (len(candidate) > 1 or route == "_")
            and name_without_method.endswith(candidate.lower())
            and name_without_method != candidate.lower()
        ),
        "",
    )
    return tool.api[: len(name_without_method) - len(suffix)] if suffix else tool.api


def format_tool_title(tool: ToolDoc) -> str:
    """Return the toolset and the short name of a tool, cleaned."""
    return f"{clean_text(tool.toolset, 60)}/{clean_text(shorten_tool_name(tool), 60)}"


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text at four characters each, where no tokenizer is at hand."""
    return len(text) // 4 + 1
