"""Resolve a program's pending calls: tool, arguments with their origins, and identity in the run."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.call_identity import CallKey, build_call_key, build_identity, build_site
from agent.execution.validation import check_arguments, drop_omitted, validate
from agent.files.origins import FileOrigins
from agent.policy.protocol import CallArguments
from agent.programs.bindings import AnswerIndex, find_bindings
from agent.programs.call_context import CellCallContext, WaitingCall
from agent.programs.open_values import OpenValues, renumber_references
from agent.programs.protocol import CallFailure, PendingCall
from agent.resume import ProgramMemo
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.program import Program
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that has ended, with what the program was given for it."""

    function: str
    step: int
    """Step number in the subtask."""
    site: str
    """Identity of the call in the program, the same on a replay."""
    place: int
    """Start of the call in the program's text, in UTF-8 bytes."""
    result: StepResult
    answer: JsonValue | CallFailure
    """Value or failure with which the program was resumed."""


@dataclass(slots=True)
class IdentifiedCall:
    """A call of a program, resolved to its tool."""

    id: int
    """Id within the sandbox session."""
    function: str
    tool: ToolDoc
    arguments: JsonObject
    """Arguments by the parameter names of the tool."""
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
    """Reason why the call cannot be made; empty if it can."""
    missing: bool = False
    """The complaint is that no value was found for an open argument."""
    step: int = 0
    """Step number; 0 until the call begins."""
    begun: int = 0
    """Counter that the executor returned when the replay of the call began; 0 for a call that is made now."""
    task: asyncio.Task[StepResult] | None = None
    """Task that makes the call; None for a replayed one."""

    @property
    def key(self) -> CallKey:
        """Key of the call in the record of the run."""
        return build_call_key(self.tool.id, self.arguments, self.site)

    @property
    def refusal(self) -> StepResult:
        """Result with which a call that cannot be made is answered."""
        return StepResult(
            tool=self.tool.id,
            arguments=self.arguments,
            provenance=self.provenance,
            status="missing" if self.missing else "failed",
            note=self.complaint,
        )

    def to_unknown_result(self, note: str) -> StepResult:
        """Return the result of a call whose outcome is not known."""
        return StepResult(
            tool=self.tool.id, arguments=self.arguments, provenance=self.provenance, status="unknown", note=note
        )


class CallResolver:
    """Resolves the calls of one run of one program."""

    def __init__(
        self,
        subtask: int,
        number: int,
        program: Program,
        docs: Mapping[str, ToolDoc],
        memo: ProgramMemo,
        call_context: CellCallContext | None = None,
        opened: OpenValues | None = None,
        *,
        plan: bool = False,
        files: FileOrigins,
    ) -> None:
        """Prepare to resolve the calls of program ``number`` of a subtask.

        Arguments:
            subtask: Number of the subtask.
            number: Number of the program within the subtask.
            program: The program whose calls are resolved.
            docs: Tools by function name.
            memo: Record of the program's calls from before an interruption.
            call_context: Context by which the origins of arguments are found; None if nobody approves calls.
            opened: Finds the arguments that the program leaves open.
            plan: The program is a person's plan, so its constants and inputs count as that person's.
            files: The files that the user gave.
        """
        self._subtask = subtask
        self._number = number
        self._program = program
        self._docs = docs
        self._memo = memo
        self._call_context = call_context
        self._opened = opened
        self._plan = plan
        self._files = files
        self._answers = AnswerIndex()
        self._visits: Counter[tuple[int, int, str]] = Counter()
        self._completed = set[CallKey]()

    async def resolve(self, pending: PendingCall, before: Sequence[EndedCall]) -> IdentifiedCall | None:
        """Return the call with the parameter names and types of its tool; None if there is no such tool.

        ``before``: the calls that have ended.
        """
        tool = self._docs.get(pending.function)
        if tool is None:
            return None
        names = self._program.arguments.get(pending.function, {})
        arguments = {names.get(name, name): value for name, value in pending.arguments.items()}
        open_names = frozenset(names.get(name, name) for name in pending.open)
        resolved, complaint = CallArguments(drop_omitted(tool, arguments), ()), ""
        if open_names:
            resolved = await self._find_open_values(tool, resolved, sorted(open_names), pending, before)
            complaint = resolved.why
        arguments = resolved.values
        if not complaint:
            try:
                arguments = validate(tool, arguments)
            except InvalidArgumentsError as error:
                complaint = str(error)
        # The identity is computed from the arguments as they are sent, so that it is the same on a replay.
        place = self.assign_site(pending, arguments), pending.start, pending.end, pending.back
        call = IdentifiedCall(pending.id, pending.function, tool, arguments, *place, open_names, complaint=complaint)
        call.missing = bool(resolved.missing)
        own = (one for one in resolved.provenance if one.parameter in open_names)
        call.provenance = (
            *await asyncio.to_thread(self._trace_bindings, call, tuple(before)),
            *own,
        )  # in a thread, because long responses may have to be parsed
        return call

    def assign_site(self, pending: PendingCall, arguments: JsonObject) -> str:
        """Return the identity of a call; repeated calls from one place with the same arguments are numbered."""
        same = (pending.back, pending.start, json.dumps(arguments, sort_keys=True))
        site = build_site(self._number, pending.start, self._visits[same], arguments, pending.back)
        self._visits[same] += 1
        return site

    def to_waiting_call(self, call: IdentifiedCall) -> WaitingCall:
        """Return a call in the form in which it is announced to an approver."""
        identity, place = build_identity(self._subtask, call.site), (call.place, call.end, call.back)
        return WaitingCall(identity, call.function, call.tool, call.arguments, *place, call.open)

    async def _find_open_values(
        self,
        tool: ToolDoc,
        known: CallArguments,
        open_names: Sequence[str],
        pending: PendingCall,
        before: Sequence[EndedCall],
    ) -> CallArguments:
        """Return the arguments with values for the open ones: recorded before an interruption, else found now."""
        back = f"~{pending.back}" if pending.back else ""
        known_arguments, place = check_arguments(tool, known.values)[0], f"{self._number}:{pending.start}{back}"
        key = self._memo.find_unmatched_call(tool.id, place, known_arguments, self._completed)
        if key is not None:
            self._completed.add(key)
            return self._restore_arguments(key, open_names)
        if self._opened is None:
            return CallArguments(
                known.values, (), tuple(open_names), why="nobody is here to find what the text leaves open"
            )
        earlier = tuple((self._docs[one.function], one.result) for one in before if one.function in self._docs)
        completed = await self._opened.find_arguments(tool, known, open_names, earlier)
        numbers = [*range(1, len(self._opened.given) + 1), *(one.step for one in before)]
        return replace(completed, provenance=renumber_references(completed.provenance, numbers))

    def _restore_arguments(self, key: CallKey, open_names: Sequence[str]) -> CallArguments:
        """Return the recorded arguments of a call whose open values were found before an interruption."""
        result, arguments = self._memo.results.get(key), json.loads(key[1])
        if result is None or result.attempts or result.outcome is not None:
            return CallArguments(arguments, result.provenance if result else ())
        missing = tuple(name for name in open_names if name not in arguments) if result.status == "missing" else ()
        return CallArguments(arguments, result.provenance, missing, why=result.note if missing else "")

    def _trace_bindings(self, call: IdentifiedCall, before: Sequence[EndedCall]) -> tuple[Binding, ...]:
        """Return the origins of the arguments that the text has values for."""
        if self._call_context is None:
            return ()
        opened = self._opened
        given_calls = [
            (step, tool.id, result) for step, (tool, result) in enumerate(opened.given if opened else (), start=1)
        ]
        answered = (*given_calls, *((one.step, one.result.tool, one.result) for one in before))
        slices = self._call_context.find_slices(self.to_waiting_call(call))
        request = opened.request if opened else ""
        origins = find_bindings(
            call.arguments, slices, answered, request, self._answers, plan=self._plan, files=self._files
        )
        return tuple(origins)
