"""What tools answer: text for a model, bounded in size, with all that APIs say behind a fence; and the same as JSON for programs, which no model reads."""

import json
from collections.abc import Mapping
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic.types import JsonValue

from agent.llm.prompts import PromptFence

MOST = 16_000
"""Characters of an answer's text; of its JSON, too."""
RESULT = "footpath/result"
"""Where the JSON stands in an answer's ``_meta``. As ``structuredContent`` many clients would show it to their model in the text's place, where no
fence is; and what is sent there has to be declared in each tool's schema, which every conversation pays for.
"""
_CALLS = 50


def said(text: str, result: Mapping[str, Any] | None = None, *, error: bool = False) -> CallToolResult:
    """An answer. What is too large as JSON is left to the text."""
    told = {RESULT: dict(result)} if result is not None and len(json.dumps(result)) <= MOST else None
    content = [TextContent(type="text", text=text)]
    return CallToolResult(content=[*content], _meta=told, isError=error)


def wrong(text: str) -> CallToolResult:
    """An error, with what to do."""
    return said(text[:MOST], error=True)


def fenced(name: str, text: str, hint: str = "") -> str:
    """What others wrote, between marks that nobody could have guessed. ``hint``: what to do for what does not fit."""
    cut = len(text) - MOST
    more = f"\n({cut} characters more were left out{f': {hint}' if hint else ''})" if cut > 0 else ""
    return PromptFence().render_block(name, text[:MOST]) + more


def parsed(text: str) -> JsonValue:
    """An answer of a tool as the value that it is; the text where it is no JSON."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def calls_told(calls: list[JsonValue]) -> list[JsonValue]:
    """The first of a run's calls."""
    return calls[:_CALLS]
