"""Scores against requests whose relevant APIs are known."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command

from domain.errors import FootpathError, UnavailableError

_MODULES = {
    "answers": "_answers_command",
    **{
        name: f"_evaluate_{name}"
        for name in (
            "retrieval", "planning", "graph", "offers", "learning", "recovery", "changes", "memory", "sequences", "couplings",
            "programs", "soay", "mcp",
        )
    },
}  # fmt: skip
"""Of each command, the module with the function of its name."""


class _OneAtATime(TyperGroup):
    """Imports the command that is asked for, and no other: together they take longer than many a measurement."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *_MODULES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _MODULES:
            return super().get_command(ctx, cmd_name)
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(cmd_name)(getattr(import_module(_MODULES[cmd_name]), cmd_name))
        return get_command(alone)


app = typer.Typer(cls=_OneAtATime, add_completion=False, pretty_exceptions_enable=False)
console = Console(stderr=True)


@app.callback()
def evaluate() -> None:
    """Score a store. Exit codes: 1 a line could not be scored, 2 wrong use, 3 no store or file."""


@app.command()
def compression(
    calls: Annotated[Path | None, typer.Option(help="Recorded calls, JSONL, plain or gzip.")] = None,
    tools: Annotated[Path | None, typer.Option(help="Their documents; the examples in them are measured too.")] = None,
    requests: Annotated[
        list[Path] | None, typer.Option(help="Requests with calls and expected values, made of a playground.")
    ] = None,
    policy: Annotated[str, typer.Option(help="Who names the fields: offline needs no model.")] = "offline",
    limit: Annotated[int, typer.Option(min=256, help="Characters that a response may have.")] = 1_024,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How long responses are, how many are too long before and after compression, what it saves, what it keeps."""
    from _evaluate_compression import compression as measured
    from _evaluate_compression import show_compression

    try:
        figures, skipped = measured(calls, tools, requests or [], policy, limit)
    except FootpathError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    except KeyboardInterrupt:
        console.print("interrupted; nothing was measured")
        raise typer.Exit(130) from None
    for item in skipped:
        console.print(f"skipped {item}", style="yellow", markup=False, soft_wrap=True)
    if as_json:
        sys.stdout.write(orjson.dumps(figures).decode() + "\n")
    else:
        show_compression(figures)
    raise typer.Exit(1 if skipped else 0)


if __name__ == "__main__":
    app()
