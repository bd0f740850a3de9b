"""Resolution of a program's pending calls: tool, arguments with their origins, and identity in the run."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.identity import Key, identity_of, key_of, site_of
from agent.execution.validation import checked, validate, without_nothing
from agent.files.origins import FileOrigins
from agent.policy.protocol import Arguments
from agent.programs.bindings import Answers, bindings
from agent.programs.leave import ProgramLeave, WaitingCall
from agent.programs.open_values import OpenValues, counted
from agent.programs.protocol import Failure, PendingCall
from agent.resume import ProgramMemo
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.program import Program
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class Called:
    """A call that has ended."""

    function: str
    step: int
    site: str
    """Identity of the call in the program, the same on a replay."""
    place: int
    """Start of the call in the program's text, in UTF-8 bytes."""
    result: StepResult
    answer: JsonValue | Failure
    """Value or failure that the program was given."""


@dataclass(slots=True)
class Call:
    """A call of a program, resolved to its tool."""

    id: int
    """Id within the sandbox session."""
    function: str
    tool: ToolDoc
    arguments: JsonObject
    """Arguments by the names of the tool."""
    site: str
    """Identity of the call in the program, the same on a replay."""
    place: int
    """Start of its expression in the text, in UTF-8 bytes."""
    end: int
    """End of its expression in the text, in UTF-8 bytes."""
    back: int = 0
    """Number of cells back to the one with its text; 0: the running cell."""
    open: frozenset[str] = frozenset()
    """Arguments that the program leaves open."""
    provenance: tuple[Binding, ...] = ()
    """Origins of the arguments."""
    complaint: str = ""
    """Why the call cannot be made; empty if it can."""
    missing: bool = False
    """The complaint is that no value was found for an open argument."""
    step: int = 0
    begun: int = 0
    """For a call that an earlier execution of the run made: when it began."""
    task: asyncio.Task[StepResult] | None = None
    """Task that makes the call now."""

    @property
    def key(self) -> Key:
        """Key of the call in the record of the run."""
        return key_of(self.tool.id, self.arguments, self.site)

    @property
    def refused(self) -> StepResult:
        """Result of a call that cannot be made."""
        return StepResult(
            tool=self.tool.id,
            arguments=self.arguments,
            provenance=self.provenance,
            status="missing" if self.missing else "failed",
            note=self.complaint,
        )

    def cut_off(self, note: str) -> StepResult:
        """Return the result of a call whose outcome is not known."""
        return StepResult(
            tool=self.tool.id, arguments=self.arguments, provenance=self.provenance, status="unknown", note=note
        )


class Identifying:
    """Resolves the calls of one run of one program."""

    def __init__(
        self,
        subtask: int,
        number: int,
        program: Program,
        docs: Mapping[str, ToolDoc],
        memo: ProgramMemo,
        leave: ProgramLeave | None = None,
        opened: OpenValues | None = None,
        *,
        plan: bool = False,
        files: FileOrigins,
    ) -> None:
        """Set up the resolution for one run.

        ``opened``: finds arguments that the program leaves open. ``plan``: the program is a person's plan, so its values are that person's.
        ``files``: the files that the user gave.
        """
        self._subtask = subtask
        self._number = number
        self._program = program
        self._docs = docs
        self._memo = memo
        self._leave = leave
        self._opened = opened
        self._plan = plan
        self._files = files
        self._answers = Answers()
        self._came_by: Counter[tuple[int, int, str]] = Counter()
        self._completed = set[Key]()

    async def identified(self, pending: PendingCall, before: Sequence[Called]) -> Call | None:
        """Return the call with its tool's own names and types, or None if there is no such tool.

        Its identity is computed from the arguments that are sent. ``before``: the calls that have ended.
        """
        tool = self._docs.get(pending.function)
        if tool is None:
            return None
        names = self._program.arguments.get(pending.function, {})
        given = {names.get(name, name): value for name, value in pending.arguments.items()}
        left = frozenset(names.get(name, name) for name in pending.open)
        found, complaint = Arguments(without_nothing(tool, given), ()), ""
        if left:
            found = await self._found(tool, found, sorted(left), pending, before)
            complaint = found.why
        given = found.values
        if not complaint:
            try:
                given = validate(tool, given)
            except InvalidArgumentsError as error:
                complaint = str(error)
        place = self.site(pending, given), pending.start, pending.end, pending.back
        call = Call(pending.id, pending.function, tool, given, *place, left, complaint=complaint)
        call.missing = bool(found.missing)
        own = (one for one in found.provenance if one.parameter in left)
        call.provenance = (
            *await asyncio.to_thread(self._bindings, call, tuple(before)),
            *own,
        )  # long answers are read anew
        return call

    def site(self, pending: PendingCall, given: JsonObject) -> str:
        """Return the identity of a call, counting repeated calls from the same place with the same arguments."""
        same = (pending.back, pending.start, json.dumps(given, sort_keys=True))
        site = site_of(self._number, pending.start, self._came_by[same], given, pending.back)
        self._came_by[same] += 1
        return site

    def waiting(self, call: Call) -> WaitingCall:
        """Return a call in the form in which it is announced to an approver."""
        identity, place = identity_of(self._subtask, call.site), (call.place, call.end, call.back)
        return WaitingCall(identity, call.function, call.tool, call.arguments, *place, call.open)

    async def _found(
        self, tool: ToolDoc, known: Arguments, left: Sequence[str], pending: PendingCall, before: Sequence[Called]
    ) -> Arguments:
        """Return the arguments with values for the open ones: those of before an interruption, else newly found ones."""
        back = f"~{pending.back}" if pending.back else ""
        told, place = checked(tool, known.values)[0], f"{self._number}:{pending.start}{back}"
        key = self._memo.completed(tool.id, place, told, self._completed)
        if key is not None:
            self._completed.add(key)
            return self._as_before(key, left)
        if self._opened is None:
            return Arguments(known.values, (), tuple(left), why="nobody is here to find what the text leaves open")
        earlier = tuple((self._docs[one.function], one.result) for one in before if one.function in self._docs)
        found = await self._opened.found(tool, known, left, earlier)
        numbers = [*range(1, len(self._opened.given) + 1), *(one.step for one in before)]
        return replace(found, provenance=counted(found.provenance, numbers))

    def _as_before(self, key: Key, left: Sequence[str]) -> Arguments:
        """Return the recorded arguments of a call that an earlier execution of the run completed."""
        result, arguments = self._memo.results.get(key), json.loads(key[1])
        if result is None or result.attempts or result.outcome is not None:
            return Arguments(arguments, result.provenance if result else ())
        missing = tuple(name for name in left if name not in arguments) if result.status == "missing" else ()
        return Arguments(arguments, result.provenance, missing, why=result.note if missing else "")

    def _bindings(self, call: Call, before: Sequence[Called]) -> tuple[Binding, ...]:
        """Return the origins of the arguments that the text has values for."""
        if self._leave is None:
            return ()
        opened = self._opened
        given = [(step, tool.id, result) for step, (tool, result) in enumerate(opened.given if opened else (), start=1)]
        answered = (*given, *((one.step, one.result.tool, one.result) for one in before))
        slices = self._leave.slices(self.waiting(call))
        request = opened.request if opened else ""
        found = bindings(call.arguments, slices, answered, request, self._answers, plan=self._plan, files=self._files)
        return tuple(found)
