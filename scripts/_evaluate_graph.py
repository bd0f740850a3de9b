"""`evaluate.py graph`: whether the graph helps: the ceiling, start tools alone, the walk over real, no and shuffled edges."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from _evaluate_output import console, scoring, tell
from _evaluate_planning import Way, compared, measured, planned
from rich.console import Console
from rich.table import Table

from agent.planners.registry import DEFAULT_START_TOOLS, get_planner, get_search_options
from evaluation.queries import RetrievalQuery, read_queries

BASELINE = "retrieve"


def graph(
    queries: Annotated[Path, typer.Option(help="Requests with their relevant APIs, JSONL, plain or gzip.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    policy: Annotated[str, typer.Option(help="Who decides.")] = "offline",
    start_tools: Annotated[
        int, typer.Option("--k", min=1, help="Start tools that retrieve takes.")
    ] = DEFAULT_START_TOOLS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """The ceiling, start tools alone, and the walk with and without the graph and memory, on the same requests."""
    with scoring():
        asked, skipped = read_queries(queries)
        rows = asyncio.run(_rows(asked, store, _ways(policy, start_tools)))
        for row in rows.values():
            row["against"] = compared(row, rows[BASELINE]["requests"])
    for row in rows.values():
        del row["requests"], row["of_evidence"]
    tell({"rows": rows}, _show, as_json=as_json, skipped=skipped)


def _ways(policy: str, k: int) -> dict[str, Way]:
    dfs = get_planner("dfs")
    return {
        "ceiling": Way(dfs, "oracle"),
        BASELINE: Way(get_planner("retrieve", k), policy, memory=False),
        "dfs": Way(dfs, policy),
        "thesis": Way(get_planner("thesis"), policy, options=get_search_options("thesis")),
        "dfs, shuffled edges": Way(dfs, policy, "shuffled"),
        "dfs, no edges": Way(dfs, policy, "none"),
        "dfs, no memory": Way(dfs, policy, memory=False),
        "dfs, shuffled edges, no memory": Way(dfs, policy, "shuffled", memory=False),
        "dfs, no edges, no memory": Way(dfs, policy, "none", memory=False),
    }


async def _rows(asked: list[RetrievalQuery], store: Path | None, ways: dict[str, Way]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    async with measured(asked, store) as on:
        for name, way in ways.items():
            rows[name] = await planned(way, on)
            console.print(f"{name}: F1 {rows[name]['overall']['f1']:.3f}")
    return rows


def _show(figures: dict[str, Any]) -> None:
    rows = figures["rows"]
    evidence = list(rows[BASELINE]["evidence"])
    shown = Table(box=None)
    for column in ("", "F1", "95 % interval", f"less {BASELINE}", "95 % interval", *evidence):
        shown.add_column(column, justify="right" if column else "left")
    for name, row in rows.items():
        groups = (f"{row['evidence'][group]['f1']:.3f}" for group in evidence)
        told = row["against"]
        shown.add_row(
            name, f"{row['overall']['f1']:.3f}", _of(row["overall"]["f1_interval"]),
            f"{told['difference']:+.3f}", _of(told["interval"], "+"), *groups,
        )  # fmt: skip
    Console().print(shown)


def _of(interval: list[float], sign: str = "") -> str:
    return " to ".join(f"{end:{sign}.3f}" for end in interval)
