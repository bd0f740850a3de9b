"""Starts the server: users, conversations and runs over HTTP."""

import sys
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer

from domain.errors import UnavailableError, UsageError


def main(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any that is free.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serve until Ctrl-C. The API is described at /openapi.json. Exit codes: 2 a wrong setting, 3 no database or no port."""
    from server.serve import serve
    from wiring.settings import read_settings

    try:
        serve(read_settings(), host, port, lambda address: print(f"server: {address}", flush=True))
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error


if __name__ == "__main__":
    typer.run(main)
