"""What the commands of a training have in common: sources of requests that are unlike those to be served."""

from typing import Annotated

import typer

from domain.errors import UsageError

Unlike = Annotated[
    list[str],
    typer.Option(help="SOURCE=N: of that source of trajectories N requests at most, none to judge by; repeatable."),
]


def counts(given: list[str]) -> dict[str, int]:
    """The number of requests by source. ``UsageError`` names the form."""
    found: dict[str, int] = {}
    for one in given:
        source, _, count = one.partition("=")
        if not (source and count.isdigit()):
            raise UsageError(f"--unlike wants SOURCE=N, not {one!r}")
        found[source] = int(count)
    return found
