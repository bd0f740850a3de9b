"""Trains the re-ranker on requests that the encoder did not learn from (extra ``neural``)."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _evaluate_output import console, scoring
from _training_sources import trajectories_of
from rich.progress import Progress
from rich.table import Table

from domain.errors import UsageError
from domain.trajectory import Trajectory
from evaluation.retrieval import ScoredQuery, tabulate_means
from evaluation.retrieval import Table as Figures
from retriever.features import (
    FEATURE_NAMES,
    NAME_FEATURES,
    PRECEDENT_FEATURES,
    REQUEST_FEATURES,
    SCORE_FEATURES,
    TOOLSET_FEATURES,
    WALK_FEATURES,
    FloatArray,
    argsort_descending,
)
from retriever.training.requirements import require_modules
from retriever.training.reranker import RANKING_MODULES, score_by_cross_validation, train_reranker
from wiring.container import open_container
from wiring.reranker_training import RankedRequest, collect_ranked_requests

_GROUPS = {
    "scores": SCORE_FEATURES,
    "tool sets": TOOLSET_FEATURES,
    "names": NAME_FEATURES,
    "walks": WALK_FEATURES,
    "precedents": PRECEDENT_FEATURES,
    "the request": REQUEST_FEATURES,
}


def main(
    store: Annotated[Path, typer.Option(help="Folder of the store, tools indexed by the encoder in use.")],
    trajectories: Annotated[Path, typer.Option(help="Trajectories, JSONL, plain or gzip.")],
    fold: Annotated[
        list[Path],
        typer.Option(
            help="Folder that train_retriever.py wrote with --export FOLDER/encoder; several: of other folds."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File for the weights, which FOOTPATH_RERANKER_FILE then names.")],
    seed: Annotated[int, typer.Option(help="Seed of the parts in which it is judged.")] = 7,
) -> None:
    """Print what each group of features gives, each request judged by a re-ranker that did not see it; then learn from all."""
    with scoring("what is interrupted is lost, but the vectors of tools: the same command goes on with them"):
        require_modules(*RANKING_MODULES)
        if not out.parent.is_dir():
            raise UsageError(f"{out.parent} is no folder; name a file in one that is there with --out")
        walked = trajectories_of(trajectories)
        asked, encoder = asyncio.run(_gathered(store, fold, walked))
        judged = [one.judged for one in asked]
        fused = FEATURE_NAMES.index("fused")
        rows = {"fused": _figures(asked, [one.features[:, fused] for one in judged])}
        rows["re-ranked"] = _figures(asked, score_by_cross_validation(judged, seed))
        for name, group in _GROUPS.items():
            rows[f"re-ranked without {name}"] = _figures(asked, score_by_cross_validation(judged, seed, group))
        out.write_bytes(orjson.dumps(train_reranker(judged, encoder).model_dump(), option=orjson.OPT_INDENT_2) + b"\n")
    _show(rows)
    _weigh(rows)
    sys.stdout.write(orjson.dumps(rows).decode() + "\n")


async def _gathered(store: Path, folds: list[Path], walked: list[Trajectory]) -> tuple[list[RankedRequest], str]:
    async with open_container(store=store) as container:
        embedder, _, _ = await container.get_retrieval()
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            task = bars.add_task("", total=None)
            found = await collect_ranked_requests(
                container,
                folds,
                walked,
                lambda what, done, total: bars.update(task, description=what, completed=done, total=total),
            )
        return found, embedder.identity


def _figures(asked: Sequence[RankedRequest], scores: Sequence[FloatArray]) -> Figures:
    ranked = [
        ScoredQuery(one.query, tuple(dict.fromkeys(one.keys[place] for place in argsort_descending(judged))))
        for one, judged in zip(asked, scores, strict=True)
    ]
    return tabulate_means(ranked, lambda query: query.split)


def _weigh(rows: dict[str, Figures]) -> None:
    """Say so where it would do harm."""
    before, after = (
        sum(row["n"] * row["ndcg@5"] for row in rows[name].values()) / sum(row["n"] for row in rows[name].values())
        for name in ("fused", "re-ranked")
    )
    if after <= before:
        console.print(
            f"this re-ranker orders no better than the search without one (NDCG@5 {after:.3f} against {before:.3f}): "
            "teach it with more requests before it is used",
            style="yellow",
            soft_wrap=True,
        )


def _show(rows: dict[str, Figures]) -> None:
    shown = Table(box=None)
    for column in ("", *(f"{split}: {name}" for split in next(iter(rows.values())) for name in ("ndcg@1", "ndcg@5"))):
        shown.add_column(column, justify="right" if column else "left")
    for name, figures in rows.items():
        cells = (f"{row[measure]:.3f}" for row in figures.values() for measure in ("ndcg@1", "ndcg@5"))
        shown.add_row(name, *cells)
    console.print(shown)


if __name__ == "__main__":
    typer.run(main)
