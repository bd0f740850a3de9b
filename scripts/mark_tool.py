"""Says whether a tool reads or changes something: an administrator's word, which goes before its document's and its method's."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import _environment as _environment  # first: it tells where the packages are missing
import typer
from orjson import dumps

from domain.errors import UnavailableError, UsageError
from domain.tool import ToolDoc
from domain.tool_source import parse_source_id
from graph.tool_description import find_tool
from wiring.container import open_container

Word = Literal["reads", "changes", "clear"]


def main(
    name: Annotated[str, typer.Argument(metavar="TOOL", help="The tool: id, function or API name.")],
    word: Annotated[
        Word,
        typer.Argument(help="reads: called without asking. changes: asked about first. clear: as its document says."),
    ],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Mark what a call of TOOL does, or clear the mark; it counts from the next run on. Exit codes: 2 unknown or ambiguous name, 3 no store."""
    try:
        marked = asyncio.run(_mark(name, word, store))
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    effect = marked.effect
    if json:
        print(dumps({"tool": marked.id, "side_effect": {"kind": effect.kind, "by": effect.by}}).decode())
    else:
        print(f"{marked.id}: {effect.kind} ({effect.why})", file=sys.stderr)


async def _mark(name: str, word: Word, store: Path | None) -> ToolDoc:
    async with open_container(store=store) as container:
        tool = await find_tool(container.graph, name)
        document = (await container.graph.get_tools([tool])).get(tool)
        if document is None:
            raise UsageError(f"{tool!r} has no document, so it is never called: import one first")
        if source := parse_source_id(document.source):
            raise UsageError(
                f"{tool} is a tool of a source, which says what its calls do: correct its side effect there, on the source's page or by "
                f"PATCH /api/v1/sources/{source}/tools/{tool}, with the other corrections that stand (here it would be overwritten)"
            )
        marked = document.model_copy(update={"marked": "" if word == "clear" else word})
        await container.graph.put_tools([marked])
        return marked


if __name__ == "__main__":
    typer.run(main)
