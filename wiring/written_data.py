"""Negatives and requests written for a training, by a language model or without one.

They are stored in files, one on each line.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent.llm.client.chat import ChatModel, Message
from agent.llm.structured_output import Allowance, Asker
from domain.errors import BrokenInputError, UsageError
from domain.model import what_is_wrong
from domain.tool import ToolDoc, ToolId
from evaluation.overlap import Requests
from graph.importers.lines import read_lines
from graph.importers.records import Skipped
from retriever.training.answer_cache import AnswerCache
from retriever.training.corpus_search import leading_back
from retriever.training.examples import Corpus, Example
from retriever.training.llm_tasks import Bounds, Task, Told, Usage, Written, ask_all
from retriever.training.recipe import Recipe
from retriever.training.template_requests import OFFLINE, plain_requests
from retriever.training.written_negatives import WrittenNegative, lookalike_task, telling_apart
from retriever.training.written_requests import SyntheticRequest, request_task, usable

A = TypeVar("A", bound=BaseModel)


def read_written(path: Path, kind: type[A]) -> list[A]:
    """Read the lines of a file that ``scripts/write_examples.py`` wrote.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line is something else.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; scripts/write_examples.py writes one")
    found: list[A] = []
    for line in read_lines(path):
        if isinstance(line, Skipped):
            raise BrokenInputError(line.reason, file=str(path), line=line.line)
        try:
            found.append(kind.model_validate_json(line.body))
        except ValidationError as error:
            raise BrokenInputError(what_is_wrong(error), file=str(path), line=line.number) from error
    return found


def write_lines(path: Path, items: Iterable[BaseModel]) -> None:
    """Write one line for each item, in place of the former file: all of it or nothing."""
    beside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text("".join(item.model_dump_json() + "\n" for item in items), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


FIRST = 10
"""Largest BM25 rank of the document that a made-up request is for."""

_OF_A_REQUEST = 2
"""Number of solving documents of a request for which negatives are written: a request may have a dozen."""
_SECONDS = 600.0
"""Time limit for one task, retries and a complaint included; the settings limit each attempt."""


class ModelWriter:
    """Writer that asks a chat model."""

    def __init__(self, model: ChatModel) -> None:
        self.name = model.name
        self._model = model

    async def write(self, task: Task[A]) -> Written[A]:
        """Do a task; see ``Writer``."""
        asker = Asker(self._model, Allowance(seconds=_SECONDS))
        messages = (Message("system", task.system), Message("user", task.user))
        answer, _ = await asker.decide(task.purpose, messages, task.answer, task.check)
        return Written(answer, asker.cost.model_calls, asker.cost.prompt_tokens, asker.cost.completion_tokens)


class Writing:
    """Writing of examples by a model within bounds, with a cache of its earlier answers."""

    def __init__(self, model: ChatModel, kept: AnswerCache, bounds: Bounds, told: Told) -> None:
        self._writer = ModelWriter(model)
        self._kept = kept
        self._bounds = bounds
        self._told = told

    async def negatives(
        self, examples: Iterable[Example], corpus: Corpus, documents: Mapping[ToolId, ToolDoc], count: int
    ) -> tuple[list[WrittenNegative], Usage]:
        """Write up to ``count`` documents against each request and each of the first documents that solved it."""
        pairs = [(one, row) for one in examples for row in one.solved[:_OF_A_REQUEST] if corpus.ids[row] in documents]
        tasks = [lookalike_task(one.request, documents[corpus.ids[row]], count) for one, row in pairs]
        answers, usage = await ask_all(tasks, self._writer, self._kept, self._bounds, self._told)
        found: list[WrittenNegative] = []
        for (one, row), answer in zip(pairs, answers, strict=True):
            if answer is not None:
                positives = [documents[corpus.ids[each]] for each in one.solved if corpus.ids[each] in documents]
                fields = {"request": one.request, "tool": corpus.ids[row], "by": self._writer.name}
                apart = telling_apart(answer.documents, positives)[:count]
                found += [WrittenNegative(**fields, **written.model_dump()) for written in apart]
        return found, usage

    async def requests(self, tools: Sequence[ToolDoc], count: int) -> tuple[list[SyntheticRequest], Usage]:
        """Write ``count`` requests that each tool serves."""
        tasks = [request_task(tool, count) for tool in tools]
        answers, usage = await ask_all(tasks, self._writer, self._kept, self._bounds, self._told)
        return [
            SyntheticRequest(request=request, tool=tool.id, by=self._writer.name)
            for tool, answer in zip(tools, answers, strict=True)
            if answer is not None
            for request in usable(answer)[:count]
        ], usage


def offline_requests(tools: Sequence[ToolDoc], recipe: Recipe) -> list[SyntheticRequest]:
    """Make requests without a model; they are weaker, see :mod:`retriever.training.template_requests`."""
    return [
        SyntheticRequest(request=request, tool=tool.id, by=OFFLINE)
        for tool in tools
        for request in plain_requests(tool, recipe.synthetic_per_api, recipe.seed)
    ]


def check_replaceable(path: Path) -> None:
    """Raise ``UsageError`` where the file holds requests of a model, which offline ones must not replace."""
    others = {one.by for one in read_written(path, SyntheticRequest)} - {OFFLINE} if path.exists() else set[str]()
    if others:
        raise UsageError(f"{path} holds requests by {min(others) or 'others'}: name another --out, or move them away")


def unsolved(
    corpus: Corpus, examples: Iterable[Example], documents: Mapping[ToolId, ToolDoc], most: int, seed: int
) -> list[ToolDoc]:
    """Return documents of APIs that no example is solved by, each API once; a random sample of ``most`` (0: all)."""
    solved = {corpus.names[row] for one in examples for row in one.solved}
    rows = [copies[0] for name, copies in corpus.copies.items() if name not in solved]
    tools = [documents[corpus.ids[row]] for row in rows if corpus.ids[row] in documents]
    return random.Random(seed).sample(tools, min(most, len(tools))) if most else tools


async def fit_to_learn_from(
    requests: Sequence[SyntheticRequest],
    corpus: Corpus,
    measured: Iterable[str],
    told: Callable[[int, int], None],
) -> tuple[list[SyntheticRequest], dict[str, int]]:
    """Return the requests that find their tool and are near no measured request; how many were dropped, by reason."""
    back = await leading_back(corpus, requests, FIRST, told)
    guarded = Requests(measured)
    apart = [one for one in back if not guarded.near(one.request)]
    return apart, {"not_found": len(requests) - len(back), "near_measured": len(back) - len(apart)}
