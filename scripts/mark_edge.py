"""Pins, mutes or bans an edge of the graph: an administrator's word, which counts from the next run on."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import _environment as _environment  # first: it tells where the packages are missing
import typer
from orjson import dumps

from domain.errors import UnavailableError, UsageError
from graph.tool_description import find_tool
from wiring.container import open_container

Word = Literal["pin", "mute", "ban", "clear"]


def main(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The tool it leads from: id or function.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The tool it leads to, or Finish.")],
    mark: Annotated[Word, typer.Argument(help="pin: offered first. mute: a tenth of its weight. ban: never offered.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Mark the edge SOURCE -> TARGET, or clear its mark. Exit codes: 2 unknown or ambiguous name, 3 no store."""
    try:
        ends = asyncio.run(_mark(source, target, mark, store))
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    if json:
        print(dumps({"source": ends[0], "target": ends[1], "mark": None if mark == "clear" else mark}).decode())
    else:
        print(f"{ends[0]} -> {ends[1]}: {'no mark' if mark == 'clear' else mark}", file=sys.stderr)


async def _mark(source: str, target: str, mark: Word, store: Path | None) -> tuple[str, str]:
    async with open_container(store=store) as container:
        one, other = await find_tool(container.graph, source), await find_tool(container.graph, target)
        await container.graph.mark(one, other, None if mark == "clear" else mark)
        return one, other


if __name__ == "__main__":
    typer.run(main)
