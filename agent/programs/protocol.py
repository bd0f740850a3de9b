"""What the parts of programs tell each other: the question to an author, what is written, where a running program stops, how it ends."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from pydantic.types import JsonValue

from agent.policy.question import Decider, Question
from agent.programs.known import NOTHING, Known
from agent.programs.offer_text import OfferText
from domain.event import QuestionAnswered
from domain.model import JsonObject
from domain.model_service import Purpose
from domain.tool import ToolDoc

ProgramForm = Literal["code", "grammar"]
"""What an author writes: Python, or sentences of the grammar, which compile into it."""

ASK = "ask"
"""The function by which a program asks its user."""
MOST_CELLS = 4
"""Cells of one program: all but the last may end in a look."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A text that was written before for the same request, and what became of it.

    ``told``: what its author is to know: complaints of checks, the error it broke off with, or what a look showed. ``foreign``: that holds
    words of a response, so whatever is written after it is tainted. ``stands``: it ran, and its names can be used; else it counts as not run.
    ``changed``: but for the changes that ``told`` lists, which were made.
    """

    text: str
    told: str
    foreign: bool = False
    stands: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class WrittenProgram:
    """``text`` empty: nothing that can be run was written; ``why``: then what was said instead, fit to be shown."""

    text: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProgramQuestion(Question[WrittenProgram]):
    """What the author of a program sees. ``offer``: the functions it may call. ``today``: the date, as ``2026-11-23``.

    ``earlier``: what is shown of the results of earlier requests, which the program finds as ``earlier``; empty where there are none. ``goes_on``: whether it finds any there. ``attempts``: the oldest first.
    ``files``: what is shown of files that the user gave, which it finds by ``file_names``. ``unknown``: functions whose response has no known structure, so that a look is called for. ``answers``: what the user was asked and said.
    ``known``: how such requests were served.
    ``docs``: the documents of the offered functions, by their names. ``of_path``: these are the steps of a path that was found for the request.
    """

    purpose: ClassVar[Purpose] = "programs"

    request: str
    offer: OfferText
    today: str
    earlier: str = ""
    goes_on: bool = False
    attempts: tuple[Attempt, ...] = ()
    unknown: tuple[str, ...] = ()
    answers: tuple[QuestionAnswered, ...] = ()
    known: Known = NOTHING
    docs: Mapping[str, ToolDoc] = field(default_factory=dict[str, ToolDoc])
    of_path: bool = False
    files: str = ""
    file_names: tuple[str, ...] = ()

    async def put_to(self, decider: Decider) -> WrittenProgram:
        return await decider.write(self)

    def answer_without_model(self, reason: str) -> WrittenProgram:
        """No program: rules do not go on with what a model has begun to write, and the run plans a path instead."""
        return WrittenProgram("", f"no program was written: {reason}")


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that a program waits for. ``id``: the session's. ``start``, ``end``: of its expression in the cell's text, in UTF-8 bytes.

    ``back``: 0, or how many cells before the running one has that text: a function that was defined there makes the call.
    ``open``: arguments that the text leaves open (``fill()``); they are not among ``arguments``.
    """

    id: int
    function: str
    arguments: JsonObject
    start: int
    end: int
    back: int = 0
    open: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A program stands still until one of ``calls`` at least is answered."""

    calls: tuple[PendingCall, ...]


@dataclass(frozen=True, slots=True)
class Looking:
    """A program asked to look at values; it goes on as a further cell."""

    values: tuple[JsonValue, ...]


@dataclass(frozen=True, slots=True)
class Returned:
    """A program's last expression, as JSON has it."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Broken:
    """A program broke off. ``kind``: the error's class; ``line`` from 1, 0: unknown. ``lost``: the session is gone with its names (a worker
    that crashed, hung or ran out). ``final``: it must not be mended or gone around; its session is not gone on with.
    """

    kind: str
    message: str
    line: int = 0
    lost: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """A program asked what nobody answered: it is over, and nothing goes around it."""

    question: QuestionAnswered


@dataclass(frozen=True, slots=True)
class Answered:
    """A program asked, and its user answered in words of their own: none that it proposed, so that only its author can tell what they come to."""

    question: QuestionAnswered


Stop = Waiting | Looking | Returned | Broken
Watch = Callable[[int, JsonObject], None]
"""Is told, in the worker's thread, of a line that a program has come to, with values of names there."""
Named = Callable[[JsonValue, int, int], JsonValue]
"""Chooses, in the worker's thread, the item of a list that a request names, for the ``named(items)`` that stands at a place of a cell's text, so many
cells back. ``LookupError``: there is none, as the message says.
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a call that failed raises in the program: a ``ToolError`` with this message."""

    message: str


class Session(Protocol):
    """One author's names over several cells, in a worker of its own. Cells follow each other; one runs at a time."""

    async def start(self, text: str, inputs: Mapping[str, JsonValue]) -> Stop:
        """Run a cell to where it first stops. ``inputs``: names that hold values."""
        ...

    async def resume(self, answers: Mapping[int, JsonValue | Failure]) -> Stop:
        """Go on with the answers to some of the calls that are waited for, by their ids."""
        ...


class Sandbox(Protocol):
    """Where programs run: without files, network, environment or clock."""

    def session(self, watch: Watch | None = None, named: Named | None = None) -> AbstractAsyncContextManager[Session]:
        """A fresh session, ended with the block. ``watch``: what texts that tell where they are (``watched_text``) tell it to.

        ``named``: texts may leave values open: ``fill()`` is found by who makes the call, ``named(items)`` by this.
        """
        ...

    async def type_errors(self, text: str, stubs: str) -> tuple[str, ...]:
        """What the type check has against a text over these declarations; nothing is run."""
        ...

    async def close(self) -> None:
        """End all workers."""
        ...
