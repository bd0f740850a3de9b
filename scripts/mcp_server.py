"""Serves a store to agents that speak the Model Context Protocol, over standard input and output (docs/mcp.md)."""

import asyncio
import logging
import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer

from domain.errors import UnavailableError, UsageError
from server.gateway.stdio import serve_stdio


def main(
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    policy: Annotated[
        str, typer.Option(help="Who plans what is asked: offline, or llm, the default where a model is set.")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Allow every change of a run, up to FOOTPATH_MAX_CHANGES, without asking.")
    ] = False,
) -> None:
    """Serve until the client closes the input. It is started by a client, rather than at a terminal.

    Exit codes: 2 wrong use, 3 no store, or it cannot be used.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    try:
        asyncio.run(serve_stdio(store, policy, yes=yes))
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


if __name__ == "__main__":
    typer.run(main)
