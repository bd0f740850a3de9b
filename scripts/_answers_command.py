"""`evaluate.py answers`: its options, and what they come to."""

import sys
from pathlib import Path
from typing import Annotated

import orjson
import typer

from domain.errors import UsageError


def answers(
    requests: Annotated[
        list[Path] | None, typer.Option(help="Requests with expected values, JSONL; by default the playground's.")
    ] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    policy: Annotated[str, typer.Option(help="Who decides: offline needs no model.")] = "offline",
    planner: Annotated[
        str, typer.Option(help="How to plan: program, solution, dfs, thesis, react, cot, basic or retrieve.")
    ] = "dfs",
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
    solutions: Annotated[
        Path | None, typer.Option(help="With --playground: a store whose library of solutions is known from the start.")
    ] = None,
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

    from evaluation.evaluation_cases import read_evaluation_cases

    paths = requests or sorted((Path(__file__).parents[1] / "playground" / "requests").glob("*.jsonl"))
    stopped = False
    with scoring():
        asked = chosen(read_evaluation_cases(paths), lines, limit)
        if playground and store is not None:
            raise UsageError(
                "--playground builds a store of its own; leave --store out, or start the playground yourself"
            )
        if playground:
            who, pace = (
                Conditions(policy, planner, schemas, offer_tokens, slips, _store(solutions)),
                Pace(at_once or 4, patience),
            )
            figures, stopped = answers_apart(asked, who, pace, results, show_held_out=show_held_out)
        else:
            apart = {"at-once": at_once, "patience": patience, "no-schemas": not schemas, "offer-tokens": offer_tokens, "slips": slips, "solutions": solutions, "results": results}  # fmt: skip
            if given := [f"--{name}" for name, value in apart.items() if value]:
                raise UsageError(f"{', '.join(given)}: only with --playground, which starts services of its own")
            figures = evaluated(asked, store, address, policy, planner, show_held_out=show_held_out)
    if as_json:
        sys.stdout.write(orjson.dumps(figures).decode() + "\n")
    else:
        show_answers(figures)
    if stopped:
        raise typer.Exit(130)


def _store(folder: Path | None) -> str:
    """A store's folder as verdicts are kept under it."""
    return "" if folder is None else str(folder.resolve())
