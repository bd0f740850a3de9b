"""Scores against requests whose relevant APIs are known."""

import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _answers_command import answers
from _evaluate_changes import changes
from _evaluate_couplings import couplings
from _evaluate_graph import graph
from _evaluate_learning import learning
from _evaluate_memory import memory
from _evaluate_offers import offers
from _evaluate_planning import planning
from _evaluate_programs import programs
from _evaluate_recovery import recovery
from _evaluate_retrieval import retrieval
from _evaluate_sequences import sequences
from _evaluate_soay import soay
from rich.console import Console

from domain.errors import FootpathError, UnavailableError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
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


for command in (
    answers, retrieval, planning, graph, offers, learning, recovery, changes, memory, sequences, couplings, programs, soay,
):  # fmt: skip
    app.command()(command)


if __name__ == "__main__":
    app()
