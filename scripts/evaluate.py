"""Scores against requests whose relevant APIs are known."""

import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
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

from domain.errors import FootpathError, UnavailableError, UsageError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(stderr=True)


@app.callback()
def evaluate() -> None:
    """Score a store. Exit codes: 1 a line could not be scored, 2 wrong use, 3 no store or file."""


@app.command()
def answers(
    requests: Annotated[
        list[Path] | None, typer.Option(help="Requests with expected values, JSONL; by default the playground's.")
    ] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    policy: Annotated[str, typer.Option(help="Who decides: offline needs no model.")] = "offline",
    planner: Annotated[str, typer.Option(help="How to plan: program, dfs, react, cot, basic or retrieve.")] = "dfs",
    address: Annotated[str, typer.Option(help="Where the playground runs.")] = "http://127.0.0.1:8765",
    playground: Annotated[
        bool, typer.Option("--playground", help="Start a playground and build its store for this evaluation.")
    ] = False,
    show_held_out: Annotated[
        bool, typer.Option("--show-held-out", help="Show failures of held-out requests too; never while tuning.")
    ] = False,
    at_once: Annotated[
        int | None, typer.Option(min=1, max=32, help="With --playground: runs at a time, 4 by default.")
    ] = None,
    patience: Annotated[
        float | None, typer.Option(min=1, help="With --playground: seconds that a model may take for one answer.")
    ] = None,
    schemas: Annotated[
        bool,
        typer.Option("--schemas/--no-schemas", help="With --playground: whether documents tell what tools answer."),
    ] = True,
    offer_tokens: Annotated[
        int | None, typer.Option(min=200, help="With --playground: tokens that the functions of an offer may take.")
    ] = None,
    slips: Annotated[
        float, typer.Option(min=0, max=1, help="With --playground: share of requests whose first program gets a slip.")
    ] = 0.0,
    lines: Annotated[str, typer.Option(help="all, even (to tune on) or odd (to report).")] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first of them.")] = None,
    results: Annotated[
        Path | None, typer.Option(help="With --playground: keep verdicts here, and go on from those that are there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How many requests are answered rightly, against the playground: by group, with the cause of each failure, and at what cost."""
    from _answers_apart import Conditions, Pace, answers_apart, chosen
    from _evaluate_answers import answers as evaluated
    from _evaluate_answers import show_answers
    from _evaluate_output import scoring

    from evaluation.expected import read_asked

    paths = requests or sorted((Path(__file__).parents[1] / "playground" / "requests").glob("*.jsonl"))
    stopped = False
    with scoring():
        asked = chosen(read_asked(paths), lines, limit)
        if playground and store is not None:
            raise UsageError(
                "--playground builds a store of its own; leave --store out, or start the playground yourself"
            )
        if playground:
            who, pace = Conditions(policy, planner, schemas, offer_tokens, slips), Pace(at_once or 4, patience)
            figures, stopped = answers_apart(asked, who, pace, results, show_held_out=show_held_out)
        else:
            apart = {"at-once": at_once, "patience": patience, "no-schemas": not schemas, "offer-tokens": offer_tokens, "slips": slips, "results": results}  # fmt: skip
            if given := [f"--{name}" for name, value in apart.items() if value]:
                raise UsageError(f"{', '.join(given)}: only with --playground, which starts services of its own")
            figures = evaluated(asked, store, address, policy, planner, show_held_out=show_held_out)
    if as_json:
        sys.stdout.write(orjson.dumps(figures).decode() + "\n")
    else:
        show_answers(figures)
    if stopped:
        raise typer.Exit(130)


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


app.command()(retrieval)
app.command()(planning)
app.command()(graph)
app.command()(offers)
app.command()(learning)
app.command()(recovery)
app.command()(changes)
app.command()(memory)
app.command()(sequences)
app.command()(couplings)
app.command()(programs)
app.command()(soay)


if __name__ == "__main__":
    app()
