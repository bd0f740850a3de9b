"""Eight sources of five tools each that no store has, with two requests for each tool: in its document's words, and in those of others.

The requests were written before any search was asked for them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from admission.limits import ReadLimits
from admission.reading_process import render_tools
from domain.tool import ToolDoc

_FILE = Path(__file__).parents[1] / "data" / "findable" / "sources.json"


@dataclass(frozen=True)
class NewSource:
    """``requests``: by tool, its request by the kind of words (``plain``, ``other``)."""

    tools: tuple[ToolDoc, ...]
    requests: Mapping[str, Mapping[str, str]]


def new_sources() -> list[NewSource]:
    """All of them."""
    return [_source(one) for one in json.loads(_FILE.read_text(encoding="utf-8"))]


def _source(one: dict[str, Any]) -> NewSource:
    title = one["document"]["info"]["title"]
    wanted = {"category": "New", "toolset": title, "server": ""}
    *found, _ = render_tools(orjson.dumps(one["document"]), wanted, ReadLimits())
    return NewSource(tuple(map(ToolDoc.model_validate_json, found)), one["requests"])
