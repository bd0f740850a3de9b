"""Backs up all that a server has, into one folder, while it serves."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _transfer_view import console, ending, print_json, progress_bars, said

if TYPE_CHECKING:
    from graph.transfer.store_export import ExportResult


def main(
    to: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to make; a new one for each backup.")],
    keys_to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new file for the vault's keys, outside of the backup.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Rows, graph, memories, flows, recorded calls and kept fields of the server that the settings name. Vectors and words are made anew from these.

    Exit codes: 2 wrong use, 3 something is not there or cannot be written.
    """
    with ending("no folder was left under that name"):
        exported = _back_up(to, keys_to)
    console.print(f"{to}: rows; {said(exported.counts)}", markup=False, soft_wrap=True)
    if exported.learnt_meanwhile:
        lessons = f"{exported.learnt_meanwhile} runs were learnt from meanwhile"
        console.print(f"{lessons}: their lessons may be in it by half", markup=False, soft_wrap=True)
    if keys_to is None:
        console.print(
            "the vault's keys are not in it: keep a copy of them elsewhere (--keys-to FILE), for nobody opens users' tool keys without",
            markup=False,
            soft_wrap=True,
        )
    if as_json:
        print_json({"folder": str(to), "digest": exported.digest, "learnt_meanwhile": exported.learnt_meanwhile})


def _back_up(to: Path, keys_to: Path | None) -> "ExportResult":
    """Imported here: Ctrl-C while the program loads ends as it does later, and ``--help`` waits for nothing."""
    from server.backup.making import back_up
    from wiring.settings import read_settings

    with progress_bars() as progress:
        return asyncio.run(back_up(read_settings(), to, progress, keys_to))


if __name__ == "__main__":
    typer.run(main)
