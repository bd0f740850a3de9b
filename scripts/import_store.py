"""Makes a store from an export, on whatever back ends are named."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _transfer_view import console, ending, print_json, progress_bars, said

if TYPE_CHECKING:
    from wiring.store_transfer import StoreImportResult


def main(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A file that export_store.py wrote.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the embedded store.")] = None,
    embed: Annotated[bool, typer.Option("--embed/--no-embed", help="Index the tools for retrieval as well.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """The file is checked to its end before anything is written. Interrupted, the same command goes on.

    Exit codes: 1 the file is broken, 2 wrong use or a store that holds something else, 3 the store cannot be used.
    """
    with ending("what was written is kept. Run the same command again to go on from there"):
        imported = _import(source, store, embed=embed)
    export = imported.checked.export
    embedded = "" if imported.embedded is None else f"; {imported.embedded:,} tools indexed"
    console.print(f"{said(export.counts)}; {imported.written:,} written{embedded}", markup=False, soft_wrap=True)
    if as_json:
        figures = {"written": imported.written, "embedded": imported.embedded, "digest": export.digest}
        print_json({**asdict(export.counts), **figures})


def _import(source: Path, store: Path | None, *, embed: bool) -> "StoreImportResult":
    """Imported here: Ctrl-C while the program loads ends as it does later, and ``--help`` waits for nothing."""
    from wiring.store_transfer import import_store_file

    with progress_bars() as progress:
        return asyncio.run(import_store_file(source, store, progress, embed=embed))


if __name__ == "__main__":
    typer.run(main)
