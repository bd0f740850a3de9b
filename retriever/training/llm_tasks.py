"""Writing tasks for a language model, run concurrently within a budget; answers are cached in a file."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from domain.errors import FootpathError, ModelUnavailableError, UnavailableError


class AnswerCache:
    """Cache of answers in an append-only file of JSON lines; a line that was cut off counts as missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answers: dict[str, str] = {}
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Read the file, if there is one. Raises ``UnavailableError``."""
        self._answers = await asyncio.to_thread(self._read)

    def get(self, key: str) -> str | None:
        """Return the answer's JSON text, or None if it is not cached."""
        return self._answers.get(key)

    async def put(self, key: str, answer: str) -> None:
        """Store an answer; when this returns, it is on disk."""
        async with self._writing:
            await asyncio.to_thread(self._append, orjson.dumps({"key": key, "answer": answer}))
            self._answers[key] = answer

    def _read(self) -> dict[str, str]:
        answers: dict[str, str] = {}
        try:
            lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        except OSError as error:
            raise UnavailableError(f"cannot read {self._path}: {error.strerror}") from error
        for line in lines:
            try:
                entry = orjson.loads(line)
                answers[str(entry["key"])] = str(entry["answer"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                continue
        return answers

    def _append(self, line: bytes) -> None:
        """Append a line. The write begins with an end of line, so that a cut-off line before it spoils nothing."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(b"\n" + line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UnavailableError(f"cannot write {self._path}: {error.strerror}") from error


AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True)
class WritingTask(Generic[AnswerT]):
    """A prompt with the form of its answer."""

    purpose: str
    """Name of the task for the endpoint."""
    system: str
    """System message."""
    user: str
    """User message."""
    answer: type[AnswerT]
    """Model of the answer."""
    check: Callable[[AnswerT], str]
    """Returns what is wrong with a well-formed answer; empty if nothing is."""


@dataclass(frozen=True)
class WritingResult(Generic[AnswerT]):
    """Answer to a task, with its cost."""

    answer: AnswerT | None
    """The valid answer; None if the model gave none."""
    requests: int
    """Requests to the endpoint, those after a complaint included."""
    prompt_tokens: int
    completion_tokens: int


class TaskWriter(Protocol):
    """Language model that does tasks; its ``name`` is part of an answer's key in the cache."""

    name: str

    async def write(self, task: WritingTask[AnswerT]) -> WritingResult[AnswerT]:
        """Do a task; after an invalid answer the model is asked once more, with the complaint.

        Raises:
            ModelUnavailableError: the model gave no answer.
        """
        ...


def build_task_key(writer: str, task: WritingTask[AnswerT]) -> str:
    """Return the cache key of a task, which changes with the model, the prompt and the answer's JSON schema."""
    identity = "\0".join(
        (writer, task.purpose, task.system, task.user, repr(sorted(task.answer.model_json_schema().items())))
    )
    return blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class WritingBudget:
    """Budget of one run; tasks that have begun are finished, so up to ``concurrency`` of them may exceed it."""

    requests: int = 0
    """Maximum of requests to the model; 0 means no limit."""
    tokens: int = 0
    """Maximum of prompt and completion tokens together; 0 means no limit."""
    concurrency: int = 4
    """Tasks that are done concurrently."""


@dataclass(slots=True)
class WritingUsage:
    """Cost and outcomes of one run. Tasks that are invalid, failed or left are asked again by the next run."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    answered: int = 0
    kept: int = 0
    """Tasks that an earlier run answered."""
    invalid: int = 0
    """Tasks without a valid answer."""
    failed: int = 0
    """Tasks without any answer."""
    left: int = 0
    """Tasks that were not asked because the budget was spent."""

    def is_within(self, budget: WritingBudget) -> bool:
        """Return whether another task may begin within the budget."""
        tokens = self.prompt_tokens + self.completion_tokens
        return not (0 < budget.requests <= self.requests or 0 < budget.tokens <= tokens)


_MAX_CONSECUTIVE_FAILURES = 3
"""Consecutive tasks without an answer after which the model counts as unavailable."""

ReportTasks = Callable[[int, int, WritingUsage], None]
"""Called after each task with the number done, the total and the usage so far."""


async def answer_tasks(
    tasks: Sequence[WritingTask[AnswerT]],
    writer: TaskWriter,
    cache: AnswerCache,
    budget: WritingBudget,
    report: ReportTasks,
) -> tuple[list[AnswerT | None], WritingUsage]:
    """Ask for each task's answer, in order; None where there is no valid one, or none yet.

    Raises:
        ModelUnavailableError: the model is unavailable, or the settings are wrong. Earlier answers are cached, so
            that another run asks only for the rest.
    """
    task_run = _TaskRun(tasks, writer, cache, budget, report)
    await task_run.run()
    return task_run.answers, task_run.usage


class _TaskRun(Generic[AnswerT]):
    """One run over tasks, by concurrent workers that share an iterator of places."""

    def __init__(
        self,
        tasks: Sequence[WritingTask[AnswerT]],
        writer: TaskWriter,
        cache: AnswerCache,
        budget: WritingBudget,
        report: ReportTasks,
    ) -> None:
        self.answers: list[AnswerT | None] = [None] * len(tasks)
        self.usage = WritingUsage()
        self._tasks = tasks
        self._writer = writer
        self._cache = cache
        self._budget = budget
        self._report = report
        self._done = 0
        self._failure: FootpathError | None = None
        self._last_failure: ModelUnavailableError | None = None
        self._consecutive_failures = 0

    async def run(self) -> None:
        positions = iter(range(len(self._tasks)))
        await asyncio.gather(*(self._run_worker(positions) for _ in range(max(1, self._budget.concurrency))))
        used = self.usage
        # No task was answered at all: too few tasks for failures in a row, but the model is unavailable all the same.
        if self._failure is None and used.failed and not (used.answered or used.invalid):
            self._failure = self._last_failure
        if self._failure is not None:
            raise self._failure

    async def _run_worker(self, positions: Iterator[int]) -> None:
        for position in positions:
            if self._failure is not None:
                return
            task = self._tasks[position]
            key = build_task_key(self._writer.name, task)
            try:
                self.answers[position] = self._load_cached(key, task) or await self._ask(key, task)
            except FootpathError as error:
                self._failure = self._failure or error
                return
            self._done += 1
            self._report(self._done, len(self._tasks), self.usage)

    def _load_cached(self, key: str, task: WritingTask[AnswerT]) -> AnswerT | None:
        """Return the cached answer if it is valid; somebody may have edited the file."""
        text = self._cache.get(key)
        if text is None:
            return None
        try:
            answer = task.answer.model_validate_json(text)
        except ValidationError:
            return None
        self.usage.kept += 1
        return answer

    async def _ask(self, key: str, task: WritingTask[AnswerT]) -> AnswerT | None:
        if not self.usage.is_within(self._budget):
            self.usage.left += 1
            return None
        self.usage.requests += 1  # before it is sent, so that requests in flight count against the budget
        try:
            written = await self._writer.write(task)
        except ModelUnavailableError as error:
            self._consecutive_failures += 1
            if error.lasting or self._consecutive_failures >= _MAX_CONSECUTIVE_FAILURES:
                raise
            self._last_failure = error
            self.usage.failed += 1
            return None
        self._consecutive_failures = 0
        self.usage.requests += written.requests - 1
        self.usage.prompt_tokens += written.prompt_tokens
        self.usage.completion_tokens += written.completion_tokens
        if written.answer is None:
            self.usage.invalid += 1
            return None
        await self._cache.put(key, written.answer.model_dump_json())
        self.usage.answered += 1
        return written.answer
