"""Admits and withdraws tools of a store, over and over, until it is killed: ``python -m tests.support.admission_process [STORE]``; without one, of the store that the environment names."""

import asyncio
import sys
from pathlib import Path

from domain.tool import Parameter, ToolDoc, make_tool_id
from domain.tool_source import make_source_mark
from wiring.container import open_container
from wiring.tool_admission import admit, withdraw

NAMES = ("find_berth", "list_pilots", "read_tide", "book_crane")


def harbour_tool(name: str) -> ToolDoc:
    """One of a source's."""
    return ToolDoc(
        id=make_tool_id("Ships", "harbour", name), category="Ships", toolset="harbour", api=name, function=name,
        url=f"http://127.0.0.1:9/{name}", description=f"Harbour: {name.replace('_', ' ')} for ships.",
        parameters=(Parameter(name="latitude", type="number", required=True),), source=make_source_mark("s1"),
        example_response='{"longitude": 2.5}',
    )  # fmt: skip


TOOLS = tuple(harbour_tool(name) for name in NAMES)


async def change_for_ever(store: Path | None) -> None:
    """Tell of the first change, and go on."""
    async with open_container(None, store) as container:
        while True:
            await admit(container, TOOLS[:2])
            print("begun", flush=True)
            await admit(container, TOOLS[2:])
            await withdraw(container, [tool.id for tool in TOOLS[1:3]])
            await withdraw(container, [TOOLS[0].id, TOOLS[3].id])


if __name__ == "__main__":
    asyncio.run(change_for_ever(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
