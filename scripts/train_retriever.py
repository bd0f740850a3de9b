"""Trains an encoder on the requests of trajectories (extra ``neural``)."""

import asyncio
import random
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import orjson
import typer
from _scoring import console, scoring
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from domain.errors import UsageError
from evaluation.corpora.corpus import load_lines
from evaluation.queries import read_queries, write_queries
from graph.importers import jsonl
from retriever.training.examples import Corpus, Example, split
from retriever.training.export import export_encoder
from retriever.training.finetune import Trained, finetune
from retriever.training.judging import Judge
from retriever.training.negatives import neighbours
from retriever.training.recipe import Recipe, read_recipe
from wiring.training import metatool, queries_of, seal_tools, training_set


def main(
    tools: Annotated[Path, typer.Option(help="Tools, JSONL, plain or gzip.")],
    trajectories: Annotated[Path, typer.Option(help="Trajectories, JSONL, plain or gzip.")],
    measured: Annotated[Path, typer.Option(help="Queries that are measured on: requests near them are left out.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the model, its checkpoint and the report; the same one goes on.")
    ],
    recipe: Annotated[Path, typer.Option(help="Recipe, TOML.")] = Path("retriever/training/recipes/minilm.toml"),
    base: Annotated[
        str, typer.Option(help="Model to begin with in place of the recipe's: a folder or a hub's name.")
    ] = "",
    others: Annotated[
        Path | None, typer.Option(help="Folder with seal_tools/ and metatool/, catalogues of others.")
    ] = None,
    foreign: Annotated[int, typer.Option(help="Requests of those catalogues, at most.")] = 300,
    unlike: Annotated[
        list[str],
        typer.Option(help="SOURCE=N: of that source of trajectories N requests at most, none to judge by; repeatable."),
    ] = ["rotbench=300"],  # noqa: B006
    export: Annotated[Path | None, typer.Option(help="Folder for the int8 encoder made of the result.")] = None,
    sample: Annotated[int, typer.Option(help="Only so many requests; 0: all.")] = 0,
) -> None:
    """Train, stop where held-out requests gain nothing more, and write ``out/model``, ``out/report.json`` and ``out/held_out.jsonl``.

    What was held out teaches the re-ranker (``train_reranker.py``). ``--export`` makes an encoder of it that runs without torch.
    """
    with scoring():
        chosen = read_recipe(recipe)
        chosen = chosen.model_copy(update={"base": base}) if base else chosen
        documents = [jsonl.tool(record) for record in load_lines(tools)]
        catalogues = [seal_tools(others / "seal_tools"), metatool(others / "metatool")] if others else []
        walked = (jsonl.trajectory(record, trajectories.name) for record in load_lines(trajectories))
        corpus, examples = training_set(
            documents, walked, read_queries(measured)[0], catalogues, foreign, _counts(unlike)
        )
        if sample:
            examples = random.Random(chosen.seed).sample(examples, min(sample, len(examples)))
        trained, counts = _train(corpus, examples, chosen, out)
        exported = export_encoder(out / "model", export, [one.request for one in examples[:200]]) if export else None
    report = {
        "recipe": chosen.model_dump(),
        "examples": counts,
        **asdict(trained),
        "export": exported and asdict(exported),
    }
    (out / "report.json").write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    sys.stdout.write(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() + "\n")


def _counts(given: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in given:
        source, _, count = one.partition("=")
        if not (source and count.isdigit()):
            raise UsageError(f"--unlike wants SOURCE=N, not {one!r}")
        found[source] = int(count)
    return found


def _train(corpus: Corpus, examples: list[Example], recipe: Recipe, out: Path) -> tuple[Trained, dict[str, int]]:
    learnt, judged = split(examples, recipe.held_out, recipe.seed)
    out.mkdir(parents=True, exist_ok=True)
    write_queries(queries_of(corpus, judged), out / "held_out.jsonl")
    counts = {"learnt": len(learnt), "foreign": sum(one.foreign for one in learnt), "judged": len(judged)}
    console.print(
        f"{counts['learnt']} requests to learn from ({counts['foreign']} foreign), {counts['judged']} to judge by"
    )
    near = asyncio.run(neighbours(corpus, [*learnt, *judged], recipe.mined_from))
    judge = Judge(corpus, judged, near[len(learnt) :])
    columns = (
        TextColumn("step {task.completed}/{task.total}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]:.3f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        return finetune(corpus, learnt, near[: len(learnt)], judge, recipe, out, _Bar(bar)), counts


class _Bar:
    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("training", total=None, loss=0.0)

    def step(self, done: int, total: int, loss: float) -> None:
        self._bar.update(self._task, completed=done, total=total, loss=loss)

    def tell(self, text: str) -> None:
        self._bar.console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
