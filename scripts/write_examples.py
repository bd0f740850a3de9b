"""Writes hard negatives and requests for a training, by the language model of the settings or, requests only, without one."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _evaluate_output import console, scoring
from _training_sources import UNLIKE, Unlike, check_folder, counts, tools_of, trajectories_of
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from domain.errors import ModelUnavailableError, UsageError
from domain.tool import ToolDoc
from evaluation.queries import RetrievalQuery, read_queries_strictly
from retriever.training.examples import DocumentCorpus, TrainingExample
from retriever.training.llm_tasks import AnswerCache, WritingBudget, WritingUsage
from retriever.training.recipe import BUNDLED_RECIPE, TrainingRecipe, read_recipe
from wiring.models import create_chat_model
from wiring.settings import read_settings
from wiring.training_set import build_training_set
from wiring.written_examples import (
    ExampleWriting,
    check_replaceable,
    make_offline_requests,
    sample_unsolved,
    select_learnable,
    write_lines,
)

COLUMNS = (
    TextColumn("{task.description} {task.completed}/{task.total}"),
    BarColumn(),
    TextColumn("{task.fields[spent]}"),
    TimeRemainingColumn(),
)


class What(StrEnum):
    negatives = "negatives"
    requests = "requests"


def main(
    tools: Annotated[Path, typer.Option(help="Tools, JSONL, plain or gzip.")],
    trajectories: Annotated[Path, typer.Option(help="Trajectories, JSONL, plain or gzip.")],
    measured: Annotated[Path, typer.Option(help="Queries that are measured on: nothing near them is written.")],
    out: Annotated[Path, typer.Option(help="Folder for the files and what the model answered; the same one goes on.")],
    recipe: Annotated[Path, typer.Option(help="Recipe, TOML.")] = BUNDLED_RECIPE,
    unlike: Unlike = UNLIKE,
    what: Annotated[list[What], typer.Option(help="What to write; repeatable. Both without it.")] = [],  # noqa: B006
    apis: Annotated[int, typer.Option(min=0, help="APIs to write requests for, by chance; 0: all unsolved ones.")] = 0,
    offline: Annotated[bool, typer.Option(help="Without a model: plain requests, and no negatives.")] = False,
    most: Annotated[int, typer.Option(min=0, help="Requests to the model, at most; 0: as many as it takes.")] = 0,
    tokens: Annotated[int, typer.Option(min=0, help="Tokens, at most; 0: as many as it takes.")] = 0,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Requests to the model at the same time.")] = 4,
) -> None:
    """Write ``out/negatives.jsonl`` and ``out/requests.jsonl`` for ``train_retriever.py``, and print what was used."""
    with scoring("interrupted; what the model answered is kept, and the same command goes on from there"):
        chosen = read_recipe(recipe)
        check_folder(out)
        if offline and What.negatives in what:
            raise UsageError("--offline writes requests only: leave out --what negatives, or --offline")
        if offline:
            check_replaceable(out / "requests.jsonl")
        documents = tools_of(tools)
        walked = trajectories_of(trajectories)
        queries = read_queries_strictly(measured)
        corpus, examples = build_training_set(documents, walked, queries, max_by_source=counts(unlike, walked))
        run, budget = _Run(corpus, examples, documents, queries, chosen, out), WritingBudget(most, tokens, at_once)
        with Progress(*COLUMNS, console=console) as bar:
            told = asyncio.run(run.offline(apis, bar) if offline else run.asked(what, apis, budget, bar))
    sys.stdout.write(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode() + "\n")


class _Run:
    def __init__(
        self,
        corpus: DocumentCorpus,
        examples: list[TrainingExample],
        documents: list[ToolDoc],
        measured: list[RetrievalQuery],
        recipe: TrainingRecipe,
        out: Path,
    ) -> None:
        self._corpus = corpus
        self._examples = examples
        self._documents = {document.id: document for document in documents}
        self._measured = [query.query for query in measured]
        self._recipe = recipe
        self._out = out

    def _unsolved(self, apis: int) -> list[ToolDoc]:
        return sample_unsolved(self._corpus, self._examples, self._documents, apis, self._recipe.seed)

    async def _checked(self, requests: list[Any], bar: Progress) -> dict[str, Any]:
        show = _shown(bar, "checking")
        fit, dropped = await select_learnable(requests, self._corpus, self._measured, lambda at, of: show(at, of, None))
        await asyncio.to_thread(write_lines, self._out / "requests.jsonl", fit)
        return {"written": len(fit), "dropped": dropped}

    async def offline(self, apis: int, bar: Progress) -> dict[str, Any]:
        return {"requests": await self._checked(make_offline_requests(self._unsolved(apis), self._recipe), bar)}

    async def asked(self, what: list[What], apis: int, bounds: WritingBudget, bar: Progress) -> dict[str, Any]:
        """The negatives first, both where ``what`` is empty; the bounds are for each of the two."""
        settings = await asyncio.to_thread(read_settings)
        if not (settings.model_url and settings.model_name):
            raise UsageError(
                "writing needs a language model: set FOOTPATH_MODEL_URL and FOOTPATH_MODEL_NAME, or take --offline, "
                "which writes plain requests and no negatives"
            )
        model, kept, told = create_chat_model(settings), AnswerCache(self._out / "answers.jsonl"), dict[str, Any]()
        await kept.open()
        try:
            if What.negatives in (what or What):
                writing = ExampleWriting(model, kept, bounds, _shown(bar, "negatives"))
                count = self._recipe.written_of
                negatives, usage = await writing.write_negatives(self._examples, self._corpus, self._documents, count)
                await asyncio.to_thread(write_lines, self._out / "negatives.jsonl", negatives)
                told["negatives"] = {"written": len(negatives), "usage": asdict(usage)}
            if What.requests in (what or What):
                writing = ExampleWriting(model, kept, bounds, _shown(bar, "requests"))
                requests, usage = await writing.write_requests(self._unsolved(apis), self._recipe.synthetic_per_api)
                told["requests"] = {**await self._checked(requests, bar), "usage": asdict(usage)}
        except ModelUnavailableError:
            console.print(f"what was answered so far is kept in {self._out}; the same command goes on from there")
            raise
        finally:
            await model.close()
        return told


def _shown(bar: Progress, name: str) -> Callable[[int, int, WritingUsage | None], None]:
    task = bar.add_task(name, total=None, spent="")

    def show(done: int, of: int, usage: WritingUsage | None) -> None:
        spent = f"{usage.requests} requests, {usage.prompt_tokens + usage.completion_tokens} tokens" if usage else ""
        bar.update(task, completed=done, total=of, spent=spent)

    return show


if __name__ == "__main__":
    typer.run(main)
