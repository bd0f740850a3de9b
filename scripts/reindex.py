"""Indexes all tools anew on a Qdrant server: beside the vectors in use, which are switched at the end, at once."""

import asyncio
import sys
from dataclasses import asdict
from typing import Annotated

import orjson
import typer

from domain.errors import UnavailableError, UsageError
from wiring.reindex import reindex


def main(
    keep_former: Annotated[bool, typer.Option("--keep-former", help="Do not delete the vectors used so far.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Re-index with the encoder of the settings. Interrupted, it goes on where it was."""
    try:
        done = asyncio.run(reindex(_tell, keep_former=keep_former))
    except KeyboardInterrupt:
        print("interrupted; the vectors in use are as they were. Run it again to go on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    if as_json:
        print(orjson.dumps(asdict(done)).decode())
    print(f"{done.embedded:,} of {done.tools:,} tools embedded in {done.seconds:.1f} s", file=sys.stderr)
    for name in done.dropped:
        print(f"deleted {name}", file=sys.stderr)


def _tell(done: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} tools", end="", file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
