"""Resolve a program's pending calls: tool, arguments with their origins, and identity in the run."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.call_identity import CallKey, build_call_identity, build_call_key, build_call_site
from agent.execution.validation import check_arguments, drop_omitted, validate_arguments
from agent.files.file_origins import FileOrigins
from agent.policy.protocol import CallArguments
from agent.programs.argument_bindings import AnswerIndex, find_bindings
from agent.programs.call_context import CellCallContext, LocatedCall
from agent.programs.open_values import OpenValues, renumber_references
from agent.programs.program_types import CallFailure, SandboxCall
from agent.resume import ProgramMemo
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.program import Program
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A call that has ended, with what the program was given for it."""

    function: str
    step: int
    """Step number in the subtask."""
    site: str
    """Identity of the call in the program, the same on a replay."""
    start: int
    """Start of the call in the program's text, in UTF-8 bytes."""
    result: StepResult
    answer: JsonValue | CallFailure
    """Value or failure with which the program was resumed."""


@dataclass(slots=True)
class ResolvedCall:
    """A call of a program, resolved to its tool."""

    id: int
    """Id within the sandbox session."""
    function: str
    tool: ToolDoc
    arguments: JsonObject
    """Arguments by the parameter names of the tool."""
    site: str
    """Identity of the call in the program, the same on a replay."""
    start: int
    """Start of its expression in the text, in UTF-8 bytes."""
    end: int
    """End of its expression in the text, in UTF-8 bytes."""
    back: int = 0
    """Number of cells back to the one with its text; 0: the running cell."""
    open_arguments: frozenset[str] = frozenset()
    """Arguments that the program leaves open."""
    provenance: tuple[Binding, ...] = ()
    """Origins of the arguments."""
    complaint: str = ""
    """Reason why the call cannot be made; empty if it can."""
    lacks_value: bool = False
    """The complaint is that no value was found for an open argument."""
    step: int = 0
    """Step number; 0 until the call begins."""
    replay_counter: int = 0
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
            status="missing" if self.lacks_value else "failed",
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
        open_values: OpenValues | None = None,
        *,
        is_plan: bool = False,
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
            open_values: Finds the arguments that the program leaves open.
            is_plan: The program is a person's plan, so its constants and inputs count as that person's.
            files: The files that the user gave.
        """
        self._subtask = subtask
        self._number = number
        self._program = program
        self._docs = docs
        self._memo = memo
        self._call_context = call_context
        self._open_values = open_values
        self._is_plan = is_plan
        self._files = files
        self._answer_index = AnswerIndex()
        self._visits: Counter[tuple[int, int, str]] = Counter()
        self._restored_keys = set[CallKey]()

    async def resolve(self, pending: SandboxCall, earlier_calls: Sequence[CompletedCall]) -> ResolvedCall | None:
        """Return the call with the parameter names and types of its tool; None if there is no such tool.

        ``earlier_calls``: the calls that have ended.
        """
        tool = self._docs.get(pending.function)
        if tool is None:
            return None
        parameter_names = self._program.arguments.get(pending.function, {})
        arguments = {parameter_names.get(name, name): value for name, value in pending.arguments.items()}
        open_names = frozenset(parameter_names.get(name, name) for name in pending.open_arguments)
        resolved, complaint = CallArguments(drop_omitted(tool, arguments), ()), ""
        if open_names:
            resolved = await self._find_open_values(tool, resolved, sorted(open_names), pending, earlier_calls)
            complaint = resolved.reason
        arguments = resolved.values
        if not complaint:
            try:
                arguments = validate_arguments(tool, arguments)
            except InvalidArgumentsError as error:
                complaint = str(error)
        # The identity is computed from the arguments as they are sent, so that it is the same on a replay.
        location = self.assign_site(pending, arguments), pending.start, pending.end, pending.back
        call = ResolvedCall(pending.id, pending.function, tool, arguments, *location, open_names, complaint=complaint)
        call.lacks_value = bool(resolved.missing)
        found_origins = (binding for binding in resolved.provenance if binding.parameter in open_names)
        call.provenance = (
            *await asyncio.to_thread(self._trace_bindings, call, tuple(earlier_calls)),
            *found_origins,
        )  # in a thread, because long responses may have to be parsed
        return call

    def assign_site(self, pending: SandboxCall, arguments: JsonObject) -> str:
        """Return the identity of a call; repeated calls from one place with the same arguments are numbered."""
        occurrence_key = (pending.back, pending.start, json.dumps(arguments, sort_keys=True))
        site = build_call_site(self._number, pending.start, self._visits[occurrence_key], arguments, pending.back)
        self._visits[occurrence_key] += 1
        return site

    def to_located_call(self, call: ResolvedCall) -> LocatedCall:
        """Return a call in the form in which it is announced to an approver."""
        identity, span = build_call_identity(self._subtask, call.site), (call.start, call.end, call.back)
        return LocatedCall(identity, call.function, call.tool, call.arguments, *span, call.open_arguments)

    async def _find_open_values(
        self,
        tool: ToolDoc,
        given_arguments: CallArguments,
        open_names: Sequence[str],
        pending: SandboxCall,
        earlier_calls: Sequence[CompletedCall],
    ) -> CallArguments:
        """Return the arguments with values for the open ones: recorded before an interruption, else found now."""
        cell_suffix = f"~{pending.back}" if pending.back else ""
        given_values, place = (
            check_arguments(tool, given_arguments.values)[0],
            f"{self._number}:{pending.start}{cell_suffix}",
        )
        key = self._memo.find_unmatched_call(tool.id, place, given_values, self._restored_keys)
        if key is not None:
            self._restored_keys.add(key)
            return self._restore_arguments(key, open_names)
        if self._open_values is None:
            return CallArguments(
                given_arguments.values, (), tuple(open_names), reason="nobody is here to find what the text leaves open"
            )
        earlier_results = tuple(
            (self._docs[call.function], call.result) for call in earlier_calls if call.function in self._docs
        )
        found_arguments = await self._open_values.find_arguments(tool, given_arguments, open_names, earlier_results)
        numbers = [*range(1, len(self._open_values.earlier_results) + 1), *(call.step for call in earlier_calls)]
        return replace(found_arguments, provenance=renumber_references(found_arguments.provenance, numbers))

    def _restore_arguments(self, key: CallKey, open_names: Sequence[str]) -> CallArguments:
        """Return the recorded arguments of a call whose open values were found before an interruption."""
        result, arguments = self._memo.results.get(key), json.loads(key[1])
        if result is None or result.attempts or result.outcome is not None:
            return CallArguments(arguments, result.provenance if result else ())
        missing = tuple(name for name in open_names if name not in arguments) if result.status == "missing" else ()
        return CallArguments(arguments, result.provenance, missing, reason=result.note if missing else "")

    def _trace_bindings(self, call: ResolvedCall, ended_calls: Sequence[CompletedCall]) -> tuple[Binding, ...]:
        """Return the origins of the arguments that the text has values for."""
        if self._call_context is None:
            return ()
        open_values = self._open_values
        subtask_calls = [
            (step, tool.id, result)
            for step, (tool, result) in enumerate(open_values.earlier_results if open_values else (), start=1)
        ]
        earlier_calls = (
            *subtask_calls,
            *((ended_call.step, ended_call.result.tool, ended_call.result) for ended_call in ended_calls),
        )
        slices = self._call_context.find_slices(self.to_located_call(call))
        request = open_values.request if open_values else ""
        origins = find_bindings(
            call.arguments, slices, earlier_calls, request, self._answer_index, is_plan=self._is_plan, files=self._files
        )
        return tuple(origins)
