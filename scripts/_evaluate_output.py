"""What the commands of `evaluate.py` share: how they end, and how they tell what they found."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
import typer
from rich.console import Console

from domain.errors import BrokenInputError, UnavailableError, UsageError

console = Console(stderr=True)

_NAMED = 20
"""Lines that are named one by one."""


@contextmanager
def scoring(interrupted: str = "interrupted; nothing was scored") -> Generator[None]:
    """Errors to a line on stderr and an exit code: 2 wrong use or an unreadable file, 3 no store, 130 stopped."""
    try:
        yield
    except (UsageError, UnavailableError, BrokenInputError) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    except KeyboardInterrupt:
        console.print(interrupted)
        raise typer.Exit(130) from None


def name_skipped(skipped: Sequence[object]) -> None:
    """Name what was left out on stderr, the first ones of many."""
    for item in skipped[:_NAMED]:
        console.print(f"skipped {item}", style="yellow", markup=False, soft_wrap=True)
    if len(skipped) > _NAMED:
        console.print(f"skipped {len(skipped) - _NAMED} more", style="yellow")


def tell(
    figures: dict[str, Any], show: Callable[[dict[str, Any]], None], *, as_json: bool, skipped: Sequence[object] = ()
) -> None:
    """The figures, as JSON or shown; lines that could not be scored are named first, the first of many, and make the exit code 1."""
    name_skipped(skipped)
    if as_json:
        sys.stdout.write(orjson.dumps(figures).decode() + "\n")
    else:
        show(figures)
    if skipped:
        raise typer.Exit(1)
