"""Starts the playground: a local server of small APIs to plan against."""

import sys
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer

from domain.errors import UnavailableError
from playground.serve import serve
from playground.soay.application import Scenario


def main(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any that is free.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    meteo: Annotated[
        bool, typer.Option("--meteo/--no-meteo", help="Keep the retired Meteo Classic service working.")
    ] = False,
    workshop: Annotated[
        bool, typer.Option("--workshop", help="Serve the workshop's API instead, which no trajectory knows.")
    ] = False,
    scenario: Annotated[
        Scenario | None,
        typer.Option("--scenario", help="Serve one of SoAyEval's services instead: scholar, works or books."),
    ] = None,
) -> None:
    """Serve the playground until Ctrl-C. Its catalogue is at /openapi.json, a page to try it at /docs."""
    try:
        serve(
            host, port, lambda address: print(f"playground: {address}", flush=True),
            meteo_in_service=meteo, workshop=workshop, scenario=scenario,
        )  # fmt: skip
    except UnavailableError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3) from error


if __name__ == "__main__":
    typer.run(main)
