"""`evaluate.py sequences`: a graph learnt from a part of a benchmark's chains, planned on the rest."""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from _evaluate_output import console, scoring, tell
from _evaluate_planning import Way
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agent.budget import Budget
from agent.memory.long_term import LongTermMemory
from agent.planners.plan_only import plan_without_calls
from agent.planners.registry import build_retrieve_planner, get_planner, get_search_options
from evaluation.chain_metrics import PlannedChain, compute_means, find_best_k
from evaluation.corpora import traject_bench, ultratool
from evaluation.corpora.corpus import BenchmarkCorpus, ChainCase, split_cases, write_sources
from wiring.container import Container, open_container
from wiring.runs import build_walk_settings, create_reader
from wiring.store_build import BuildOptions, build

READERS = {"traject_bench": traject_bench.read_corpus, "ultratool": ultratool.read_corpus}
LONGEST = 12
K_CHOSEN_ON = 100
"""So many of the requests that are learnt from tell how many start tools ``retrieve`` takes."""


def sequences(
    benchmark: Annotated[Literal["traject_bench", "ultratool"], typer.Option(help="Which benchmark the folder holds.")],
    data: Annotated[Path, typer.Option(help="Folder of the benchmark.")],
    planner: Annotated[str, typer.Option(help="How to plan: dfs, thesis, react, cot, basic or retrieve.")] = "dfs",
    policy: Annotated[str, typer.Option(help="Who decides.")] = "offline",
    memory: Annotated[bool, typer.Option(help="Whether the chains of similar requests are recalled.")] = True,
    start_tools: Annotated[
        int,
        typer.Option(
            "--k", min=0, help="Start tools that retrieve takes; 0: as many as serve the learnt requests best."
        ),
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Learn a graph from four fifths of a benchmark's requests, plan the others: node F1, link F1, exact match."""
    with scoring():
        chosen = get_planner(planner, start_tools or LONGEST)
        choose_k = planner == "retrieve" and not start_tools
        way = Way(chosen, policy, memory=memory, options=get_search_options(planner))
        figures = asyncio.run(_sequences(READERS[benchmark](data), way, choose_k=choose_k))
    tell(figures, _show, as_json=as_json)


async def _sequences(corpus: BenchmarkCorpus, way: Way, *, choose_k: bool) -> dict[str, Any]:
    parts = split_cases(corpus.cases)
    with tempfile.TemporaryDirectory(prefix="footpath-") as folder:
        tools, trajectories = write_sources(corpus, parts.learnt, Path(folder))
        store = Path(folder) / "store"
        options = BuildOptions(tools=(tools,), trajectories=(trajectories,), store=store)
        _, summary = await build(options, _silent)
        async with open_container(store=store) as container:
            memories = await container.memory() if way.memory else None
            with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
                task = bars.add_task("requests", total=len(parts.seen) + len(parts.unseen))

                def advance() -> None:
                    bars.advance(task)

                k = None
                if choose_k:
                    some = parts.learnt[:K_CHOSEN_ON]
                    k = find_best_k([await _plan(case, container, way, None, _nothing) for case in some], LONGEST)
                    way = replace(way, planner=build_retrieve_planner(k))
                seen = [await _plan(case, container, way, memories, advance) for case in parts.seen]
                unseen = [await _plan(case, container, way, memories, advance) for case in parts.unseen]
    return {
        "benchmark": corpus.name,
        "learnt": len(parts.learnt),
        "transitions": summary["transitions"],
        "start_tools": k,
        "seen_chains": compute_means(seen),
        "unseen_chains": compute_means(unseen),
        "overall": compute_means([*seen, *unseen]),
    }


def _silent(stage: str, done: int, total: int | None) -> None:
    """A benchmark is built in seconds: nothing to show."""


def _nothing() -> None:
    """What is done to choose a number is no progress."""


async def _plan(
    case: ChainCase,
    container: Container,
    way: Way,
    memories: LongTermMemory | None,
    done: Callable[[], None],
) -> PlannedChain:
    ended = await plan_without_calls(
        case.request,
        container.graph,
        await container.open_search(),
        container.create_policy(way.policy),
        planner=way.planner,
        options=way.options,
        weights=container.weights,
        settings=build_walk_settings(container, way.policy),
        budget=Budget(depth=LONGEST),
        memory=memories,
        reader=create_reader(way.policy),
    )
    done()
    return PlannedChain(case.chain, ended.path)


def _show(figures: dict[str, Any]) -> None:
    shown = Table(title=f"{figures['benchmark']}: {figures['learnt']} learnt", title_justify="left", box=None)
    for column in ("", "n", "node F1", "95 % interval", "link F1", "exact", "gold", "path"):
        shown.add_column(column, justify="right" if column else "left")
    for name in ("seen_chains", "unseen_chains", "overall"):
        row = figures[name]
        low, high = row["node_f1_interval"]
        values = [f"{row['node_f1']:.3f}", f"{low:.3f} to {high:.3f}", f"{row['link_f1']:.3f}", f"{row['exact']:.3f}"]
        shown.add_row(
            name.replace("_", " "), str(row["n"]), *values, f"{row['gold_length']:.1f}", f"{row['path_length']:.1f}"
        )
    Console().print(shown)
