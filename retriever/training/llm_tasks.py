"""Batches of tasks for a language model: a few at a time, within a budget, answered ones from the cache."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from domain.errors import FootpathError, ModelUnavailableError
from retriever.training.answer_cache import AnswerCache

A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True)
class Task(Generic[A]):
    """A prompt with the form of its answer."""

    purpose: str
    """Name of the task for the endpoint."""
    system: str
    user: str
    answer: type[A]
    check: Callable[[A], str]
    """Returns what is wrong with a well-formed answer; empty if nothing is."""


@dataclass(frozen=True)
class Written(Generic[A]):
    """Answer to a task, with its cost."""

    answer: A | None
    """The valid answer; None if the model gave none."""
    requests: int
    """Requests to the endpoint, repetitions after a complaint included."""
    prompt_tokens: int
    completion_tokens: int


class Writer(Protocol):
    """Language model that does tasks; its ``name`` is part of an answer's key in the cache."""

    name: str

    async def write(self, task: Task[A]) -> Written[A]:
        """Do a task; an invalid answer is complained about once. Raises ``ModelUnavailableError`` without an answer."""
        ...


def task_key(writer: str, task: Task[A]) -> str:
    """Return the cache key of a task, which changes with the model, the prompt and the answer's JSON schema."""
    told = "\0".join(
        (writer, task.purpose, task.system, task.user, repr(sorted(task.answer.model_json_schema().items())))
    )
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Bounds:
    """Budget of one run; tasks that have begun are finished, so up to ``at_once`` of them exceed it."""

    requests: int = 0
    """Maximum of requests to the model; 0 means no limit."""
    tokens: int = 0
    """Maximum of prompt and completion tokens together; 0 means no limit."""
    at_once: int = 4
    """Tasks that are done concurrently."""


@dataclass(slots=True)
class Usage:
    """Cost and outcomes of one run; invalid, failed and left tasks are asked again by the next run."""

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

    def within(self, bounds: Bounds) -> bool:
        """Return whether another task may begin within the budget."""
        tokens = self.prompt_tokens + self.completion_tokens
        return not (0 < bounds.requests <= self.requests or 0 < bounds.tokens <= tokens)


_IN_A_ROW = 3
"""Consecutive tasks without an answer after which the model counts as unavailable."""

Told = Callable[[int, int, Usage], None]
"""Called after each task with the number done, the total and the usage so far."""


async def ask_all(
    tasks: Sequence[Task[A]], writer: Writer, kept: AnswerCache, bounds: Bounds, told: Told
) -> tuple[list[A | None], Usage]:
    """Ask for each task's answer, in order; None where there is no valid one, or none yet.

    Raises:
        ModelUnavailableError: the model is unavailable, or the settings are wrong. Earlier answers are cached, so that another run
            asks only for the rest.
    """
    asking = _Asking(tasks, writer, kept, bounds, told)
    await asking.run()
    return asking.answers, asking.usage


class _Asking(Generic[A]):
    """One run over tasks, by concurrent workers that share an iterator of places."""

    def __init__(self, tasks: Sequence[Task[A]], writer: Writer, kept: AnswerCache, bounds: Bounds, told: Told) -> None:
        self.answers: list[A | None] = [None] * len(tasks)
        self.usage = Usage()
        self._tasks = tasks
        self._writer = writer
        self._kept = kept
        self._bounds = bounds
        self._told = told
        self._done = 0
        self._failure: FootpathError | None = None
        self._last: ModelUnavailableError | None = None
        self._in_a_row = 0

    async def run(self) -> None:
        places = iter(range(len(self._tasks)))
        await asyncio.gather(*(self._work(places) for _ in range(max(1, self._bounds.at_once))))
        used = self.usage
        # No task was answered at all: too few tasks for failures in a row, but the model is unavailable all the same.
        if self._failure is None and used.failed and not (used.answered or used.invalid):
            self._failure = self._last
        if self._failure is not None:
            raise self._failure

    async def _work(self, places: Iterator[int]) -> None:
        for place in places:
            if self._failure is not None:
                return
            task = self._tasks[place]
            key = task_key(self._writer.name, task)
            try:
                self.answers[place] = self._known(key, task) or await self._asked(key, task)
            except FootpathError as error:
                self._failure = self._failure or error
                return
            self._done += 1
            self._told(self._done, len(self._tasks), self.usage)

    def _known(self, key: str, task: Task[A]) -> A | None:
        """Return the cached answer if it is valid; somebody may have edited the file."""
        text = self._kept.get(key)
        if text is None:
            return None
        try:
            answer = task.answer.model_validate_json(text)
        except ValidationError:
            return None
        self.usage.kept += 1
        return answer

    async def _asked(self, key: str, task: Task[A]) -> A | None:
        if not self.usage.within(self._bounds):
            self.usage.left += 1
            return None
        self.usage.requests += 1  # before it is sent, so that requests in flight count against the budget
        try:
            written = await self._writer.write(task)
        except ModelUnavailableError as error:
            self._in_a_row += 1
            if error.lasting or self._in_a_row >= _IN_A_ROW:
                raise
            self._last = error
            self.usage.failed += 1
            return None
        self._in_a_row = 0
        self.usage.requests += written.requests - 1
        self.usage.prompt_tokens += written.prompt_tokens
        self.usage.completion_tokens += written.completion_tokens
        if written.answer is None:
            self.usage.invalid += 1
            return None
        await self._kept.put(key, written.answer.model_dump_json())
        self.usage.answered += 1
        return written.answer
