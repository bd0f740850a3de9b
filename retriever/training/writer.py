"""What training asks a language model for: one JSON object for one task. Who answers is joined in ``wiring``."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

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
