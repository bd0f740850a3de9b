"""`evaluate.py memory`: at which similarity a remembered path is to be trusted, each trajectory left out in turn."""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from _evaluate_output import console, scoring, tell
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from evaluation.memory import collect_solved_requests, leave_one_out, tabulate_by_bound
from wiring.container import open_container


def memory(
    tools: Annotated[list[Path], typer.Option(help="Documents of the tools, as build_graph.py reads them.")],
    trajectories: Annotated[list[Path], typer.Option(help="Trajectories, as build_graph.py reads them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Leave each trajectory out in turn: how often the most similar other one has its path, by similarity."""
    with scoring():
        figures = asyncio.run(_memory(tools, trajectories))
    tell(figures, _show, as_json=as_json)


async def _memory(tools: list[Path], trajectories: list[Path]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="footpath-") as folder:
        async with open_container(store=Path(folder) / "store", create=True) as container:
            with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
                task = bars.add_task("trajectories", total=None)
                solved = await collect_solved_requests(container.graph, tools, trajectories, _silent)
                bars.update(task, total=len(solved))
                found = await leave_one_out(solved, await container.memory(), lambda: bars.advance(task))
            return {
                "trajectories": len(found),
                "encoder": (await container.embedder()).identity,
                "bounds": tabulate_by_bound(found),
            }


def _silent(stage: str, done: int, total: int | None) -> None:
    """Reading is the smaller part."""


def _show(figures: dict[str, Any]) -> None:
    for name, title in (
        ("alone", f"{figures['trajectories']:,} trajectories, each left out in turn"),
        ("worded_otherwise", "the same, with all that is worded alike left out"),
    ):
        shown = Table(title=title, title_justify="left", box=None)
        for column in ("similarity from", "have one", "its path is the same", "agreed on", "the path is the same"):
            shown.add_column(column, justify="right")
        for row in figures["bounds"]:
            cells = [f"{row['bound']:.2f}"]
            for part in (row[name]["nearest"], row[name]["agreed"]):
                same = "—" if part["same_path"] is None else f"{part['same_path']:.1%}"
                cells += [f"{part['share']:.1%}", same]
            shown.add_row(*cells)
        Console().print(shown)
