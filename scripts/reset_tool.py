"""Forgets what runs taught about a tool: its availability is what was imported, until it is called again."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from orjson import dumps

from domain.errors import UnavailableError, UsageError
from domain.tool import ToolId
from graph.links import LinkedGraph
from graph.tool_description import ToolDescription, describe_tool
from wiring.container import open_container


def main(
    name: Annotated[str, typer.Argument(metavar="TOOL", help="The tool: id, function or API name.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Forget the live calls, scores and lessons of TOOL, and what its answers were learnt to look like; what was imported and how often it was walked stay. Exit codes: 2 unknown or ambiguous name, 3 no store."""
    try:
        before, after = asyncio.run(_reset(name, store))
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    if json:
        availability = {"before": before.availability, "after": after.availability}
        print(dumps({"tool": after.id, "forgotten": len(before.runs), "availability": availability}).decode())
    else:
        print(
            f"{after.id}: {len(before.runs)} runs forgotten; availability {_told(before)} -> {_told(after)}",
            file=sys.stderr,
        )


async def _reset(name: str, store: Path | None) -> tuple[ToolDescription, ToolDescription]:
    async with open_container(store=store) as container:
        before = await describe_tool(container.graph, name, container.weights)
        await container.graph.forget([before.id])
        await _forget_answers(container.graph, before.id)
        return before, await describe_tool(container.graph, before.id, container.weights)


async def _forget_answers(graph: LinkedGraph, tool: ToolId) -> None:
    documents = (await graph.get_tools([tool])).values()
    cleared = [one.model_copy(update={"learnt_response": None}) for one in documents if one.learnt_response]
    if cleared:
        await graph.put_tools(cleared)
        await graph.expect_links({}, [tool])


def _told(found: ToolDescription) -> str:
    return "untested" if found.availability is None else f"{found.availability:.2f}"


if __name__ == "__main__":
    typer.run(main)
