"""Makes the request files of `evaluate.py offers` from benchmarks that label requests with calls, for a store of their tools."""

import asyncio
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from rich.console import Console

from domain.errors import FootpathError, UnavailableError
from evaluation.corpora.needed_tools import Form, ResolvedLabels, ToolNameIndex, read_benchmark_requests, resolve_labels
from evaluation.offer_requests import write_offer_requests
from wiring.container import open_container

console = Console(stderr=True, highlight=False, soft_wrap=True)
PLAYGROUND = Path(__file__).parents[1] / "playground" / "requests"


def main(
    form: Annotated[Form, typer.Argument(help="Whose form the files have.")],
    out: Annotated[Path, typer.Option(help="File to write, JSONL.")],
    requests: Annotated[
        list[Path] | None, typer.Option(help="Files of the benchmark; the playground's own by default. Repeatable.")
    ] = None,
    domain: Annotated[str, typer.Option(help="Of files that hold several APIs' requests, the one to take.")] = "",
    store: Annotated[Path | None, typer.Option(help="Folder of the store with the benchmark's tools.")] = None,
) -> None:
    """Write each request with the ids of the tools that its label calls. Exit codes: 1 something was left out, 2 wrong use, 3 no store."""
    paths = requests or (sorted(PLAYGROUND.rglob("*.jsonl")) if form == "playground" else [])
    if not paths:
        console.print("no file is named: give --requests", style="red")
        raise typer.Exit(2)
    try:
        found = asyncio.run(_labels(form, paths, domain, store))
    except FootpathError as error:
        console.print(str(error), style="red", markup=False)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    write_offer_requests(found.requests, out)
    _tell(found, out)
    raise typer.Exit(1 if found.unmatched or not found.requests else 0)


async def _labels(form: Form, paths: list[Path], domain: str, store: Path | None) -> ResolvedLabels:
    async with open_container(store=store) as container:
        names = ToolNameIndex([document async for document in container.graph.stream_documents()])
    return resolve_labels(read_benchmark_requests(form, paths, domain), names)


def _tell(found: ResolvedLabels, out: Path) -> None:
    console.print(f"{len(found.requests)} requests in {out}", markup=False)
    for reason, count in found.left_out.items():
        console.print(f"left out: {count} ({reason})", style="yellow", markup=False)
    for name, count in sorted(found.unmatched.items(), key=lambda one: (-one[1], one[0])):
        console.print(f"no tool, or several, by the name {name}, in {count} requests", style="yellow", markup=False)


if __name__ == "__main__":
    typer.run(main)
