"""Reading of an untrusted MCP listing in a separate process: at worst a listing ends that process."""

from dataclasses import asdict
from typing import Any

import orjson

from admission.limits import ReadLimits
from admission.reading import Reading, in_turn
from domain.tool import ToolDoc
from graph.importers.mcp import Listing, McpSource


async def read_apart(tools: list[Any], source: McpSource, limits: ReadLimits | None = None) -> Listing:
    """Read a listing as :func:`graph.importers.mcp.read_listing` does, in a process with limits.

    Raises:
        BrokenInputError: the listing exceeds a limit; the message says what to do.
    """
    limits = limits or ReadLimits()
    given = asdict(source) | {"credentials": [one.model_dump(mode="json") for one in source.credentials]}
    wanted = orjson.dumps({"source": given, "limits": asdict(limits)})
    reading = Reading(f"{__package__}.listing_process", wanted, orjson.dumps(tools), limits)
    told, last = await reading.lines(f"the listing of the MCP server at {source.url}")
    docs = [ToolDoc.model_validate_json(line) async for line in in_turn(told)]
    return Listing(tuple(docs), tuple(str(one) for one in last["skipped"]))
