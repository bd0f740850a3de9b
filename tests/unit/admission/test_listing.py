"""Listings of MCP servers that are read in a process of their own."""

from typing import Any

import pytest

from admission.limits import MIB, ReadLimits
from admission.sandboxed_reader import read_listing_sandboxed
from domain.errors import BrokenInputError
from domain.tool import Credential
from graph.importers.mcp import McpSource, read_listing

SOURCE = McpSource(
    "https://harbour.example/mcp", "ports", "Harbour", "All of a harbour.", (Credential(secret="k", name="X-Key"),), "Harbour"
)  # fmt: skip


def listed(name: str, schema: object, **more: object) -> dict[str, Any]:
    return {"name": name, "description": "The berth of a ship.", "inputSchema": schema, **more}


SHIP = {"type": "object", "properties": {"ship": {"type": "string", "description": "Its name."}}, "required": ["ship"]}


async def test_it_is_read_as_it_would_be_here() -> None:
    tools = [
        listed("berth_of", SHIP, outputSchema=SHIP),
        listed("", SHIP),
        listed("x", SHIP, annotations={"readOnlyHint": True}),
    ]
    found = await read_listing_sandboxed(tools, SOURCE)
    assert found == read_listing(tools, SOURCE)
    assert ([one.api for one in found.docs], len(found.skipped)) == (["berth_of", "x"], 1)


async def test_a_schema_of_a_hundred_thousand_fields_is_left_out_and_told() -> None:
    many = {"type": "object", "properties": {f"f{number}": {"type": "string"} for number in range(100_000)}}
    found = await read_listing_sandboxed([listed("huge", many), listed("berth_of", SHIP)], SOURCE)
    assert [one.api for one in found.docs] == ["berth_of"]
    assert "huge is left out: its document is longer" in found.skipped[0]


async def test_schemas_within_themselves_end_nothing() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"x": deep}}
    around = {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}
    found = await read_listing_sandboxed(
        [listed("deep", deep), listed("around", around), listed("berth_of", SHIP)], SOURCE
    )
    assert "berth_of" in [one.api for one in found.docs]


async def test_what_takes_more_than_it_may_ends_its_process_alone() -> None:
    tools = [listed(f"t{number}", SHIP | {"description": "x" * 50_000}) for number in range(400)]
    with pytest.raises(BrokenInputError, match=r"the listing of the MCP server at https://harbour.example/mcp"):
        await read_listing_sandboxed(tools, SOURCE, ReadLimits(memory=48 * MIB))
