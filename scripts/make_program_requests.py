"""Computes what requests of programs expect: runs the program of each line against a service that it starts, and writes the line anew."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import httpx
import typer

from domain.errors import FootpathError
from domain.tool import ToolDoc
from evaluation.expected import Asked, read_asked
from evaluation.gold_programs import GoldService, with_expectations
from graph.sources import read_tools
from playground.child import running_playground


def main(files: Annotated[list[Path], typer.Argument(help="Files of requests with programs; written in place.")]) -> None:
    """Fill in the expected values and changes. Of changes that a line has already, the arguments that it names are kept and no others."""
    try:
        for file in files:
            lines = computed(read_asked([file]))
            file.write_text("".join(f"{line_of(one)}\n" for one in lines), encoding="utf-8")
            print(f"{len(lines)} requests in {file}")
    except FootpathError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from error


def computed(asked: list[Asked]) -> list[Asked]:
    """The requests with what their programs say, in order."""
    done = {one.id: one for one in asked if not one.program}
    for service in sorted({one.service for one in asked if one.program}):
        with running_playground(workshop=service == "workshop") as address:
            with httpx.Client(base_url=address, timeout=20, trust_env=False) as client:
                running = GoldService(client, _operations(client))
                for one in asked:
                    if one.program and one.service == service:
                        done[one.id] = with_expectations(one, running)
    return [done[one.id] for one in asked]


def line_of(asked: Asked) -> str:
    """A line of the file: what is not as usual. The group is the file's name."""
    return asked.model_dump_json(exclude_defaults=True, exclude={"group"})


def _operations(client: httpx.Client) -> dict[str, ToolDoc]:
    with TemporaryDirectory() as folder:
        catalogue = Path(folder) / "openapi.json"
        catalogue.write_bytes(client.get("/openapi.json").raise_for_status().content)
        return {doc.api: doc for doc in read_tools(catalogue) if isinstance(doc, ToolDoc)}


if __name__ == "__main__":
    typer.run(main)
