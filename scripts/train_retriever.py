"""Trains an encoder on the requests of trajectories (extra ``neural``)."""

import asyncio
import random
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _evaluate_output import console, scoring
from _training_sources import UNLIKE, Unlike, check_folder, counts, tools_of, trajectories_of
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from domain.errors import UsageError
from evaluation.queries import read_queries_strictly, write_queries
from retriever.training.batches import find_neighbours
from retriever.training.checkpoints import CheckpointFolder
from retriever.training.encoder import TrainedEncoder, resolve_precision
from retriever.training.examples import (
    DocumentCorpus,
    TrainingExample,
    add_negatives,
    add_requests,
    compute_fingerprint,
    count_kinds,
    split_examples,
)
from retriever.training.export import EXPORT_MODULES, export_encoder
from retriever.training.finetune import TrainingResult, finetune_encoder
from retriever.training.recipe import BUNDLED_RECIPE, TrainingRecipe, read_recipe
from retriever.training.requirements import TRAINING_MODULES, require_modules
from retriever.training.synthetic_requests import SyntheticRequest
from retriever.training.validation import HeldOutEvaluator
from retriever.training.written_negatives import WrittenNegative
from wiring.training_set import build_training_set, read_metatool, read_seal_tools, to_queries
from wiring.written_examples import read_written


def main(
    tools: Annotated[Path, typer.Option(help="Tools, JSONL, plain or gzip.")],
    trajectories: Annotated[Path, typer.Option(help="Trajectories, JSONL, plain or gzip.")],
    measured: Annotated[Path, typer.Option(help="Queries that are measured on: requests near them are left out.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the model, its checkpoint and the report; the same one goes on.")
    ],
    recipe: Annotated[Path, typer.Option(help="Recipe, TOML.")] = BUNDLED_RECIPE,
    base: Annotated[
        str, typer.Option(help="Model to begin with in place of the recipe's: a folder or a hub's name.")
    ] = "",
    others: Annotated[
        Path | None, typer.Option(help="Folder with seal_tools/ and metatool/, catalogues of others.")
    ] = None,
    foreign: Annotated[int, typer.Option(help="Requests of those catalogues, at most.")] = 300,
    unlike: Unlike = UNLIKE,
    negatives: Annotated[Path | None, typer.Option(help="Written negatives, from write_examples.py.")] = None,
    requests: Annotated[Path | None, typer.Option(help="Made-up requests, from write_examples.py.")] = None,
    export: Annotated[Path | None, typer.Option(help="Folder for the int8 encoder made of the result.")] = None,
    sample: Annotated[int, typer.Option(help="Only so many requests; 0: all.")] = 0,
) -> None:
    """Train, stop where held-out requests gain nothing more, and write ``out/model``, ``out/report.json`` and ``out/held_out.jsonl``.

    What was held out teaches the re-ranker (``train_reranker.py``). ``--export`` makes an encoder of it that runs without torch.
    """
    with scoring("the training is interrupted; the same command goes on from its last judgement"):
        chosen = read_recipe(recipe)
        for folder in filter(None, (out, export)):
            check_folder(folder)
        require_modules(*TRAINING_MODULES, *(EXPORT_MODULES if export else ()))
        chosen = resolve_precision(chosen.model_copy(update={"base": base}) if base else chosen)
        if not (out / "checkpoint").exists():
            TrainedEncoder(chosen)  # a base that is not at hand is told before the work
        documents = tools_of(tools)
        catalogues = [read_seal_tools(others / "seal_tools"), read_metatool(others / "metatool")] if others else []
        walked = trajectories_of(trajectories)
        corpus, examples = build_training_set(
            documents, walked, read_queries_strictly(measured), catalogues, foreign, counts(unlike, walked)
        )
        if sample:
            examples = random.Random(chosen.seed).sample(examples, min(sample, len(examples)))
        if requests:
            examples = add_requests(corpus, examples, read_written(requests, SyntheticRequest), chosen)
        if negatives:
            written = read_written(negatives, WrittenNegative)
            corpus, examples = add_negatives(corpus, examples, written, {one.id: one for one in documents})
        trained, told = _train(corpus, examples, chosen, out)
        texts = [one.request for one in examples[:200]]
        exported = export_encoder(out / "model", export, texts) if export else None
    report = {
        "recipe": chosen.model_dump(),
        "examples": told,
        **asdict(trained),
        "export": exported and asdict(exported),
    }
    (out / "report.json").write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
    sys.stdout.write(orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() + "\n")


def _train(
    corpus: DocumentCorpus, examples: list[TrainingExample], recipe: TrainingRecipe, out: Path
) -> tuple[TrainingResult, dict[str, int]]:
    learnt, judged = split_examples(examples, recipe.held_out, recipe.fold)
    if not learnt or not judged:
        raise UsageError(f"{len(examples)} requests are too few to learn from some of them and to judge by others")
    out.mkdir(parents=True, exist_ok=True)
    # Another training is refused before anything is written.
    checkpoints = CheckpointFolder(out / "checkpoint", recipe, compute_fingerprint(corpus, learnt))
    write_queries(to_queries(corpus, learnt), out / "learnt.jsonl")
    write_queries(to_queries(corpus, judged), out / "held_out.jsonl")
    told = count_kinds(learnt) | {"judged": len(judged)}
    console.print(
        f"{told['learnt']} requests to learn from ({told['foreign']} foreign, {told['made_up']} made up, "
        f"{told['with_written_negatives']} with written negatives), {told['judged']} to judge by"
    )
    near = asyncio.run(find_neighbours(corpus, [*learnt, *judged], recipe.mined_from))
    judge = HeldOutEvaluator(corpus, judged, near[len(learnt) :])
    columns = (
        TextColumn("step {task.completed}/{task.total}"),
        BarColumn(),
        TextColumn("loss {task.fields[loss]:.3f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        return finetune_encoder(corpus, learnt, near[: len(learnt)], judge, checkpoints, out / "model", _Bar(bar)), told


class _Bar:
    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("training", visible=False, loss=0.0)

    def begin(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total, visible=True)

    def step(self, done: int, total: int, loss: float) -> None:
        self._bar.update(self._task, completed=done, total=total, loss=loss)

    def report(self, text: str) -> None:
        self._bar.console.print(text, highlight=False)


if __name__ == "__main__":
    typer.run(main)
