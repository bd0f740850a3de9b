"""`evaluate.py planning`: planned paths against the relevant APIs of each request."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import orjson
import typer
from _scoring import console, scoring, tell
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agent.plan import path_of, walk
from agent.planners.named import planner_named
from agent.planners.planner import Planner
from agent.planners.retrieve import K
from agent.policy import Cost, Policy
from domain.errors import UsageError
from domain.tool import ToolId
from evaluation.intervals import difference
from evaluation.linked import by_evidence, pairs
from evaluation.names import Key
from evaluation.oracle import OraclePolicy
from evaluation.planning import PlannedQuery, means, plan_all, seconds_p50, table
from evaluation.queries import Query, read_queries
from evaluation.rewired import shuffled, without_edges
from graph.store import GraphReads
from wiring.container import Container, open_container
from wiring.runs import budget_of, walk_settings

Edges = Literal["real", "none", "shuffled"]


def planning(
    queries: Annotated[Path, typer.Option(help="Requests with their relevant APIs, JSONL, plain or gzip.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    planner: Annotated[str, typer.Option(help="How to plan: dfs, react, cot, basic or retrieve.")] = "dfs",
    policy: Annotated[str, typer.Option(help="offline, llm, or oracle, which knows the relevant APIs.")] = "offline",
    edges: Annotated[Edges, typer.Option(help="The store's edges, none, or shuffled with all degrees kept.")] = "real",
    memory: Annotated[bool, typer.Option(help="Whether paths of similar requests are recalled.")] = True,
    start_tools: Annotated[int, typer.Option("--k", min=1, help="Start tools that retrieve takes.")] = K,
    against: Annotated[Path | None, typer.Option(help="Another evaluation's --json, to tell the difference.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How well planned paths match: precision, recall, F1 of their distinct APIs, and their length. No call is made."""
    with scoring():
        chosen = planner_named(planner, start_tools)
        asked, skipped = read_queries(queries)
        figures = asyncio.run(_planning(asked, store, chosen, policy, edges, memory=memory))
        if against is not None:
            figures["against"] = _difference(figures, against)
    tell(figures, _show, as_json=as_json, skipped=skipped)


async def _planning(
    asked: list[Query], store: Path | None, planner: Planner, policy: str, edges: Edges, *, memory: bool
) -> dict[str, Any]:
    async with open_container(store=store) as container:
        reads = await _edges(container, edges)
        finder = await container.search()
        memories = await container.memory() if memory else None
        settings = walk_settings(container, policy)
        cost = Cost()

        async def planned(request: str, relevant: frozenset[Key]) -> tuple[ToolId, ...]:
            who: Policy = (
                OraclePolicy(relevant, container.policy("offline")) if policy == "oracle" else container.policy(policy)
            )
            steps = walk(
                request, reads, finder, who, planner=planner, weights=container.weights, settings=settings,
                budget=budget_of(container), memory=memories,
            )  # fmt: skip
            ended = await path_of(steps)
            cost.model_calls += who.cost.model_calls
            cost.prompt_tokens += who.cost.prompt_tokens
            cost.completion_tokens += who.cost.completion_tokens
            return ended.path

        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("requests", total=len(asked))
            done = await plan_all(asked, planned, lambda count: bars.update(task, completed=count))
        evidence = by_evidence(done, await pairs(container.graph))
    return {**_figures(done, evidence), "model_calls": cost.model_calls,
            "tokens": {"prompt": cost.prompt_tokens, "completion": cost.completion_tokens}}  # fmt: skip


def _figures(done: list[PlannedQuery], evidence: dict[str, list[PlannedQuery]]) -> dict[str, Any]:
    return {
        "groups": table(done),
        "evidence": {name: means(part) for name, part in evidence.items()},
        "overall": means(done),
        "requests": {one.query.query: one.f1 for one in done},
        "seconds_p50": seconds_p50(done),
    }


async def _edges(container: Container, edges: Edges) -> GraphReads:
    if edges == "none":
        return await without_edges(container.graph)
    return await shuffled(container.graph) if edges == "shuffled" else container.graph


def _difference(figures: dict[str, Any], path: Path) -> dict[str, Any]:
    """F1 here less F1 there, over the requests of both."""
    try:
        other = cast("dict[str, float]", orjson.loads(path.read_bytes())["requests"])
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is no output of evaluate.py planning --json ({type(error).__name__})") from error
    both = [name for name in figures["requests"] if name in other]
    return {"n": len(both), **difference([figures["requests"][n] for n in both], [other[n] for n in both])}


def _show(figures: dict[str, Any]) -> None:
    shown = Table(box=None)
    for column in ("", "n", "precision", "recall", "F1", "95 % interval", "path length"):
        shown.add_column(column, justify="right" if column else "left")
    for name, row in {**figures["groups"], **figures["evidence"], "all": figures["overall"]}.items():
        low, high = row["f1_interval"]
        values = (f"{row[key]:.3f}" for key in ("precision", "recall", "f1"))
        shown.add_row(name, str(row["n"]), *values, f"{low:.3f} to {high:.3f}", f"{row['path_length']:.2f}")
    Console().print(shown)
    if "against" in figures:
        told = figures["against"]
        low, high = told["interval"]
        Console().print(f"F1 {told['difference']:+.3f} against it ({low:+.3f} to {high:+.3f}, {told['n']} requests)")
