"""`evaluate.py planning`: planned paths against the relevant APIs of each request."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agent.expand import WalkSettings
from agent.plan import path_of, walk
from agent.planners.planner import Planner
from agent.planners.retrieve import K, retrieve
from agent.policy import Cost, Policy
from agent.search import search
from domain.errors import UnavailableError, UsageError
from domain.tool import ToolId
from evaluation.names import Key
from evaluation.oracle import OraclePolicy
from evaluation.planning import means, plan_all, seconds_p50, table
from evaluation.queries import Query, read_queries
from evaluation.rewired import shuffled, without_edges
from graph.store import GraphReads
from wiring.container import Container, open_container
from wiring.runs import budget_of

console = Console(stderr=True)
Edges = Literal["real", "none", "shuffled"]


def planning(
    queries: Annotated[Path, typer.Option(help="Requests with their relevant APIs, JSONL, plain or gzip.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    planner: Annotated[str, typer.Option(help="dfs walks the graph, retrieve takes the first start tools.")] = "dfs",
    policy: Annotated[str, typer.Option(help="offline, llm, or oracle, which knows the relevant APIs.")] = "offline",
    edges: Annotated[Edges, typer.Option(help="The store's edges, none, or shuffled with all degrees kept.")] = "real",
    start_tools: Annotated[int, typer.Option("--k", min=1, help="Start tools that retrieve takes.")] = K,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How well planned paths match: precision, recall, F1 of their distinct APIs, and their length. No call is made."""
    try:
        planners: dict[str, Planner] = {"dfs": search, "retrieve": retrieve(start_tools)}
        if planner not in planners:
            raise UsageError(f"no planner is called {planner!r}; there are: {', '.join(planners)}")
        asked, skipped = read_queries(queries)
        figures = asyncio.run(_planning(asked, store, planners[planner], policy, edges))
    except (UsageError, UnavailableError) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    except KeyboardInterrupt:
        console.print("interrupted; nothing was scored")
        raise typer.Exit(130) from None
    for item in skipped:
        console.print(f"skipped {item}", style="yellow", markup=False, soft_wrap=True)
    if as_json:
        sys.stdout.write(orjson.dumps(figures).decode() + "\n")
    else:
        _show({**figures["groups"], "all": figures["overall"]})
    raise typer.Exit(1 if skipped else 0)


async def _planning(
    asked: list[Query], store: Path | None, planner: Planner, policy: str, edges: Edges
) -> dict[str, Any]:
    async with open_container(store=store) as container:
        reads = await _edges(container, edges)
        finder = await container.search()
        chosen = container.settings
        settings = WalkSettings(k=chosen.candidates, floor=chosen.similarity_floor, found=2 * chosen.candidates)
        cost = Cost()

        async def planned(request: str, relevant: frozenset[Key]) -> tuple[ToolId, ...]:
            who: Policy = (
                OraclePolicy(relevant, container.policy("offline")) if policy == "oracle" else container.policy(policy)
            )
            steps = walk(
                request, reads, finder, who, planner=planner, weights=container.weights, settings=settings,
                budget=budget_of(container),
            )  # fmt: skip
            ended = await path_of(steps)
            cost.model_calls += who.cost.model_calls
            cost.prompt_tokens += who.cost.prompt_tokens
            cost.completion_tokens += who.cost.completion_tokens
            return ended.path

        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("requests", total=len(asked))
            done = await plan_all(asked, planned, lambda count: bars.update(task, completed=count))
    return {
        "groups": table(done),
        "overall": means(done),
        "model_calls": cost.model_calls,
        "tokens": {"prompt": cost.prompt_tokens, "completion": cost.completion_tokens},
        "seconds_p50": seconds_p50(done),
    }


async def _edges(container: Container, edges: Edges) -> GraphReads:
    if edges == "none":
        return await without_edges(container.graph)
    return await shuffled(container.graph) if edges == "shuffled" else container.graph


def _show(rows: dict[str, dict[str, Any]]) -> None:
    shown = Table(box=None)
    for column in ("", "n", "precision", "recall", "F1", "95 % interval", "path length"):
        shown.add_column(column, justify="right" if column else "left")
    for name, row in rows.items():
        low, high = row["f1_interval"]
        figures = (f"{row[key]:.3f}" for key in ("precision", "recall", "f1"))
        shown.add_row(name, str(row["n"]), *figures, f"{low:.3f} to {high:.3f}", f"{row['path_length']:.2f}")
    Console().print(shown)
