"""`evaluate.py programs`: programs written for a benchmark's requests, and how near they are to the gold ones. Nothing is called."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Annotated, Any, Literal

import typer
from _evaluate_output import scoring, tell
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agent.programs.offered_functions import OFFER_SIZE
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.errors import UsageError
from domain.tool import ToolDoc
from evaluation.corpora.graphqlrestbench import ProgramSample, read_samples
from evaluation.couplings import FunctionDocuments
from evaluation.program_metrics import METRICS, PAPER, compute_metrics
from evaluation.written_programs import Order, ProgramEvaluation, order_tools, write_program
from wiring.container import open_container
from wiring.models import SharedModel
from wiring.program_forms import get_form, read_forms
from wiring.settings import Settings, read_settings

console = Console(stderr=True)
Offering = Callable[[ProgramSample], Awaitable[tuple[list[ToolDoc], dict[str, str]]]]
"""The tools of a sample, with the names that its gold program has for them."""


def programs(
    data: Annotated[Path, typer.Option(help="Folder of GraphQLRestBench.")],
    offer: Annotated[
        Literal["gold", "ours"],
        typer.Option(help="The functions of the gold program, or those that a store's offer has."),
    ] = "gold",
    order: Annotated[Order, typer.Option(help="Of the gold functions: as listed, or shuffled.")] = "shuffled",
    store: Annotated[Path | None, typer.Option(help="With --offer ours: folder of a store of the APIs.")] = None,
    domain: Annotated[Literal["all", "spotify", "tmdb"], typer.Option(help="Only the requests of one.")] = "all",
    lines: Annotated[Literal["all", "even", "odd"], typer.Option(help="Half of the rows, counted from 1.")] = "all",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many, spread over all.")] = None,
    at_once: Annotated[int, typer.Option(min=1, max=32, help="Requests at a time.")] = 4,
    patience: Annotated[float | None, typer.Option(min=1, help="Seconds that a model may take for one answer.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Programs that the model of the settings writes, against gold ones: the four metrics of GraphQLRestBench."""
    with scoring():
        samples, skipped = read_samples(data)
        chosen = _chosen(samples, domain, lines, limit)
        settings = read_settings()
        if patience is not None:
            settings = settings.model_copy(update={"model_timeout": patience, "max_seconds": 20 * patience})
        written = asyncio.run(_written(chosen, settings, offer, order, store, at_once))
    figures = {"offer": offer, "order": order, **_figures(written), "skipped_rows": len(skipped)}
    tell(figures, _show, as_json=as_json)


def _chosen(samples: Sequence[ProgramSample], domain: str, lines: str, limit: int | None) -> list[ProgramSample]:
    found = [
        one
        for place, one in enumerate(samples, start=1)
        if domain in ("all", one.domain) and (lines == "all" or (place % 2 == 0) == (lines == "even"))
    ]
    if not found:
        raise UsageError("no row is left")
    if limit is None or limit >= len(found):
        return found
    return [found[place * len(found) // limit] for place in range(limit)]


async def _written(
    samples: Sequence[ProgramSample], settings: Settings, offer: str, order: Order, store: Path | None, at_once: int
) -> list[ProgramEvaluation]:
    form = get_form(settings, read_forms(settings))
    shared, sandbox = SharedModel(settings, form=form), MontySandbox(SandboxLimits())
    today = (settings.today or datetime.now(UTC).date()).isoformat()
    turns = asyncio.Semaphore(at_once)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(shared.model.close)
        stack.push_async_callback(sandbox.close)
        offering = await stack.enter_async_context(_from_store(store)) if offer == "ours" else _gold(order)
        bars = stack.enter_context(Progress(console=console, transient=True, disable=not console.is_terminal))
        task = bars.add_task("programs", total=len(samples))

        async def one(sample: ProgramSample) -> ProgramEvaluation:
            async with turns:
                tools, names = await offering(sample)
                found = await write_program(
                    sample, tools, names, shared.create_policy(), sandbox, today, settings.offer_tokens
                )
                bars.advance(task)
                return found

        return await asyncio.gather(*map(one, samples))


def _gold(order: Order) -> Offering:
    async def offered(sample: ProgramSample) -> tuple[list[ToolDoc], dict[str, str]]:
        return order_tools(sample.tools, order, sample.id), {tool.id: tool.api for tool in sample.tools}

    return offered


@asynccontextmanager
async def _from_store(store: Path | None) -> AsyncGenerator[Offering]:
    """The offers of a store. Its tools are the benchmark's functions by method and path."""
    async with open_container(store=store) as container:
        functions = FunctionDocuments([document async for document in container.graph.stream_documents()])

        async def offered(sample: ProgramSample) -> tuple[list[ToolDoc], dict[str, str]]:
            found = await (await container.create_offer_maker()).offer(sample.request, OFFER_SIZE)
            docs = await container.graph.get_tools(found.ids)
            wanted = {call.function: functions.get(call.function) for call in sample.gold}
            names = {str(doc.id): name for name, doc in wanted.items() if doc is not None}
            return [docs[tool] for tool in found.ids if tool in docs], names

        yield offered


def _figures(written: Sequence[ProgramEvaluation]) -> dict[str, Any]:
    parts = {"all": list(written)}
    for name in sorted({one.sample.domain for one in written}):
        parts[name] = [one for one in written if one.sample.domain == name]
    tokens = [one.tokens for one in written]
    return {
        "groups": {name: compute_metrics([one.nearness for one in part]) for name, part in parts.items()},
        "paper": PAPER,
        "refused": sum(one.refused for one in written),
        "unwritten": sum(not one.text for one in written),
        "model_calls": sum(one.model_calls for one in written) / len(written),
        "tokens": {"p50": median(tokens), "mean": mean(tokens), "max": max(tokens)},
        "missed": [
            {
                "id": one.sample.id,
                "request": one.sample.request,
                "gold": [f"{call.function}({dict(call.arguments)})" for call in one.sample.gold],
                "text": one.text,
                "complaints": list(one.complaints),
            }
            for one in written
            if not (all(one.nearness.matched) and one.nearness.sequence and one.nearness.chains)
        ],
    }


def _show(figures: dict[str, Any]) -> None:
    table = Table(box=None)
    for column in ("", "n", *(name.replace("_", " ") for name in METRICS)):
        table.add_column(column, justify="right" if column else "left")
    for name, row in figures["groups"].items():
        table.add_row(name, str(row["n"]), *(f"{row[metric]:.4f}" for metric in METRICS))
    table.add_row("paper's best (test)", "32", *(f"{figures['paper'][metric]:.4f}" for metric in METRICS))
    out = Console(highlight=False, soft_wrap=True)
    out.print(table)
    spread = figures["tokens"]
    out.print(
        f"{figures['model_calls']:.2f} model calls a request, tokens {spread['p50']:,.0f} / {spread['mean']:,.0f} / "
        f"{spread['max']:,} (p50, mean, max); {figures['refused']} texts refused, {figures['unwritten']} not written"
    )
