"""`evaluate.py recovery`: one of two equivalent operations is broken, and what used it is asked again, on a playground of its own."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from _evaluate_answers import fresh_store, switches
from _evaluate_output import scoring, tell
from rich.console import Console
from rich.table import Table

from agent.execution.approval import AllowChangesApprover
from agent.run_context import RunDeps
from domain.errors import UsageError
from evaluation.answers import ResettableServices, evaluate_answers
from evaluation.correctness import AnswerVerdict
from evaluation.evaluation_cases import HELD_OUT, EvaluationCase, read_evaluation_cases
from evaluation.recovery import BreakageRuns, break_each, summarize_breakages
from playground.child import running_playground
from playground.equivalents import EQUIVALENTS
from wiring.runs import build_budget, build_run_deps

REQUESTS = Path(__file__).parents[1] / "playground" / "requests"


def recovery(
    requests: Annotated[
        list[Path] | None, typer.Option(help="Requests with expected values, JSONL; by default the playground's.")
    ] = None,
    playground: Annotated[
        bool, typer.Option("--playground", help="Start a playground and build its store for this evaluation.")
    ] = False,
    policy: Annotated[str, typer.Option(help="Who decides: offline needs no model.")] = "offline",
    planner: Annotated[str, typer.Option(help="How to plan: dfs, thesis, react, cot, basic or retrieve.")] = "dfs",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Break each of two equivalent operations in turn: what was answered with its help, how much of it still is."""
    with scoring():
        if not playground:
            raise UsageError("recovery breaks services: it needs --playground, which starts some of its own")
        asked = read_evaluation_cases(requests or sorted(REQUESTS.glob("*.jsonl")))
        with running_playground() as address:
            figures = asyncio.run(_figures(asked, address, policy, planner))
    tell(figures, _show, as_json=as_json)


async def _figures(asked: Sequence[EvaluationCase], address: str, policy: str, planner: str) -> dict[str, Any]:
    async with fresh_store(address) as container, switches(address) as services:
        executor = await container.open_executor("http")

        async def deps() -> RunDeps:
            approver = AllowChangesApprover(container.settings.allow_hosts)
            return await build_run_deps(container, policy, executor, planner, approver=approver)

        async def ask(asked: Sequence[EvaluationCase], services: ResettableServices) -> tuple[AnswerVerdict, ...]:
            at_once = container.settings.evaluation_at_once
            return (await evaluate_answers(asked, deps, build_budget(container), services, at_once=at_once)).verdicts

        whole = await ask(asked, services)
        found = await break_each(whole, EQUIVALENTS, services, ask)
    return {"policy": policy, "planner": planner, **summarize_breakages(found), "failures": _failures(found)}


def _failures(found: Sequence[BreakageRuns]) -> list[dict[str, Any]]:
    """What was not gone around; of held-out requests nothing is shown."""
    return [
        {"broken": one.operation, "id": run.case.id, "request": run.case.request}
        for one in found
        for run in one.affected
        if not run.right and run.case.group != HELD_OUT
    ]


def _show(figures: dict[str, Any]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    table = Table(title="answered rightly with the operation broken", title_justify="left", box=None)
    for column in ("broken", "n", "right"):
        table.add_column(column, justify="left" if column == "broken" else "right")
    for name, row in {**figures["operations"], **figures["groups"], "overall": figures["overall"]}.items():
        table.add_row(name, str(row["n"]), str(row["right"]))
    out.print(table)
    for failure in figures["failures"]:
        out.print(f"{failure['id']} without {failure['broken']}: {failure['request']}", markup=False)
