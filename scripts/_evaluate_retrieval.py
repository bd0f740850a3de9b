"""`evaluate.py retrieval`: start tools against the relevant APIs of each request."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from _scoring import console, scoring, tell
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from evaluation.queries import Query, read_queries
from evaluation.retrieval import evaluate_retrieval
from wiring.container import open_container


def retrieval(
    queries: Annotated[Path, typer.Option(help="Requests with their relevant APIs, JSONL, plain or gzip.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How well start tools match: NDCG, recall, COMP, MRR by group, by split, and for seen and unseen APIs."""
    with scoring():
        asked, skipped = read_queries(queries)
        figures = asyncio.run(_retrieval(asked, store))
    tell(figures, _show, as_json=as_json, skipped=skipped)


async def _retrieval(asked: list[Query], store: Path | None) -> dict[str, Any]:
    async with open_container(store=store) as container:
        embedder, _, _ = await container.retrieval()
        search = await container.search()
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("queries", total=len(asked))
            report = await evaluate_retrieval(
                asked, search, container.graph, lambda done: bars.update(task, completed=done)
            )
    return {**asdict(report), "model": embedder.identity}


def _show(figures: dict[str, Any]) -> None:
    for part in ("groups", "splits", "seen", "unseen"):
        rows: dict[str, dict[str, float]] = figures[part]
        shown = Table(title=part, title_justify="left", box=None)
        for column in ("", *(next(iter(rows.values())) if rows else ())):
            shown.add_column(column, justify="right" if column else "left")
        for name, row in rows.items():
            shown.add_row(name, *(str(value) if key == "n" else f"{value:.3f}" for key, value in row.items()))
        Console().print(shown)
    console.print(
        f"{figures['missing']} of {figures['relevant']} relevant APIs have no document and count as misses; "
        f"{figures['seconds']:.1f} s with {figures['model']}",
        markup=False,
    )
