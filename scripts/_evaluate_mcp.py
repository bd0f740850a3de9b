"""`evaluate.py mcp`: requests served by a client's agent that has Footpath's tools, or all operations as plain tools."""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from domain.errors import UsageError
from evaluation.evaluation_cases import EvaluationCase

console = Console(stderr=True)


def mcp(
    requests: Annotated[
        list[Path] | None, typer.Option(help="Requests with expected values, JSONL; by default the playground's, without those held out.")
    ] = None,
    tools: Annotated[str, typer.Option(help="What the client has: footpath (its few tools), or plain (each operation is one).")] = "footpath",
    every: Annotated[int, typer.Option(min=1, help="Of all lines every N-th, from the first.")] = 5,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first of them.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only the request of this id, again for each.")] = None,
    store: Annotated[Path | None, typer.Option(help="A store of the playground, built before; by default one is built.")] = None,
    at_once: Annotated[int, typer.Option(min=1, max=16, help="Requests at a time.")] = 4,
    results: Annotated[
        Path | None, typer.Option(help="Keep runs here, and go on from those that are there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:  # fmt: skip
    """How many requests an MCP client's agent answers rightly, with Footpath's tools or with plain ones, and at what cost of context."""
    from _evaluate_output import scoring, tell

    with scoring():
        asked = _chosen(requests or _usual(), every, only or [])[:limit]
        figures, stopped = asyncio.run(_measured(asked, tools, store, at_once, results))
    tell(figures, _show, as_json=as_json)
    if stopped:
        raise typer.Exit(130)


def _usual() -> list[Path]:
    """The playground's files, without the one that nothing may be tuned on."""
    from evaluation.evaluation_cases import HELD_OUT

    folder = Path(__file__).parents[1] / "playground" / "requests"
    return sorted(path for path in folder.glob("*.jsonl") if path.stem != HELD_OUT)


def _chosen(paths: Sequence[Path], every: int, only: Sequence[str]) -> list[EvaluationCase]:
    from evaluation.evaluation_cases import read_evaluation_cases

    asked = read_evaluation_cases(paths)
    found = [one for one in asked if one.id in only] if only else asked[::every]
    if not found:
        raise UsageError("no request is left to ask")
    if odd := next(
        (one for one in found if one.turn or one.before or one.ask or one.partly or one.service != "playground"), None
    ):
        raise UsageError(f"{odd.id}: dialogues, questions, parts and other services are no matter of this measure")  # fmt: skip
    return found


async def _measured(
    asked: Sequence[EvaluationCase], tools: str, store: Path | None, at_once: int, results: Path | None
) -> tuple[dict[str, Any], bool]:
    """The figures, and whether it was interrupted, in which case they are of what was done."""
    from _client_places import client_places

    from evaluation.client_runs import ClientRunFile, compute_client_figures
    from wiring.models import create_chat_model
    from wiring.settings import read_settings

    if tools not in ("footpath", "plain"):
        raise UsageError(f"--tools is footpath or plain, not {tools!r}")
    settings = read_settings()
    model = create_chat_model(settings)
    kept = ClientRunFile(results, {"tools": tools, "model": settings.model_name})
    done = kept.read(asked)
    left, stopped = [one for one in asked if one.id not in done], False
    try:
        if left:
            async with client_places(tools, min(at_once, len(left)), store) as places:
                stopped = await _served(left, places, model, kept, done)
    finally:
        await model.close()
    return {
        **kept.conditions,
        "asked": len(asked),
        **compute_client_figures([done[one.id] for one in asked if one.id in done]),
    }, stopped


async def _served(
    left: Sequence[EvaluationCase], places: Sequence[Any], model: Any, kept: Any, done: dict[str, Any]
) -> bool:
    """Serve what is left, each at a place that is free; whether it was interrupted."""
    from evaluation.client_agent import serve_request
    from evaluation.client_runs import judge_client_run
    from playground.worlds.clock import TODAY

    free: asyncio.Queue[Any] = asyncio.Queue()
    for place in places:
        free.put_nowait(place)

    async def serve(one: EvaluationCase, advance: Any) -> None:
        place = await free.get()
        try:
            async with place.session() as session:
                run = await serve_request(one.request, session, model, TODAY)
                found = judge_client_run(one, run, await place.heard(), await place.made(), kept.conditions)
            kept.add(found)
            done[one.id] = found
            advance()
        finally:
            free.put_nowait(place)

    async def serve_all(advance: Any) -> None:
        async with asyncio.TaskGroup() as group:
            for one in left:
                group.create_task(serve(one, advance))

    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("requests", total=len(left))
        work = asyncio.ensure_future(serve_all(lambda: bars.advance(task)))
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, work.cancel)
        try:
            await work
        except asyncio.CancelledError:
            return True
    return False


def _show(figures: dict[str, Any]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    out.print(
        f"{figures['tools']}: {figures['right']} of {figures['n']} right; the list of tools takes {figures['list_tokens']:,} tokens"
    )
    table = Table(box=None)
    for column in ("", "all", "p50", "mean", "max"):
        table.add_column(column, justify="right" if column else "left")
    for name in ("replies", "tool_calls", "service_calls", "prompt_tokens", "completion_tokens", "seconds"):
        row = figures[name]
        table.add_row(name.replace("_", " "), *(f"{row[one]:,.1f}" for one in ("all", "p50", "mean", "max") if row))
    out.print(table)
    for failure in figures["failures"]:
        out.print(f"\n[bold]{failure['id']}[/bold] [red]{failure['cause']}[/red]: {escape(failure['detail'])}")
        for name in ("request", "answer"):
            out.print(f"  {name}: {escape(failure[name])}")
        for name in ("expected", "calls", "path"):
            out.print(f"  {name}: {escape(', '.join(failure[name]))}")
