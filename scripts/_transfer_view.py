"""What the scripts that move stores have in common: bars, messages, exit codes. All on stderr but the JSON object."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson
import typer
from _progress import console, progress_bars

from domain.errors import FootpathError, UnavailableError, UsageError

if TYPE_CHECKING:
    from graph.transfer.export_format import ExportCounts

__all__ = ["console", "ending", "print_json", "progress_bars", "said"]


@contextmanager
def ending(interrupted: str) -> Generator[None]:
    """Errors as a message and an exit code: 1 broken input, 2 wrong use, 3 not there, 130 interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise _stop(f"interrupted; {interrupted}", 130) from None
    except UsageError as error:
        raise _stop(str(error), 2) from error
    except UnavailableError as error:
        raise _stop(str(error), 3) from error
    except FootpathError as error:
        raise _stop(str(error), 1) from error


def _stop(message: str, code: int) -> typer.Exit:
    console.print(message, style="red", markup=False, soft_wrap=True)
    return typer.Exit(code)


def print_json(figures: dict[str, Any]) -> None:
    """One object on stdout."""
    sys.stdout.write(orjson.dumps(figures).decode() + "\n")


def said(counts: "ExportCounts") -> str:
    """The sizes of an export, for people."""
    text = f"{counts.documents:,} documents, {counts.nodes:,} nodes, {counts.edges:,} edges, {counts.keys:,} keys"
    text += f", {counts.memories:,} memories" if counts.memories else ""
    text += f", {counts.solutions:,} solutions" if counts.solutions else ""
    return f"{text}, {counts.calls:,} recorded calls" if counts.batches else text
