"""Many tasks for a language model: a few at a time, within bounds, and none that was answered before."""

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
    """``purpose`` names it to the endpoint. ``check`` returns what is wrong with an answer that can be read; empty: nothing."""

    purpose: str
    system: str
    user: str
    answer: type[A]
    check: Callable[[A], str]


@dataclass(frozen=True)
class Written(Generic[A]):
    """``answer`` None: the model could not be brought to a valid one. ``requests``: to the endpoint, a complaint's among them."""

    answer: A | None
    requests: int
    prompt_tokens: int
    completion_tokens: int


class Writer(Protocol):
    """A language model. ``name`` is part of what an answer is kept under."""

    name: str

    async def write(self, task: Task[A]) -> Written[A]:
        """Ask; a complaint is told back once. ``ModelUnavailableError`` where the model gives no answer."""
        ...


def task_key(writer: str, task: Task[A]) -> str:
    """Names what was asked of whom: another word in the prompt, another model or another form is another key."""
    told = "\0".join(
        (writer, task.purpose, task.system, task.user, repr(sorted(task.answer.model_json_schema().items())))
    )
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may be spent in one run; 0: without bound. What is under way when a bound is reached is finished, so up to ``at_once`` tasks go beyond it."""

    requests: int = 0
    tokens: int = 0
    at_once: int = 4


@dataclass(slots=True)
class Usage:
    """What was spent. ``kept``: tasks that were answered in an earlier run; ``invalid``: without a valid answer; ``failed``: without
    any; ``left``: not asked, for a bound. Another run asks for those three again.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    answered: int = 0
    kept: int = 0
    invalid: int = 0
    failed: int = 0
    left: int = 0

    def within(self, bounds: Bounds) -> bool:
        """Whether another task may be begun."""
        tokens = self.prompt_tokens + self.completion_tokens
        return not (0 < bounds.requests <= self.requests or 0 < bounds.tokens <= tokens)


_IN_A_ROW = 3
"""Tasks that get no answer one after another: then the model is taken to be away."""

Told = Callable[[int, int, Usage], None]
"""Called after each task with how many are done, how many there are, and what was spent."""


async def ask_all(
    tasks: Sequence[Task[A]], writer: Writer, kept: AnswerCache, bounds: Bounds, told: Told
) -> tuple[list[A | None], Usage]:
    """An answer for each task, in order; None where there is no valid one, or none yet.

    Raises:
        ModelUnavailableError: the model is away, or wants something else of the settings. What was answered before is kept, so
            that another run asks only for the rest.
    """
    asking = _Asking(tasks, writer, kept, bounds, told)
    await asking.run()
    return asking.answers, asking.usage


class _Asking(Generic[A]):
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
        """The kept answer, if it is still one: a file that someone has edited may hold anything."""
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
        self.usage.requests += 1  # before it is sent: those under way count
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
