"""Types that the parts of programs share: the question to an author, its answer, stops of a run, and the sandbox."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from pydantic.types import JsonValue

from agent.policy.decider import Decider, PolicyQuestion
from agent.programs.signatures import OfferText
from domain.event import QuestionAnswered
from domain.model import JsonObject
from domain.model_service import Purpose
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """Program of a stored solution, shown to an author as an example."""

    request_template: str
    """Request that it serves, with the names of its inputs in braces."""
    inputs: Mapping[str, JsonObject]
    """JSON Schemas of the inputs by name."""
    text: str
    """Text of the program."""
    tainted: bool = False
    """The program was written after words of others were shown, so a program that follows it is tainted, too."""


@dataclass(frozen=True, slots=True)
class KnownPrograms:
    """Stored programs, or a proposed sequence of calls, that the author can follow."""

    programs: tuple[KnownProgram, ...] = ()
    """Programs, best first."""
    is_chosen: bool = False
    """One program was selected as the one to follow."""
    path: tuple[str, ...] = ()
    """Names of functions to call, in order, as proposed for the request."""

    @property
    def tainted(self) -> bool:
        """True if a program whose author is shown these is tainted."""
        return any(program.tainted for program in self.programs)


NO_KNOWN_PROGRAMS = KnownPrograms()


ProgramForm = Literal["code", "grammar"]
"""Form in which a program is written: Python, or sentences of the grammar, which are compiled to Python."""

ASK = "ask"
"""Name of the function by which a program asks its user."""
MAX_CELLS = 4
"""Maximum number of cells of one program; all but the last may end in a look."""


@dataclass(frozen=True, slots=True)
class ProgramAttempt:
    """A program that was written earlier for the same request, and what came of it."""

    text: str
    """Text of the program."""
    feedback: str
    """Feedback for the author: complaints of checks, the error, or what a look showed."""
    foreign: bool = False
    """The feedback may contain words of a response, so a program written after it is tainted."""
    names_valid: bool = False
    """The names that it defined can be used by the next cell; otherwise it counts as not run."""
    made_changes: bool = False
    """It counts as not run, except for the changes that the feedback lists."""


@dataclass(frozen=True, slots=True)
class WrittenProgram:
    """Answer of an author: a program, or the reason why there is none."""

    text: str
    """The program; empty if none was written."""
    why: str = ""
    """Reason why there is none, in words that can be shown to the user."""


@dataclass(frozen=True, slots=True)
class ProgramQuestion(PolicyQuestion[WrittenProgram]):
    """Question that asks a program's author to write it."""

    purpose: ClassVar[Purpose] = "programs"

    request: str
    offer: OfferText
    """Signatures of the functions that the program may call."""
    today: str
    """Date, such as ``2026-11-23``."""
    earlier: str = ""
    """Description of earlier requests and of their results, the values of ``earlier``; empty if there are none."""
    has_earlier_results: bool = False
    """``earlier`` holds at least one result."""
    attempts: tuple[ProgramAttempt, ...] = ()
    """Earlier attempts, oldest first."""
    unstructured: tuple[str, ...] = ()
    """Functions for whose responses no structure is known, so that the program should look at them first."""
    answers: tuple[QuestionAnswered, ...] = ()
    """Questions that the user has answered."""
    known_programs: KnownPrograms = NO_KNOWN_PROGRAMS
    """Programs that served similar requests before."""
    docs: Mapping[str, ToolDoc] = field(default_factory=dict[str, ToolDoc])
    """Documents of the offered functions by name."""
    follows_path: bool = False
    """The functions are the steps of a path that graph search found for the request."""
    files: str = ""
    """Description of the files that the user gave."""
    file_names: tuple[str, ...] = ()
    """Variables that hold the files."""

    async def put_to(self, decider: Decider) -> WrittenProgram:
        """Ask the decider to write a program."""
        return await decider.write(self)

    def answer_without_model(self, reason: str) -> WrittenProgram:
        """Return no program.

        Rules cannot continue what a model has begun to write, so the run plans a path instead.
        """
        return WrittenProgram("", f"no program was written: {reason}")


@dataclass(frozen=True, slots=True)
class SandboxCall:
    """A call that a program in the sandbox waits for."""

    id: int
    """Id within the session."""
    function: str
    arguments: JsonObject
    """Arguments by the function's parameter names."""
    start: int
    """Start of its expression in the cell's text, in UTF-8 bytes."""
    end: int
    """End of its expression in the cell's text, in UTF-8 bytes."""
    back: int = 0
    """Number of cells back to that text, where a function may be defined that makes the call; 0: the running cell."""
    open_arguments: frozenset[str] = frozenset()
    """Arguments that the text leaves open by ``fill()``; they are not among ``arguments``."""


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """Stop of a program that waits until at least one of its calls is answered."""

    calls: tuple[SandboxCall, ...]


@dataclass(frozen=True, slots=True)
class LookRequest:
    """Stop of a cell that shows values to the author, who then writes a further cell."""

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
    """The session and its names are lost: the worker crashed, hung or ran out of resources."""
    final: bool = False
    """The error must not be repaired or worked around: no further program is written."""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """End of a program with a question that nobody answered; nothing works around it."""

    question: QuestionAnswered


@dataclass(frozen=True, slots=True)
class FreeTextAnswer:
    """End of a program with a question that its user answered in free text.

    The answer is none of the proposed choices, so the program cannot handle it; the author writes another one.
    """

    question: QuestionAnswered


CellStop = PendingCalls | LookRequest | ReturnedValue | ProgramError
LineWatcher = Callable[[int, JsonObject], None]
"""Called in the worker's thread with the number of a line that the program has passed, and values of variables."""
ItemChooser = Callable[[JsonValue, int, int], JsonValue]
"""Chooses the item of a list that a request names, for ``named(items)`` in a program.

It is called in the worker's thread with the items, the byte offset of the call in the cell's text, and the number of
cells back to that text. It raises ``LookupError``, with a message for the author, if there is no such item.
"""


@dataclass(frozen=True, slots=True)
class CallFailure:
    """Failure of a call, raised in the program as a ``ToolError`` with this message."""

    message: str


class SandboxSession(Protocol):
    """A sequence of cells that share their names; one cell runs at a time."""

    async def start(self, text: str, inputs: Mapping[str, JsonValue]) -> CellStop:
        """Run a cell to its first stop; ``inputs`` are values of its variables."""
        ...

    async def resume(self, answers: Mapping[int, JsonValue | CallFailure]) -> CellStop:
        """Continue with the answers to one or more of the pending calls, by their ids."""
        ...


class Sandbox(Protocol):
    """Runs programs without access to files, network, environment or clock."""

    def open_session(
        self, watch_line: LineWatcher | None = None, choose_item: ItemChooser | None = None
    ) -> AbstractAsyncContextManager[SandboxSession]:
        """Open a fresh session, which ends with the block.

        Arguments:
            watch_line: Receives the lines that a text of
                :func:`~agent.programs.analysis.instrumented_text.instrument_text` reports.
            choose_item: Chooses items for ``named(items)``. With it, programs may also leave arguments open by
                ``fill()``; whoever makes the call then has to find their values.
        """
        ...

    async def find_type_errors(self, text: str, stubs: str) -> tuple[str, ...]:
        """Type-check a text with these declarations, without running it, and return the findings.

        A finding has the form ``LINE:COLUMN: SEVERITY[RULE] message``.
        """
        ...

    async def close(self) -> None:
        """End all workers."""
        ...


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one program, which is ended when it exceeds them."""

    seconds: float = 5.0
    """Computing time of one cell; waiting for calls does not count."""
    memory: int = 128_000_000
    """Bytes that all values of a program may take."""
    workers: int = 4
    """Maximum number of processes; a program that waits for calls soon releases its process."""
    calls: int = 500
    """Calls that one session may make, whatever their outcome."""
