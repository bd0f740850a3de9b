"""Says whether a field of one tool's answers fills a parameter of another: an administrator's word, which goes before what documents tell."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import _environment as _environment  # first: it tells where the packages are missing
import typer
from orjson import dumps

from domain.errors import UnavailableError, UsageError
from domain.tool import FeedMark
from graph.document_marks import mark_feed
from graph.tool_description import find_tool
from wiring.container import open_container

Word = Literal["add", "forbid", "clear"]


def main(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The tool that answers: id or function.")],
    field: Annotated[str, typer.Argument(metavar="FIELD", help="The field of its answer: items[].id.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The tool that takes it: id or function.")],
    parameter: Annotated[str, typer.Argument(metavar="PARAMETER", help="The parameter that it fills.")],
    word: Annotated[Word, typer.Argument(help="add: it fills it. forbid: it never does. clear: as documents tell.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Add or forbid the feed SOURCE.FIELD -> TARGET.PARAMETER, or clear what was said of it; it counts from the next run on.

    Exit codes: 2 unknown or ambiguous name, or no such parameter, 3 no store.
    """
    try:
        mark = asyncio.run(_mark(source, field, target, parameter, word, store))
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    said = None if word == "clear" else word
    if json:
        row = {"source": mark[0].source, "field": field, "target": mark[1], "parameter": parameter, "mark": said}
        print(dumps(row).decode())
    else:
        print(f"{mark[0].source}.{field} -> {mark[1]}.{parameter}: {said or 'as documents tell'}", file=sys.stderr)


async def _mark(
    source: str, field: str, target: str, parameter: str, word: Word, store: Path | None
) -> tuple[FeedMark, str]:
    async with open_container(store=store) as container:
        one, other = await find_tool(container.graph, source), await find_tool(container.graph, target)
        mark = FeedMark(source=one, field=field, parameter=parameter, fills=word == "add")
        await mark_feed(container.graph, other, mark, clear=word == "clear")
        return mark, other


if __name__ == "__main__":
    typer.run(main)
