"""`evaluate.py retrieval`: start tools against the relevant APIs of each request, one row for each way to find them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from _evaluate_output import console, scoring, tell
from _labelled_requests import read_labelled
from _retrieval_view import show_retrieval
from rich.progress import Progress

from domain.errors import UsageError
from evaluation.api_names import ApiName
from evaluation.queries import RetrievalQuery, read_queries, read_queries_strictly
from evaluation.retrieval import RetrievalSearch, Scores, rank_all
from evaluation.retrieval_errors import collect_errors, render_markdown, sample_wrong_first
from evaluation.retrieval_figures import (
    ApiKnowledge,
    collect_api_knowledge,
    compare_rankings,
    compute_median_seconds,
    compute_row,
)
from wiring.container import Container, open_container
from wiring.measured_searches import build_searches
from wiring.settings import Settings, list_variables, read_settings, read_settings_file, warn_of_unknown_settings

Step = Callable[[Container], Awaitable[None]]


@dataclass(slots=True)
class Scoring:
    """What is scored, and what was until now: an interruption loses none of it. ``told``: the row whose figures stand for the store."""

    names: list[str]
    asked: list[RetrievalQuery]
    trained: frozenset[ApiName]
    known: ApiKnowledge | None = None
    told: str = ""
    scores: Scores = field(default_factory=dict[str, Any])
    models: dict[str, str] = field(default_factory=dict[str, str])


def retrieval(
    queries: Annotated[
        Path | None, typer.Option(help="Requests with their relevant APIs, JSONL, plain or gzip.")
    ] = None,
    trajectories: Annotated[
        Path | None,
        typer.Option(help="Instead of queries: trajectories, whose requests the APIs of their paths label."),
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(help="With trajectories: queries that are measured on; requests near them are left out."),
    ] = None,
    without: Annotated[str, typer.Option(help="A source of trajectories to leave out.")] = "rotbench",
    sample: Annotated[
        int, typer.Option(min=1, help="Requests of trajectories, of one and of several tool sets each.")
    ] = 200,
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    rows: Annotated[
        str, typer.Option(help="Ways to search, with commas; by default all. The others are compared with the first.")
    ] = "",
    against: Annotated[
        Path | None, typer.Option(help="Another store, of the same tools with another encoder: its rows follow.")
    ] = None,
    against_settings: Annotated[
        Path | None, typer.Option(help="Settings of that store where they differ, as in a .env file.")
    ] = None,
    trained_on: Annotated[
        list[Path] | None, typer.Option(help="Queries that the encoder was trained on: their APIs count as seen.")
    ] = None,
    errors: Annotated[
        int, typer.Option(min=0, help="Write that many requests whose first tool is wrong by the last row, to read.")
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Where to: FILE.jsonl and FILE.md.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How well start tools match: NDCG, recall, COMP, MRR with intervals, by group, split, and seen and unseen APIs."""
    stopped = False
    with scoring():
        if (queries is None) == (trajectories is None):
            raise UsageError("name either --queries or --trajectories")
        if bool(errors) != (out is not None):
            raise UsageError("--errors and --out go together: how many to write, and where to")
        asked, skipped = read_queries(queries) if queries else ([], [])
        names = [name.strip() for name in rows.split(",") if name.strip()]
        run = Scoring(names, asked, _trained(trained_on or []))

        async def prepared(container: Container) -> None:
            if trajectories is not None:
                documents = [document async for document in container.graph.stream_documents()]
                run.asked = read_labelled(trajectories, measured, without, documents, sample)

        async def written(container: Container) -> None:
            if out is not None:
                await _write_errors(run, container, errors, out)

        try:
            asyncio.run(_score(run, store, prepared, written))
            if against is not None:
                asyncio.run(_score_beside(run, against, _settings(against_settings)))
        except KeyboardInterrupt:
            if not run.scores:
                raise
            stopped = True
            console.print("interrupted; these are the figures of what was scored so far")
        figures = {**_figures(run), "stopped": stopped}
    tell(figures, show_retrieval, as_json=as_json, skipped=skipped)
    if stopped:
        raise typer.Exit(130)


def _trained(paths: list[Path]) -> frozenset[ApiName]:
    return frozenset[ApiName]().union(*(query.relevant for path in paths for query in read_queries_strictly(path)))


def _settings(path: Path | None) -> Settings:
    """The process's settings, those of the file before them."""
    if path is None:
        return read_settings()
    warn_of_unknown_settings(list_variables(path))
    return read_settings(**read_settings_file(path))


async def _score(run: Scoring, store: Path | None, prepared: Step, after: Step) -> None:
    async with open_container(store=store) as container:
        await prepared(container)
        run.known = await collect_api_knowledge(run.asked, container.graph, run.trained)
        searches = await build_searches(container, run.names)
        run.told = list(searches)[-1]
        await _rank(run, container, searches)
        await after(container)


async def _write_errors(run: Scoring, container: Container, count: int, out: Path) -> None:
    """Of the last row of the store itself."""
    *_, (name, search) = (await build_searches(container, run.names)).items()
    found = await collect_errors(sample_wrong_first(run.scores.get(name, []), count), search, container.graph)
    title = f"{len(found)} requests whose first tool is wrong by {name}"
    try:
        out.with_suffix(".jsonl").write_bytes(b"".join(orjson.dumps(one.to_record()) + b"\n" for one in found))
        out.with_suffix(".md").write_text(render_markdown(found, title), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written ({error}); name a file in a folder that is there") from error
    console.print(f"{title}: {out.with_suffix('.jsonl')}, {out.with_suffix('.md')}", markup=False, soft_wrap=True)


async def _score_beside(run: Scoring, store: Path, settings: Settings) -> None:
    async with open_container(settings, store) as container:
        found = await build_searches(container)
        for name in run.names:
            if name not in found:
                console.print(f"no row {name}, {store.name}: no re-ranker is in use there", style="yellow")
        names = [name for name in run.names or found if name in found]
        await _rank(run, container, {f"{name}, {store.name}": found[name] for name in names})


async def _rank(run: Scoring, container: Container, searches: Mapping[str, RetrievalSearch]) -> None:
    run.models |= dict.fromkeys(searches, (await container.embedder()).identity)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(", ".join(searches), total=len(run.asked))
        await rank_all(run.asked, searches, run.scores, progress=lambda done: bars.update(task, completed=done))


def _figures(run: Scoring) -> dict[str, Any]:
    given = run.known or ApiKnowledge(frozenset(), frozenset(), frozenset())
    told: dict[str, Any] = {
        name: {
            **compute_row(scored, given),
            "seconds": sum(one.seconds for one in scored),
            "seconds_p50": compute_median_seconds(scored),
            "model": run.models[name],
        }
        for name, scored in run.scores.items()
    }
    served = dict(told.get(run.told, {}))
    first, *others = run.scores or [""]
    for name in others:
        told[name]["against"] = {"row": first, **compare_rankings(run.scores[name], run.scores[first], given)}
    return {
        **served,
        "rows": told,
        "requests": len(run.asked),
        "relevant": len(given.relevant),
        "missing": len(given.relevant - given.documented),
        "relevant_unseen": len(given.relevant - given.seen),
    }
