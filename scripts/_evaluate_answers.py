"""Answers evaluated against a playground that runs already (``_answers_apart``: against services started for the purpose)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from _demo import build_demo, host_of, opened
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from agent.execution.approval import AllowChangesApprover
from agent.run_context import RunDeps
from domain.errors import UnavailableError, UsageError
from evaluation.answers import evaluate_answers, report
from evaluation.evaluation_cases import EvaluationCase
from playground.worlds.clock import TODAY
from wiring.container import Container, open_container
from wiring.runs import build_budget, build_run_deps, create_reader

console = Console(stderr=True)
Who = tuple[str, str]
"""A policy and a planner, by name."""


class Playground:
    """The running playground's own switches."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def switch(self, operation: str, broken: bool) -> None:
        """Break an operation, or mend it."""
        await self._answered("PUT", f"/_broken/{operation}?on={str(broken).lower()}")

    async def reset(self) -> None:
        await self._answered("POST", "/_reset")

    async def effects(self) -> list[str]:
        return [effect["tool"] for effect in (await self._answered("GET", "/_ledger")).json()]

    async def _answered(self, method: str, path: str) -> httpx.Response:
        try:
            return (await self._client.request(method, path)).raise_for_status()
        except httpx.HTTPError as error:
            raise UnavailableError(
                f"no playground answers at {self._client.base_url} ({error}); start it with scripts/serve_playground.py, give "
                "its --address, or let --playground start one"
            ) from error


def answers(
    asked: list[EvaluationCase], store: Path | None, address: str, policy: str, planner: str, *, show_held_out: bool
) -> dict[str, Any]:
    """The report, against the playground that runs there.

    Raises:
        UsageError: no such policy or planner. UnavailableError: no store, or no playground there.
    """
    return asyncio.run(_with_store(asked, store, address, (policy, planner), show_held_out))


async def _with_store(
    asked: list[EvaluationCase], store: Path | None, address: str, who: Who, show_held_out: bool
) -> dict[str, Any]:
    async with open_container(store=store) as container:
        if host_of(address) not in container.settings.allow_hosts:
            raise UsageError(f"calls to the playground are not allowed; set FOOTPATH_ALLOW_HOSTS={host_of(address)}")
        return await _evaluate(asked, container, address, who, show_held_out)


@asynccontextmanager
async def switches(address: str) -> AsyncGenerator[Playground]:
    """The switches of the playground that runs there."""
    async with httpx.AsyncClient(base_url=address, timeout=10, trust_env=False) as client:
        yield Playground(client)


@asynccontextmanager
async def fresh_store(address: str) -> AsyncGenerator[Container]:
    with TemporaryDirectory(prefix="footpath-evaluation-") as folder:
        store = Path(folder) / "store"
        await build_demo(address, store)
        async with opened(address, store) as container:
            yield container


async def _evaluate(
    asked: list[EvaluationCase], container: Container, address: str, who: Who, show_held_out: bool
) -> dict[str, Any]:
    executor = await container.open_executor("http")

    async def deps() -> RunDeps:
        deps = await build_run_deps(
            container, who[0], executor, who[1], approver=AllowChangesApprover({host_of(address)})
        )
        planning = replace(deps.planning, reader=create_reader(who[0], TODAY))
        return replace(deps, planning=planning, host=replace(deps.host, today=TODAY.isoformat()))

    async with switches(address) as services:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("requests", total=len(asked))
            evaluation = await evaluate_answers(
                asked, deps, build_budget(container), services,
                at_once=container.settings.evaluation_at_once,
                progress=lambda done: bars.update(task, completed=done),
            )  # fmt: skip
    return {"policy": who[0], "planner": who[1], **report(evaluation, show_held_out=show_held_out)}


def show_answers(figures: dict[str, Any]) -> None:
    """The figures for people: a table on stdout, the failures below it."""
    out = Console(highlight=False, soft_wrap=True)
    table = Table(box=None)
    for column in ("", "n", "right", "share"):
        table.add_column(column, justify="right" if column else "left")
    calls = {f"{name} call{'s' * (name != '1')}": row for name, row in figures["calls"].items()}
    for name, row in {**figures["groups"], **calls, "overall": figures["overall"]}.items():
        share = "—" if row["share"] is None else f"{row['share']:.0%}"
        table.add_row(name, str(row["n"]), str(row["right"]), share)
    out.print(table)
    show_costs(out, figures["costs"])
    show_turns(out, figures["turns"])
    show_asking(out, figures["asking"])
    if figures["overall"]["interval"]:
        low, high = figures["overall"]["interval"]
        out.print(f"95 % interval {low:.0%} to {high:.0%}; {figures['seconds_p50']:.2f} s a request (median)")
    met = figures["recovery"]["overall"]
    if met["n"]:
        out.print(f"of {met['n']} runs that met a dead operation {met['right']} went around it ({met['share']:.0%})")
    if figures["fell_back"]:
        out.print(f"in {figures['fell_back']} runs another policy decided at least once: the model could not be used")
    for failure in figures["failures"]:
        detail = f": {failure['detail']}" if failure["detail"] else ""
        out.print(f"\n[bold]{failure['id']}[/bold] [red]{failure['cause']}[/red]{escape(detail)}")
        for name in ("request", "answer"):
            out.print(f"  {name}: {escape(failure[name])}")
        for name in ("expected", "gold", "path"):
            out.print(f"  {name}: {escape(', '.join(failure[name]))}")
    if figures["unasked_changes"]:
        out.print(f"\n[red]changed by requests that only read[/red]: {', '.join(figures['unasked_changes'])}")
    if figures["failures_withheld"]:
        out.print(f"\n{figures['failures_withheld']} failures of held-out requests are not shown (--show-held-out)")


def show_turns(out: Console, groups: dict[str, Any]) -> None:
    """What was right, and what it cost, by the turns of dialogues."""
    for group, row in groups.items():
        out.print(f"{group}: {row['whole']['right']} of {row['whole']['n']} dialogues right throughout")
        for number, turn in row["turns"].items():
            calls, tokens = (
                " / ".join(f"{turn[what][name]:,.{digits}f}" for name in ("p50", "mean", "max"))
                for what, digits in (("model_calls", 1), ("tokens", 0))
            )
            out.print(f"  turn {number}: {turn['right']} of {turn['n']} right; model calls {calls}; tokens {tokens}")


def show_asking(out: Console, groups: dict[str, Any]) -> None:
    """How often was asked back, where something had to be asked or was."""
    for group, row in groups.items():
        needed, asked = row["needed"], row["asked"]
        if needed["n"]:
            out.print(
                f"{group}: asked once in {needed['once']} of {needed['n']} that leave something open ({asked['none']} never, {asked['more']} more often); "
                f"the right choices in {needed['right_choices']} of {needed['of_several']} that can mean several things"
            )
        if row["needless"]:
            out.print(f"{group}: asked needlessly in {row['needless']}")


def show_costs(out: Console, costs: dict[str, Any]) -> None:
    """What the groups cost: a line each."""
    table = Table(box=None)
    for column in ("", "model calls p50/mean/max", "tokens p50/mean/max", "repairs", "looks", "seconds p50/mean/max"):
        table.add_column(column, justify="right" if column else "left")
    for name, row in costs.items():
        if "tokens" in row:
            spread = {
                what: f"{row[what]['p50']:,.{digits}f} / {row[what]['mean']:,.{digits}f} / {row[what]['max']:,.{digits}f}"
                for what, digits in (("model_calls", 1), ("tokens", 0), ("seconds", 1))
            }
            counts = (f"{row['repairs']} in {row['repaired']}", str(row["looks"]))
            table.add_row(name, spread["model_calls"], spread["tokens"], *counts, spread["seconds"])
    out.print(table)
