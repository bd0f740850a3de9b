"""Negatives and requests written for a training, by a language model or without one.

They are stored in files, one on each line.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent.llm.client.chat import ChatMessage, ChatModel
from agent.llm.structured_output import ModelAllowance, ModelPrompter
from domain.errors import BrokenInputError, UsageError
from domain.model import describe_errors
from domain.tool import ToolDoc, ToolId
from evaluation.overlap import ReferenceRequests
from graph.importers.lines import read_lines
from graph.importers.records import SkippedInput
from retriever.training.examples import DocumentCorpus, TrainingExample, select_retrievable
from retriever.training.llm_tasks import (
    AnswerCache,
    ReportTasks,
    WritingBudget,
    WritingResult,
    WritingTask,
    WritingUsage,
    answer_tasks,
)
from retriever.training.recipe import TrainingRecipe
from retriever.training.synthetic_requests import (
    OFFLINE,
    SyntheticRequest,
    build_request_task,
    build_template_requests,
    select_usable,
)
from retriever.training.written_negatives import WrittenNegative, build_negatives_task, select_distinct

A = TypeVar("A", bound=BaseModel)


def read_written(path: Path, kind: type[A]) -> list[A]:
    """Read the lines of a file that ``scripts/write_examples.py`` wrote.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line is something else.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; scripts/write_examples.py writes one")
    items: list[A] = []
    for line in read_lines(path):
        if isinstance(line, SkippedInput):
            raise BrokenInputError(line.reason, file=str(path), line=line.line)
        try:
            items.append(kind.model_validate_json(line.body))
        except ValidationError as error:
            raise BrokenInputError(describe_errors(error), file=str(path), line=line.number) from error
    return items


def write_lines(path: Path, items: Iterable[BaseModel]) -> None:
    """Write one line for each item, in place of the former file: all of it or nothing."""
    part_file = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part_file.write_text("".join(item.model_dump_json() + "\n" for item in items), encoding="utf-8")
        part_file.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


MAX_BM25_RANK = 10
"""Largest BM25 rank of the document that a made-up request is for."""

_MAX_PER_REQUEST = 2
"""Number of solving documents of a request for which negatives are written: a request may have a dozen."""
_TASK_SECONDS = 600.0
"""Time limit for one task, retries and a complaint included; the settings limit each attempt."""


class ModelWriter:
    """Writer that asks a chat model."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self._model = model

    async def write(self, task: WritingTask[A]) -> WritingResult[A]:
        """Do a task; see ``TaskWriter``."""
        prompter = ModelPrompter(self._model, ModelAllowance(seconds=_TASK_SECONDS))
        messages = (ChatMessage("system", task.system), ChatMessage("user", task.user))
        answer, _ = await prompter.decide(task.purpose, messages, task.answer, task.check)
        return WritingResult(
            answer, prompter.cost.model_calls, prompter.cost.prompt_tokens, prompter.cost.completion_tokens
        )


class ExampleWriting:
    """Writing of examples by a model within bounds, with a cache of its earlier answers."""

    def __init__(self, model: ChatModel, cache: AnswerCache, budget: WritingBudget, report: ReportTasks) -> None:
        self._writer = ModelWriter(model)
        self._cache = cache
        self._budget = budget
        self._report = report

    async def write_negatives(
        self,
        examples: Iterable[TrainingExample],
        corpus: DocumentCorpus,
        documents: Mapping[ToolId, ToolDoc],
        count: int,
    ) -> tuple[list[WrittenNegative], WritingUsage]:
        """Write up to ``count`` documents against each request and each of the first documents that solved it."""
        pairs = [
            (example, row)
            for example in examples
            for row in example.positive_rows[:_MAX_PER_REQUEST]
            if corpus.ids[row] in documents
        ]
        tasks = [build_negatives_task(example.request, documents[corpus.ids[row]], count) for example, row in pairs]
        answers, usage = await answer_tasks(tasks, self._writer, self._cache, self._budget, self._report)
        negatives: list[WrittenNegative] = []
        for (example, row), answer in zip(pairs, answers, strict=True):
            if answer is not None:
                positives = [
                    documents[corpus.ids[solved_row]]
                    for solved_row in example.positive_rows
                    if corpus.ids[solved_row] in documents
                ]
                fields = {"request": example.request, "tool": corpus.ids[row], "by": self._writer.name}
                distinct = select_distinct(answer.documents, positives)[:count]
                negatives += [WrittenNegative(**fields, **written.model_dump()) for written in distinct]
        return negatives, usage

    async def write_requests(self, tools: Sequence[ToolDoc], count: int) -> tuple[list[SyntheticRequest], WritingUsage]:
        """Write ``count`` requests that each tool serves."""
        tasks = [build_request_task(tool, count) for tool in tools]
        answers, usage = await answer_tasks(tasks, self._writer, self._cache, self._budget, self._report)
        return [
            SyntheticRequest(request=request, tool=tool.id, by=self._writer.name)
            for tool, answer in zip(tools, answers, strict=True)
            if answer is not None
            for request in select_usable(answer)[:count]
        ], usage


def make_offline_requests(tools: Sequence[ToolDoc], recipe: TrainingRecipe) -> list[SyntheticRequest]:
    """Make requests without a model; they are weaker, see :mod:`retriever.training.synthetic_requests`."""
    return [
        SyntheticRequest(request=request, tool=tool.id, by=OFFLINE)
        for tool in tools
        for request in build_template_requests(tool, recipe.synthetic_per_api, recipe.seed)
    ]


def check_replaceable(path: Path) -> None:
    """Raise ``UsageError`` where the file holds requests of a model, which offline ones must not replace."""
    others = (
        {request.by for request in read_written(path, SyntheticRequest)} - {OFFLINE} if path.exists() else set[str]()
    )
    if others:
        raise UsageError(f"{path} holds requests by {min(others) or 'others'}: name another --out, or move them away")


def sample_unsolved(
    corpus: DocumentCorpus,
    examples: Iterable[TrainingExample],
    documents: Mapping[ToolId, ToolDoc],
    limit: int,
    seed: int,
) -> list[ToolDoc]:
    """Return documents of APIs that no example is solved by, each API once; a random sample of ``limit`` (0: all)."""
    solved = {corpus.names[row] for example in examples for row in example.positive_rows}
    rows = [copies[0] for name, copies in corpus.rows_by_name.items() if name not in solved]
    tools = [documents[corpus.ids[row]] for row in rows if corpus.ids[row] in documents]
    return random.Random(seed).sample(tools, min(limit, len(tools))) if limit else tools


async def select_learnable(
    requests: Sequence[SyntheticRequest],
    corpus: DocumentCorpus,
    measured: Iterable[str],
    report: Callable[[int, int], None],
) -> tuple[list[SyntheticRequest], dict[str, int]]:
    """Return the requests that find their tool and are near no measured request; how many were dropped, by reason."""
    findable = await select_retrievable(corpus, requests, MAX_BM25_RANK, report)
    measured_requests = ReferenceRequests(measured)
    learnable = [request for request in findable if not measured_requests.has_near_duplicate(request.request)]
    return learnable, {"not_found": len(requests) - len(findable), "near_measured": len(findable) - len(learnable)}
