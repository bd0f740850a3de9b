"""`evaluate.py learning`: what the system learns from its own runs, as curves, against a playground of its own."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from _evaluate_answers import fresh_store, switches
from _evaluate_output import scoring, tell
from rich.console import Console
from rich.table import Table

from agent.execution.approvers import AllowChanges
from agent.execution.executor import Executor
from domain.errors import UsageError
from domain.event import Event
from evaluation.correctness import Verdict, judge
from evaluation.expected import Asked, read_asked
from evaluation.learning import PREFERS, RETURNS, effort, swap
from playground.child import running_playground
from playground.equivalents import EQUIVALENTS
from playground.paraphrases import FIRST, SECOND
from playground.swaps import swap_request
from wiring.container import Container
from wiring.runs import budget_of, run_and_learn, run_deps


def learning(
    playground: Annotated[
        bool, typer.Option("--playground", help="Start a playground, with stores of their own.")
    ] = False,
    policy: Annotated[str, typer.Option(help="Who decides: offline needs no model.")] = "offline",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Break one of two equivalent tools and mend it: which is taken, run by run. Then: what memory saves on paraphrases."""
    with scoring():
        if not playground:
            raise UsageError(
                "learning changes a store and breaks services: it needs --playground, which makes both anew"
            )
        with running_playground() as address:
            figures = asyncio.run(_figures(address, policy))
    tell(figures, _show, as_json=as_json)


async def _figures(address: str, policy: str) -> dict[str, Any]:
    return {"policy": policy, "swaps": await _swaps(address, policy), "memory": await _memory(address, policy)}


async def _swaps(address: str, policy: str) -> list[dict[str, Any]]:
    """Each pair on a store of its own: what one teaches is not to help the next."""
    found: list[dict[str, Any]] = []
    for pair in EQUIVALENTS:
        async with fresh_store(address) as container, switches(address) as services:
            await services.reset()
            executor = await container.executor("http")

            async def ask(
                at: int, pair: tuple[str, str] = pair, container: Container = container, executor: Executor = executor
            ) -> Sequence[Event]:
                return await _run(swap_request(pair[0], at), container, policy, executor, f"{pair[0]}-{at}")

            curve = await swap(pair, ask, services.switch)
            found.append(curve.to_json() if curve else {"broken": None, "other": None, "pair": list(pair)})
    return found


async def _memory(address: str, policy: str) -> dict[str, Any]:
    """The paraphrases before the first requests were learnt from and after, on one store; nothing else is learnt."""
    first, second = read_asked([FIRST]), read_asked([SECOND])
    async with fresh_store(address) as container, switches(address) as services:
        await services.reset()
        executor = await container.executor("http")
        before = await _verdicts(second, container, policy, executor, learn=False)
        taught = await _verdicts(first, container, policy, executor, learn=True)
        after = await _verdicts(second, container, policy, executor, learn=False)
    return {"first": effort(taught), "before": effort(before), "after": effort(after)}


async def _verdicts(
    asked: Sequence[Asked], container: Container, policy: str, executor: Executor, *, learn: bool
) -> list[Verdict]:
    return [judge(one, await _run(one.request, container, policy, executor, one.id, learn=learn)) for one in asked]


async def _run(
    request: str, container: Container, policy: str, executor: Executor, name: str, *, learn: bool = True
) -> list[Event]:
    deps = await run_deps(container, policy, executor, approver=AllowChanges(container.settings.allow_hosts))
    records = run_and_learn(request, deps, budget_of(container), learn=learn, name=name)
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
    out.print(table)
    rows = Table(box=None)
    for column in ("", "n", "right", "decisions", "considered", "s to plan"):
        rows.add_column(column, justify="right" if column else "left")
    names = {"before": "paraphrases before", "first": "first requests", "after": "paraphrases after"}
    for key, name in names.items():
        row = figures["memory"][key]
        told = (f"{row[field]:.2f}" for field in ("decisions", "considered", "plan_seconds"))
        rows.add_row(name, str(row["n"]), str(row["right"]), *told)
    out.print(rows)
