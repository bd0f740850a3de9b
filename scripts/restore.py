"""Makes a server out of a backup, where nothing is yet."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _transfer_view import console, ending, print_json, progress_bars

if TYPE_CHECKING:
    from server.backup.restoring import Restored


def main(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What backup.py has made.")],
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The vault's keys, as --keys-to wrote them.")
    ] = None,
    unsigned: Annotated[
        bool,
        typer.Option(
            help="Also a backup of before backups were signed: only one that has been in your own hands since."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Into the home, or database, and the store that the settings name, which must be empty. Runs that were under way are ended, and everybody logs in anew.

    Exit codes: 1 the backup is not whole, 2 wrong use, other keys, something is there already, 3 something is not there or cannot be written.
    """
    with ending("the same command goes on"):
        done = _restore(folder, keys, unsigned=unsigned)
    text = f"restored as of {done.at:%Y-%m-%d %H:%M} UTC: {done.tools:,} tools indexed, {done.ended} runs that were under way ended"
    console.print(text, markup=False, soft_wrap=True)
    if as_json:
        print_json({"at": done.at.isoformat(), "tools": done.tools, "ended": done.ended})


def _restore(folder: Path, keys: Path | None, *, unsigned: bool) -> "Restored":
    from server.backup.restoring import restore
    from wiring.settings import read_settings

    with progress_bars() as progress:
        return asyncio.run(restore(read_settings(), folder, progress, keys, unsigned=unsigned))


if __name__ == "__main__":
    typer.run(main)
