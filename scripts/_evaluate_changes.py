"""`evaluate.py changes`: requests for a change, and such as only read, in dry runs: are the tools offered, and is nothing changed?"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from _evaluate_answers import fresh_store, switches
from _evaluate_output import scoring, tell
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agent.execution.approval import DryRunApprover, IntendedCall
from agent.execution.executor import Executor
from agent.run import run
from domain.errors import BrokenInputError, UsageError
from domain.event import CandidatesConsidered, RunFinished
from domain.model import Model, describe_errors
from domain.tool import split_tool_id
from playground.child import running_playground
from wiring.container import Container
from wiring.runs import build_budget, build_run_deps

WAYS = Path(__file__).parents[1] / "playground" / "requests" / "changes" / "ways.jsonl"


class Way(Model):
    """A request. ``tools``: operations of which one makes the change that it asks for; none where it only reads."""

    kind: Literal["change", "read"]
    tools: tuple[str, ...] = ()
    request: str


def changes(
    requests: Annotated[Path, typer.Option(help="Requests with the operations that they ask for, JSONL.")] = WAYS,
    playground: Annotated[
        bool, typer.Option("--playground", help="Start a playground and build its store for this evaluation.")
    ] = False,
    policy: Annotated[str, typer.Option(help="Who decides: offline needs no model.")] = "llm",
    planner: Annotated[str, typer.Option(help="How to plan: dfs, thesis, react, cot, basic or retrieve.")] = "dfs",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """In how many requests for a change its tool is offered and the change proposed; what reads proposes none; nothing is changed."""
    with scoring():
        if not playground:
            raise UsageError("changes looks at what services were asked to do: it needs --playground")
        asked = _read(requests)
        with running_playground() as address:
            figures = asyncio.run(_figures(asked, address, policy, planner))
    tell(figures, _show, as_json=as_json)


def _read(path: Path) -> list[Way]:
    try:
        return [Way.model_validate_json(line) for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise BrokenInputError(error.strerror or "it cannot be read", file=str(path)) from error
    except ValidationError as error:
        raise BrokenInputError(describe_errors(error), file=str(path)) from error


async def _figures(asked: Sequence[Way], address: str, policy: str, planner: str) -> dict[str, Any]:
    async with fresh_store(address) as container, switches(address) as services:
        executor, gate = await container.open_executor("http"), asyncio.Semaphore(container.settings.evaluation_at_once)
        runs = await asyncio.gather(*(_one(way, container, executor, (policy, planner), gate) for way in asked))
        effects = await services.effects()
    change, read = ([one for one in runs if one["kind"] == kind] for kind in ("change", "read"))
    return {
        "policy": policy,
        "planner": planner,
        "changes": {
            "n": len(change),
            "offered": sum(bool(one["offered"]) for one in change),
            "proposed": sum(bool(one["proposed"]) for one in change),
        },
        "reads": {"n": len(read), "proposed": sum(bool(one["proposed"]) for one in read)},
        "changed_without_approval": effects,
        "runs": list(runs),
    }


async def _one(
    way: Way, container: Container, executor: Executor, who: tuple[str, str], gate: asyncio.Semaphore
) -> dict[str, Any]:
    proposed: list[IntendedCall] = []
    offered: set[str] = set()
    end: RunFinished | None = None
    async with gate:
        deps = await build_run_deps(container, who[0], executor, who[1], approver=DryRunApprover(proposed.append))
        async for record in run(way.request, deps, build_budget(container)):
            match record.event:
                case CandidatesConsidered(candidates=candidates):
                    offered |= {split_tool_id(one.tool)[2] for one in candidates}
                case RunFinished() as last:
                    end = last
                case _:
                    continue
    return {
        **way.model_dump(),
        "offered": sorted(offered & set(way.tools)),
        "proposed": [{"tool": call.tool.api, "arguments": call.arguments} for call in proposed],
        "outcome": end.outcome if end else "",
        "model_calls": end.usage.model_calls if end else 0,
        "tokens": end.usage.prompt_tokens + end.usage.completion_tokens if end else 0,
    }


def _show(figures: dict[str, Any]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    table = Table("", "n", "tool offered", "change proposed", box=None)
    for name, row in (("changes", figures["changes"]), ("reads", figures["reads"])):
        table.add_row(name, str(row["n"]), str(row.get("offered", "")), str(row["proposed"]))
    out.print(table)
    for one in figures["runs"]:
        if one["kind"] == "change" and not one["offered"]:
            out.print(f"[red]not offered[/red]: {escape(one['request'])}")
        if one["kind"] == "read" and one["proposed"]:
            out.print(f"[red]a change proposed for what only reads[/red]: {escape(one['request'])}")
    told = figures["changed_without_approval"]
    out.print(f"[red]changed without approval[/red]: {', '.join(told)}" if told else "nothing was changed")
