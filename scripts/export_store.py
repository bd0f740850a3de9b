"""Exports a store to one file, from which the same store is made anywhere, on any back ends."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _transfer_view import console, ending, print_json, progress_bars, said

if TYPE_CHECKING:
    from graph.transfer.store_export import ExportResult


def main(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; a name in .gz is compressed.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the embedded store.")] = None,
    recordings: Annotated[bool, typer.Option("--recordings", help="The recorded calls as well.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where there is one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Documents, all facts with their evidence and applied keys; no vectors (they are made anew) and no settings.

    Exit codes: 2 wrong use, 3 the store is not there or the file cannot be written.
    """
    with ending("no file was left under that name"):
        exported = _export(to=to, store=store, recordings=recordings, replace=force)
        size = to.stat().st_size
    console.print(f"{to}: {said(exported.counts)}; {size:,} bytes", markup=False, soft_wrap=True)
    if exported.learnt_meanwhile:
        console.print(
            f"the graph's server has learnt from {exported.learnt_meanwhile} runs meanwhile: their lessons may be in it by half",
            markup=False,
            soft_wrap=True,
        )
    if as_json:
        learnt = {"learnt_meanwhile": exported.learnt_meanwhile}
        print_json({"file": str(to), **asdict(exported.counts), "bytes": size, "digest": exported.digest, **learnt})


def _export(*, to: Path, store: Path | None, **options: Any) -> "ExportResult":
    """Imported here: Ctrl-C while the program loads ends as it does later, and ``--help`` waits for nothing."""
    from wiring.store_transfer import export_store_file

    with progress_bars() as progress:
        return asyncio.run(export_store_file(to, store, progress, **options))


if __name__ == "__main__":
    typer.run(main)
