"""`evaluate.py planning`: planned paths against the relevant APIs of each request."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import orjson
import typer
from _evaluate_output import console, scoring, tell
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agent.planners.plan_only import plan_without_calls
from agent.planners.registry import DEFAULT_START_TOOLS, Planner, get_planner, get_search_options
from agent.policy.protocol import Policy, PolicyCost
from agent.search.dfs import SearchOptions
from domain.errors import UsageError
from domain.tool import ToolId
from evaluation.api_names import ApiName
from evaluation.cached_retrieval import CachedOtherMemories, CachedToolFinder
from evaluation.graph_evidence import ApiPairs, collect_linked_pairs, group_by_evidence
from evaluation.graph_variants import WithoutCallEvidence, remove_edges, shuffle_edges
from evaluation.intervals import compute_paired_difference
from evaluation.oracle import OraclePolicy
from evaluation.planning import PlannedQuery, compute_means, compute_median_seconds, plan_all, tabulate_by_group
from evaluation.queries import RetrievalQuery, read_queries
from wiring.container import Container, open_container
from wiring.runs import build_budget, build_walk_settings, create_reader

Edges = Literal["real", "none", "shuffled"]


@dataclass(frozen=True, slots=True)
class Way:
    """How requests are planned."""

    planner: Planner
    policy: str
    edges: Edges = "real"
    memory: bool = True
    options: SearchOptions = field(default_factory=SearchOptions)


@dataclass(frozen=True, slots=True)
class Measured:
    """What all rows of a table are measured on. ``known``: what the graph's edges join."""

    container: Container
    asked: list[RetrievalQuery]
    finder: CachedToolFinder
    memories: CachedOtherMemories
    known: ApiPairs


def planning(
    queries: Annotated[Path, typer.Option(help="Requests with their relevant APIs, JSONL, plain or gzip.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    planner: Annotated[str, typer.Option(help="How to plan: dfs, thesis, react, cot, basic or retrieve.")] = "dfs",
    policy: Annotated[str, typer.Option(help="offline, llm, or oracle, which knows the relevant APIs.")] = "offline",
    edges: Annotated[Edges, typer.Option(help="The store's edges, none, or shuffled with all degrees kept.")] = "real",
    memory: Annotated[bool, typer.Option(help="Whether paths of similar requests are recalled.")] = True,
    start_tools: Annotated[
        int, typer.Option("--k", min=1, help="Start tools that retrieve takes.")
    ] = DEFAULT_START_TOOLS,
    against: Annotated[Path | None, typer.Option(help="Another evaluation's --json, to tell the difference.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How well planned paths match: precision, recall, F1 of their distinct APIs, and their length. No call is made."""
    with scoring():
        way = Way(get_planner(planner, start_tools), policy, edges, memory, get_search_options(planner))
        asked, skipped = read_queries(queries)
        figures = asyncio.run(_planning(asked, store, way))
        if against is not None:
            figures["against"] = compared(figures, _read(against))
    tell(figures, _show, as_json=as_json, skipped=skipped)


async def _planning(asked: list[RetrievalQuery], store: Path | None, way: Way) -> dict[str, Any]:
    async with measured(asked, store) as on:
        return await planned(way, on)


@asynccontextmanager
async def measured(asked: list[RetrievalQuery], store: Path | None) -> AsyncGenerator[Measured]:
    """What is measured on, while its store is open."""
    async with open_container(store=store) as container:
        finder, memories = (
            CachedToolFinder(await container.open_search()),
            CachedOtherMemories(await container.memory()),
        )
        yield Measured(container, asked, finder, memories, await collect_linked_pairs(container.graph))


async def planned(way: Way, on: Measured) -> dict[str, Any]:
    """The figures of planning all requests in one way."""
    reads, cost = WithoutCallEvidence(await _edges(on.container, way.edges)), PolicyCost()

    async def path(request: str, relevant: frozenset[ApiName]) -> tuple[ToolId, ...]:
        who = _policy(on.container, way.policy, relevant)
        ended = await plan_without_calls(
            request, reads, on.finder, who, planner=way.planner, options=way.options, weights=on.container.weights,
            settings=build_walk_settings(on.container, way.policy), budget=build_budget(on.container),
            memory=on.memories if way.memory else None, reader=create_reader(way.policy),
        )  # fmt: skip
        cost.model_calls += who.cost.model_calls
        cost.prompt_tokens += who.cost.prompt_tokens
        cost.completion_tokens += who.cost.completion_tokens
        return ended.path

    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("requests", total=len(on.asked))
        done = await plan_all(on.asked, path, lambda count: bars.update(task, completed=count))
    return {**_figures(done, group_by_evidence(done, on.known)), "remembered_requests": len(on.memories.met),
            "model_calls": cost.model_calls,
            "tokens": {"prompt": cost.prompt_tokens, "completion": cost.completion_tokens}}  # fmt: skip


def _policy(container: Container, name: str, relevant: frozenset[ApiName]) -> Policy:
    return (
        OraclePolicy(relevant, container.create_policy("offline"))
        if name == "oracle"
        else container.create_policy(name)
    )


def _figures(done: list[PlannedQuery], evidence: dict[str, list[PlannedQuery]]) -> dict[str, Any]:
    return {
        "groups": tabulate_by_group(done),
        "evidence": {name: compute_means(part) for name, part in evidence.items()},
        "overall": compute_means(done),
        "requests": {one.query.query: one.f1 for one in done},
        "of_evidence": {name: [one.query.query for one in part] for name, part in evidence.items()},
        "seconds_p50": compute_median_seconds(done),
    }


async def _edges(container: Container, edges: Edges) -> Any:
    if edges == "none":
        return await remove_edges(container.graph)
    return await shuffle_edges(container.graph) if edges == "shuffled" else container.graph


def compared(figures: dict[str, Any], other: dict[str, float]) -> dict[str, Any]:
    """F1 here less F1 there (by request), over the requests of both: of all, and of each group of evidence."""
    told = _difference(figures, other, list(figures["requests"]))
    groups = {name: _difference(figures, other, part) for name, part in figures["of_evidence"].items()}
    return {**told, "evidence": groups}


def _difference(figures: dict[str, Any], other: dict[str, float], names: list[str]) -> dict[str, Any]:
    both = [name for name in names if name in other]
    return {
        "n": len(both),
        **compute_paired_difference([figures["requests"][n] for n in both], [other[n] for n in both]),
    }


def _read(path: Path) -> dict[str, float]:
    try:
        return cast("dict[str, float]", orjson.loads(path.read_bytes())["requests"])
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is no output of evaluate.py planning --json ({type(error).__name__})") from error


def _show(figures: dict[str, Any]) -> None:
    shown = Table(box=None)
    for column in ("", "n", "precision", "recall", "F1", "95 % interval", "path length"):
        shown.add_column(column, justify="right" if column else "left")
    for name, row in {**figures["groups"], **figures["evidence"], "all": figures["overall"]}.items():
        low, high = row["f1_interval"]
        values = (f"{row[key]:.3f}" for key in ("precision", "recall", "f1"))
        shown.add_row(name, str(row["n"]), *values, f"{low:.3f} to {high:.3f}", f"{row['path_length']:.2f}")
    Console().print(shown)
    if figures["remembered_requests"]:
        Console().print(f"{figures['remembered_requests']} requests were learnt from: they are no fair measure")
    if "against" in figures:
        told = figures["against"]
        low, high = told["interval"]
        Console().print(f"F1 {told['difference']:+.3f} against it ({low:+.3f} to {high:+.3f}, {told['n']} requests)")
