"""Shows a tool of the graph: its document, its evidence, and what comes after and before it."""

import asyncio
import sys
from json import dumps
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _terminal import check_utf8
from _tool_view import Shown, printable, rendered, told
from rich.console import Console

from agent.programs.signatures import build_signature
from domain.errors import UnavailableError, UsageError
from graph.tool_description import describe_tool
from wiring.container import open_container


def main(
    name: Annotated[str, typer.Argument(metavar="ID|NAME", help="A tool's id, its function, or the name of its API.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is known of a tool. Exit codes: 2 unknown or ambiguous name, 3 no store."""
    try:
        check_utf8(name, "the name")
        found = asyncio.run(_describe(name, store))
    except (UsageError, UnavailableError) as error:
        print(printable(str(error), keep="\n"), file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    if json:
        print(dumps(told(found), indent=2))
    else:
        Console().print(rendered(found))


async def _describe(name: str, store: Path | None) -> Shown:
    async with open_container(store=store) as container:
        found = await describe_tool(container.graph, name, container.weights)
        into, out = await container.graph.get_feeds_into(found.id), await container.graph.get_feeds_out(found.id)
        return Shown(found, build_signature(found.document) if found.document else None, into, out)


if __name__ == "__main__":
    typer.run(main)
