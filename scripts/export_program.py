"""Exports what a run was answered by, or a solution, to where it runs without a question: Python, an MCP server, LangGraph."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _terminal import check_utf8

from agent.exporting.program_files import ExportedProgramFile, ExportForm, render_exported_file
from domain.errors import NotLinearError, UnavailableError, UsageError
from wiring.container import open_container
from wiring.program_export import export_program


def main(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN|SOLUTION",
            help="The id of a run, as scripts/ask.py says it, or of a solution; its beginning will do.",
        ),
    ],
    form: Annotated[ExportForm, typer.Option("--as", help="What to write: a file for one of these.")] = "python",
    to: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write it; without: to the terminal.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
) -> None:
    """Export the program of a run or a solution. Exit codes: 2 unknown id, or a program that cannot be exported, 3 no store."""
    try:
        check_utf8(name, "the id")
        if to is not None and to.exists() and not force:
            raise UsageError(f"{to} is there already: give another name, or --force")
        made = asyncio.run(_made(name, form, store))
        if to is not None:
            to.write_text(made.text, encoding="utf-8")
    except (UsageError, NotLinearError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    except OSError as error:
        print(f"{to} cannot be written: {error.strerror}; give another place", file=sys.stderr)
        raise typer.Exit(2) from error
    print(to if to is not None else made.text, end="\n" if to is not None else "")


async def _made(name: str, form: ExportForm, store: Path | None) -> ExportedProgramFile:
    async with open_container(store=store) as container:
        return render_exported_file(await export_program(container, name), form)


if __name__ == "__main__":
    typer.run(main)
