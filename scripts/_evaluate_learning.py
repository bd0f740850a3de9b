"""`evaluate.py learning`: what the system learns from its own runs, as curves, against a playground of its own."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from _evaluate_answers import Who, fresh_store, switches
from _evaluate_output import scoring, tell
from rich.console import Console
from rich.table import Table

from agent.budget import BudgetMeter
from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import Executor
from agent.programs.program_request import ProgramRequest as AskedFor
from agent.resume import RunLog
from agent.solutions.selection import select_solution
from domain.errors import UsageError
from domain.event import Event
from evaluation.correctness import AnswerVerdict, judge
from evaluation.evaluation_cases import EvaluationCase, read_evaluation_cases
from evaluation.learning import PREFERS, RETURNS, compute_effort, count_taken_solutions, find_lost, measure_swap
from playground.child import running_playground
from playground.equivalents import EQUIVALENTS
from playground.near_misses import near_misses
from playground.paraphrases import EACH, FIRST, SECOND
from playground.swaps import swap_request
from playground.worlds.clock import TODAY
from wiring.container import Container
from wiring.runs import build_budget, build_run_deps, run_and_learn


def learning(
    playground: Annotated[
        bool, typer.Option("--playground", help="Start a playground, with stores of their own.")
    ] = False,
    policy: Annotated[str, typer.Option(help="Who decides: offline needs no model.")] = "offline",
    planner: Annotated[str, typer.Option(help="How: program takes solutions that are near.")] = "dfs",
    swaps: Annotated[bool, typer.Option(help="Break one of two equivalent tools, too.")] = True,
    each: Annotated[
        int, typer.Option(min=1, max=EACH, help="Requests and paraphrases of each of the ten kinds.")
    ] = EACH,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Break one of two equivalent tools and mend it: which is taken, run by run. Then: what is saved on paraphrases."""
    with scoring():
        if not playground:
            raise UsageError(
                "learning changes a store and breaks services: it needs --playground, which makes both anew"
            )
        with running_playground() as address:
            figures = asyncio.run(_figures(address, (policy, planner), each, swaps=swaps))
    tell(figures, _show, as_json=as_json)


async def _figures(address: str, who: Who, each: int, *, swaps: bool) -> dict[str, Any]:
    return {
        "policy": who[0],
        "planner": who[1],
        "swaps": await _swaps(address, who) if swaps else [],
        "memory": await _memory(address, who, each),
    }


async def _swaps(address: str, who: Who) -> list[dict[str, Any]]:
    """Each pair on a store of its own: what one teaches is not to help the next."""
    found: list[dict[str, Any]] = []
    for pair in EQUIVALENTS:
        async with fresh_store(address) as container, switches(address) as services:
            await services.reset()
            executor = await container.open_executor("http")

            async def ask(
                at: int, pair: tuple[str, str] = pair, container: Container = container, executor: Executor = executor
            ) -> Sequence[Event]:
                return await _run(swap_request(pair[0], at), container, who, executor, f"{pair[0]}-{at}")

            curve = await measure_swap(pair, ask, services.switch)
            found.append(curve.to_json() if curve else {"broken": None, "other": None, "pair": list(pair)})
    return found


async def _memory(address: str, who: Who, each: int) -> dict[str, Any]:
    """The paraphrases before the first requests were learnt from and after, on one store, and the near misses after.

    Where solutions are taken, the paraphrases after are learnt from, too: what was asked about once is known from then on.
    """
    first, second = (_some(read_evaluation_cases([path]), each) for path in (FIRST, SECOND))
    by_solutions = who[1] == "program"
    async with fresh_store(address) as container, switches(address) as services:
        await services.reset()
        executor = await container.open_executor("http")
        before = await _told(second, container, who, executor, learn=False)
        taught = await _told(first, container, who, executor, learn=True)
        after = await _told(second, container, who, executor, learn=by_solutions)
        near = await _near_misses(container, who, executor) if by_solutions else {}
    parts = {"before": before, "first": taught, "after": after}
    verdicts = {name: [verdict for verdict, _ in told] for name, told in parts.items()}
    figures: dict[str, Any] = {name: compute_effort(one) for name, one in verdicts.items()}
    figures["lost"] = find_lost(verdicts["before"], verdicts["after"])
    if by_solutions:
        figures["taken"] = {name: count_taken_solutions([events for _, events in told]) for name, told in parts.items()}
        figures["near_misses"] = near
    return figures


def _some(asked: Sequence[EvaluationCase], each: int) -> list[EvaluationCase]:
    """So many of each kind."""
    return [one for one in asked if int(one.id.rpartition("-")[2]) < each]


async def _near_misses(container: Container, who: Who, executor: Executor) -> dict[str, Any]:
    """Which of them a solution is taken for; nothing is run. The policy is asked as in a run."""
    found: dict[str, list[str]] = {"plain": [], "asked": []}
    requests = [str(one["request"]) for one in near_misses()]
    for request in requests:
        deps = await build_run_deps(container, who[0], executor, who[1])
        meter = BudgetMeter(build_budget(container), deps.planning.policy.cost)
        took = await select_solution(
            AskedFor(request, TODAY.isoformat()), deps, RunLog().get_memo(1), meter, follow_up=False
        )
        if took.event is not None:
            found.setdefault(took.event.how, []).append(request)
    return {"n": len(requests), **found}


Told = tuple[AnswerVerdict, Sequence[Event]]


async def _told(
    asked: Sequence[EvaluationCase], container: Container, who: Who, executor: Executor, *, learn: bool
) -> list[Told]:
    """What became of each, and its events."""
    told: list[Told] = []
    for one in asked:
        events = await _run(one.request, container, who, executor, f"{one.id}-{learn}", learn=learn)
        told.append((judge(one, events), events))
    return told


async def _run(
    request: str, container: Container, who: Who, executor: Executor, name: str, *, learn: bool = True
) -> list[Event]:
    approver = AllowChangesApprover(container.settings.allow_hosts)
    deps = await build_run_deps(container, who[0], executor, who[1], approver=approver)
    records = run_and_learn(request, deps, build_budget(container), learn=learn, name=name)
    return [record.event async for record in records]


def _show(figures: dict[str, Any]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    table = Table(title="b: the broken tool is taken first, o: the other", title_justify="left", box=None)
    for column in (
        "broken",
        "other",
        "before",
        "broken ",
        "mended",
        f"other within {PREFERS}",
        f"back within {RETURNS}",
    ):
        table.add_column(column)
    for one in figures["swaps"]:
        if one["broken"]:
            after, back = one["preferred_after"], one["back_after"]
            table.add_row(one["broken"], one["other"], *one["curve"].values(), str(after), str(back))
        else:
            table.add_row(*one["pair"], "neither is taken")
    if figures["swaps"]:
        out.print(table)
    rows = Table(box=None)
    for column in ("", "n", "right", "decisions", "considered", "s to plan", "model calls", "tokens"):
        rows.add_column(column, justify="right" if column else "left")
    names = {"before": "paraphrases before", "first": "first requests", "after": "paraphrases after"}
    for key, name in names.items():
        row = figures["memory"][key]
        told = (f"{row[field]:.2f}" for field in ("decisions", "considered", "plan_seconds", "model_calls"))
        rows.add_row(name, str(row["n"]), str(row["right"]), *told, f"{row['tokens']:.0f}")
    out.print(rows)
    _show_taken(out, figures["memory"], names)


def _show_taken(out: Console, figures: dict[str, Any], names: dict[str, str]) -> None:
    out.print(f"right before and wrong after: {', '.join(figures['lost']) or 'none'}")
    for key, told in figures.get("taken", {}).items():
        how = ", ".join(f"{count} {how}" for how, count in told.items())
        out.print(f"solutions taken, {names[key]}: {how}")
    if near := figures.get("near_misses"):
        passed = [*near["plain"], *near["asked"]]
        out.print(f"near misses that a solution was taken for: {len(passed)} of {near['n']}")
        for request in passed:
            out.print(f"  {request}", style="red", markup=False)
