"""Brings the server's tables up to date; the server does the same when it starts."""

import asyncio
import sys
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from orjson import dumps

from domain.errors import UnavailableError, UsageError
from server.storage.migration import migrate
from server.storage.storage import resolve_database_url
from wiring.settings import read_settings


def main(json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Bring the tables up to date; safe while others do the same. Exit codes: 2 a wrong setting, 3 no database."""
    try:
        before, after = asyncio.run(migrate(resolve_database_url(read_settings())))
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    if json:
        print(dumps({"before": before, "after": after}).decode())
    else:
        print(f"the tables have version {after}{'' if before == after else f', before: {before}'}", file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
