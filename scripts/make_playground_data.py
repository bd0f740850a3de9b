"""Makes the playground's catalogue and trajectories anew; the same bytes each time."""

import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer

from domain.errors import FootpathError
from playground.record import DATA, all_scenarios, catalogue_tools, write_catalogue, write_trajectories


def main(out: Annotated[Path, typer.Option(help="Folder to write to.")] = DATA) -> None:
    """Write the catalogue, and run every scenario against the server to write its trajectory."""
    try:
        catalogue = write_catalogue(out)
        count = write_trajectories(out, all_scenarios(), catalogue_tools(catalogue), lambda _: None)
    except FootpathError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3) from error
    print(f"{count} trajectories and the catalogue in {out}")


if __name__ == "__main__":
    typer.run(main)
