"""Compression measured: on recorded responses, on documented examples, and on what playground requests ask for."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from _demo import build_demo, opened
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from domain.errors import UsageError
from domain.tool import ToolDoc
from evaluation.compression import evaluate_compression
from evaluation.evaluation_cases import EvaluationCase, read_evaluation_cases
from evaluation.responses import load_documents, read_responses
from evaluation.retention import evaluate_retention
from graph.importers.records import SkippedInput
from playground.child import running_playground
from wiring.container import Container, open_container

console = Console(stderr=True)
Figures = dict[str, Any]


def compression(
    calls: Path | None, tools: Path | None, requests: list[Path], policy: str, limit: int
) -> tuple[Figures, list[SkippedInput]]:
    """The figures, and the lines that could not be read. ``requests``: asked of a playground that is started for them.

    Raises:
        UsageError: nothing to measure, no such file or policy. BrokenInputError: a line of ``requests`` cannot be used.
    """
    if not (calls or tools or requests):
        raise UsageError("nothing to measure; name --calls, --tools or --requests")
    if calls and not calls.is_file():
        raise UsageError(f"{calls} is no file; name a file of recorded calls, one JSON object a line")
    asked = read_evaluation_cases(requests) if requests else []
    skipped: list[SkippedInput] = []
    figures: Figures = {"limit": limit, "policy": policy}
    if calls or tools:
        figures |= asyncio.run(_recorded(calls, tools, policy, limit, skipped))
    if asked:
        with running_playground() as address:
            figures["playground"] = asyncio.run(_retained(asked, address, policy, limit))
    return figures, skipped


async def _recorded(
    calls: Path | None, tools: Path | None, policy: str, limit: int, skipped: list[SkippedInput]
) -> Figures:
    docs = load_documents(tools)
    skipped += docs.skipped
    found: Figures = {}
    with TemporaryDirectory(prefix="footpath-compression-") as folder:
        async with open_container(store=Path(folder) / "store", create=True) as container:
            with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
                if calls:
                    task = bars.add_task("recorded calls", total=1)
                    responses = read_responses(
                        calls, docs, skipped.append, lambda place: bars.update(task, completed=place)
                    )
                    found["calls"] = await _tally(responses, container, policy, limit)
                if tools:
                    bars.add_task("documented examples", total=None)
                    found["examples"] = await _tally(docs.iterate_examples(), container, policy, limit)
    return found


async def _tally(responses: Iterable[tuple[ToolDoc, str]], container: Container, policy: str, limit: int) -> Figures:
    return (
        await evaluate_compression(responses, container.create_policy(policy), container.field_choices(), limit)
    ).to_figures()


async def _retained(asked: list[EvaluationCase], address: str, policy: str, limit: int) -> Figures:
    with TemporaryDirectory(prefix="footpath-compression-") as folder:
        store = Path(folder) / "store"
        await build_demo(address, store)
        async with opened(address, store) as container:
            tools = {doc.api: doc async for doc in container.graph.stream_documents()}
            executor = await container.open_executor("http")
            chosen = container.field_choices()
            found = await evaluate_retention(asked, tools, executor, container.create_policy(policy), chosen, limit)
    return found.to_figures()


def show_compression(figures: Figures) -> None:
    """The figures for people."""
    out = Console(highlight=False)
    for name in ("calls", "examples"):
        if figures.get(name, {}).get("n"):
            _show_source(out, "recorded calls" if name == "calls" else "documented examples", figures[name])
    if found := figures.get("playground"):
        share = "—" if found["share"] is None else f"{found['share']:.1%}"
        out.print(
            f"playground: {found['compressed']} of {found['responses']} responses compressed; {found['retained']} of "
            f"{found['values']} expected values in them retained ({share})"
        )
        for what in ("lost", "unseen", "failed"):
            for request, detail in found[what].items():
                out.print(f"  {what}: {request}: {detail}", markup=False)


def _show_source(out: Console, name: str, found: Figures) -> None:
    over, saved = found["over_limit"], found["saved"]
    table = Table(title=f"{name}: {found['n']:,} responses of {found['apis']:,} APIs", title_justify="left", box=None)
    for column in ("characters", "responses"):
        table.add_column(column, justify="right")
    for row in found["histogram"]:
        table.add_row("0" if row["over"] < 0 else f"{row['over'] + 1:,} to {row['to']:,}", f"{row['n']:,}")
    out.print(table)
    quantiles = ", ".join(f"{float(q):.0%} ≤ {size:,}" for q, size in found["quantiles"].items())
    out.print(f"  mean {found['mean']:.0f}; {quantiles}")
    shares = ", ".join(
        f"{label} {over[key]['n']:,} ({over[key]['share']:.2%})"
        for key, label in (("before", "before"), ("after_fields", "after fields"), ("after_cut", "after the cut"))
    )
    out.print(f"  over {found['limit']:,}: {shares}")
    out.print(
        f"  saved {saved['characters']:,} characters of long responses ({saved['share']:.1%}), "
        f"{saved['per_long_response']:.0f} each; {saved['by_fields']:,} of them by fields alone"
    )
    if capped := found["cut_by_source"]:
        out.print(
            f"  {capped['n']:,} responses ({capped['share']:.1%}) end at {capped['at']:,} characters: the source cut "
            "them there, and how long they were is not known"
        )
