"""Types that the parts of programs exchange: questions to an author, texts, stops of a run, and its end."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from pydantic.types import JsonValue

from agent.policy.question import Decider, PolicyQuestion
from agent.programs.signatures import OfferText
from domain.event import QuestionAnswered
from domain.model import JsonObject
from domain.model_service import Purpose
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """Program of a stored solution."""

    serves: str
    """Request of its kind, with the names of its inputs in braces."""
    inputs: Mapping[str, JsonObject]
    """JSON Schemas of the inputs."""
    text: str
    tainted: bool = False
    """Its program was tainted, which taints what is written after it."""


@dataclass(frozen=True, slots=True)
class KnownPrograms:
    """Programs or a path that the author can follow."""

    programs: tuple[KnownProgram, ...] = ()
    """Programs, best first."""
    chosen: bool = False
    """The program was chosen as the one to follow."""
    path: tuple[str, ...] = ()
    """Names of functions that were proposed to be called, in order, if no program was chosen."""

    @property
    def tainted(self) -> bool:
        """True if a text that is written with these in view is tainted."""
        return any(one.tainted for one in self.programs)


NO_KNOWN_PROGRAMS = KnownPrograms()


ProgramForm = Literal["code", "grammar"]
"""Form of a written program: Python, or sentences of the grammar, which are compiled to Python."""

ASK = "ask"
"""Function by which a program asks its user."""
MAX_CELLS = 4
"""Maximum number of cells of one program; all but the last may end in a look."""


@dataclass(frozen=True, slots=True)
class ProgramAttempt:
    """A text that was written earlier for the same request, and its result."""

    text: str
    feedback: str
    """Feedback for the author: complaints of checks, the error, or what a look showed."""
    foreign: bool = False
    """The feedback contains words of a response, so anything written after it is tainted."""
    names_valid: bool = False
    """It ran and its names can be used; otherwise it counts as not run."""
    changed: bool = False
    """It counts as not run, except for the changes that the feedback lists, which were made."""


@dataclass(frozen=True, slots=True)
class WrittenProgram:
    """Answer of an author."""

    text: str
    """Program; empty if nothing that can be run was written."""
    why: str = ""
    """Text that was written instead of a program, fit to be shown."""


@dataclass(frozen=True, slots=True)
class ProgramQuestion(PolicyQuestion[WrittenProgram]):
    """Question to the author of a program."""

    purpose: ClassVar[Purpose] = "programs"

    request: str
    offer: OfferText
    """Functions that it may call."""
    today: str
    """Date, such as ``2026-11-23``."""
    earlier: str = ""
    """Text on results of earlier requests, which the program finds as ``earlier``; empty if there are none."""
    goes_on: bool = False
    """The program finds values in ``earlier``."""
    attempts: tuple[ProgramAttempt, ...] = ()
    """Earlier attempts, oldest first."""
    unknown: tuple[str, ...] = ()
    """Functions whose response has no known structure, so that a look is called for."""
    answers: tuple[QuestionAnswered, ...] = ()
    """Questions that the user was asked, with the answers."""
    known: KnownPrograms = NO_KNOWN_PROGRAMS
    """Programs that served such requests before."""
    docs: Mapping[str, ToolDoc] = field(default_factory=dict[str, ToolDoc])
    """Documents of the offered functions by name."""
    of_path: bool = False
    """The functions are the steps of a path that was found for the request."""
    files: str = ""
    """Text on files that the user gave."""
    file_names: tuple[str, ...] = ()
    """Names by which the program finds the files."""

    async def put_to(self, decider: Decider) -> WrittenProgram:
        """Ask the decider to write a program."""
        return await decider.write(self)

    def answer_without_model(self, reason: str) -> WrittenProgram:
        """Return no program.

        Rules do not continue what a model has begun to write: the run plans a path instead.
        """
        return WrittenProgram("", f"no program was written: {reason}")


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that a program waits for."""

    id: int
    """Id within the session."""
    function: str
    arguments: JsonObject
    start: int
    """Start of its expression in the cell's text, in UTF-8 bytes."""
    end: int
    """End of its expression in the cell's text, in UTF-8 bytes."""
    back: int = 0
    """Number of cells back to that text: a function that was defined there may make the call. 0: the running cell."""
    open: frozenset[str] = frozenset()
    """Arguments that the text leaves open (``fill()``); they are not among ``arguments``."""


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """Stop of a program that waits until at least one of its calls is answered."""

    calls: tuple[PendingCall, ...]


@dataclass(frozen=True, slots=True)
class LookRequest:
    """Stop of a program that asks to look at values; it continues in a further cell."""

    values: tuple[JsonValue, ...]


@dataclass(frozen=True, slots=True)
class ReturnedValue:
    """End of a program with the value of its last expression, as JSON."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class ProgramError:
    """End of a program with an error."""

    kind: str
    """Class name of the error."""
    message: str
    line: int = 0
    """Line from 1; 0 if unknown."""
    lost: bool = False
    """The session is gone with its names: a worker crashed, hung or ran out of resources."""
    final: bool = False
    """The error must not be repaired or worked around, and the session is not continued."""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """End of a program with a question that nobody answered; nothing works around it."""

    question: QuestionAnswered


@dataclass(frozen=True, slots=True)
class FreeTextAnswer:
    """End of a program with a question that its user answered in free text.

    The answer is none of the proposed ones, so only the author can tell what follows from it.
    """

    question: QuestionAnswered


CellStop = PendingCalls | LookRequest | ReturnedValue | ProgramError
LineWatcher = Callable[[int, JsonObject], None]
"""Called in the worker's thread with a line that a program has reached and values of names there."""
ItemChooser = Callable[[JsonValue, int, int], JsonValue]
"""Chooses the item of a list that a request names, for ``named(items)`` in a program.

It is called in the worker's thread with the items, the place in the cell's text, and how many cells back that text is. It raises
``LookupError`` with a message for the author if there is no such item.
"""


@dataclass(frozen=True, slots=True)
class CallFailure:
    """Failed call, which raises a ``ToolError`` with this message in the program."""

    message: str


class SandboxSession(Protocol):
    """Names of one author over several cells, in a worker of its own; one cell runs at a time."""

    async def start(self, text: str, inputs: Mapping[str, JsonValue]) -> CellStop:
        """Run a cell to its first stop.

        ``inputs``: names that hold values.
        """
        ...

    async def resume(self, answers: Mapping[int, JsonValue | CallFailure]) -> CellStop:
        """Continue with the answers to some of the pending calls, by their ids."""
        ...


class Sandbox(Protocol):
    """Runs programs without files, network, environment or clock."""

    def open_session(
        self, watch_line: LineWatcher | None = None, choose_item: ItemChooser | None = None
    ) -> AbstractAsyncContextManager[SandboxSession]:
        """Open a fresh session, which ends with the block.

        ``watch_line``: receives the lines that instrumented texts (``instrument_text``) report. ``choose_item``: chooses items for ``named(items)``; with it, a
        text may also leave arguments open by ``fill()``, which whoever makes the call has to find.
        """
        ...

    async def find_type_errors(self, text: str, stubs: str) -> tuple[str, ...]:
        """Return the findings of the type check for a text over these declarations, without running it."""
        ...

    async def close(self) -> None:
        """End all workers."""
        ...
