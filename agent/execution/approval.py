"""Approval of calls: an approver sees each call with the real origins of its values before anything is sent."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Protocol

from agent.budget import BudgetMeter
from agent.execution.call_identity import (
    CallKey,
    build_call_key,
    build_corrected_identity,
    differs,
    drop_identity,
    get_program_id,
    get_subtask_id,
)
from agent.execution.executor import CallResult, Executor, ExecutorLayer
from agent.execution.pending_calls import PendingCall, PendingCallRegistry
from agent.execution.provenance import CallProvenance, ProvenanceTracker
from agent.execution.undo_candidates import UndoFinder
from agent.execution.wording import summarize_call
from agent.text import clean
from domain.errors import FootpathError, NotAllowedError
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId

TAINTED = (
    "Whoever made this call may have seen what tools answered, or a file says, so each of its changes is asked about."
)
"""Shown with a change whose program may have been influenced by foreign text."""


@dataclass(frozen=True, slots=True)
class IntendedCall:
    """A call that is about to be made, as its approver sees it."""

    tool: ToolDoc
    arguments: JsonObject
    provenance: CallProvenance = field(default_factory=CallProvenance)
    """Origins of its arguments."""
    identity: str = ""
    """Which call of a program it is; empty outside of programs."""
    possible_repeat: bool = False
    """It may repeat a change: another program of the run made the same call with success, or a dropped program of the same subtask made any
    change with this tool."""
    tainted: bool = False
    """Its program was written after its author was shown foreign data, so it needs approval whatever its tool's permission says."""
    program_text: str = ""
    """Text of the program that makes it."""
    open_arguments: frozenset[str] = frozenset()
    """Arguments that the program leaves open, whose values were found while it ran."""
    batch: "tuple[IntendedCall, ...]" = ()
    """Changes that share one question with it, itself included; empty for a single call."""
    round: int = 0
    """How often its place in a loop was asked about, this time included; 0 outside of loops."""
    left: int = 0
    """Changes that the run may still make."""
    summary: str = ""
    """Summary of the call in words."""
    undo: str = ""
    """How the change can be undone, or that it cannot."""

    @property
    def always_needs_approval(self) -> bool:
        """True where it needs approval even if its user allowed its tool."""
        return self.possible_repeat or self.tainted

    @property
    def approved_together(self) -> "tuple[IntendedCall, ...]":
        """Calls that one answer decides."""
        return self.batch or (self,)


class Approver(Protocol):
    """Decides on calls: a run's user, or a rule in the user's place."""

    def approval(self, call: IntendedCall) -> AbstractAsyncContextManager[JsonObject | None]:
        """Return a context to hold while the call is made.

        It yields the arguments as the user corrected them, valid to send, or None where they stay as they are. Entering it raises
        ``NotAllowedError`` where the call must not be made.
        """
        ...


class ApprovedExecutor(ExecutorLayer):
    """Executor layer of one run that asks an approver before each call.

    The time that the approver takes does not count as the run's. Calls with side effects that are sent count against the run's budget
    of changes, and an approval never exceeds it.
    """

    def __init__(
        self,
        executor: Executor,
        approver: Approver,
        provenance: ProvenanceTracker,
        meter: BudgetMeter,
        earlier_results: Mapping[CallKey, CallResult] | None = None,
        announcements: PendingCallRegistry | None = None,
        undo: UndoFinder | None = None,
    ) -> None:
        """Create the layer.

        ``earlier_results``: results of calls that were made before the run was interrupted. ``announcements``: calls that the run's programs
        announced. ``undo``: finds how a change can be undone.
        """
        super().__init__(executor)
        self._approver = approver
        self._provenance = provenance
        self._meter = meter
        self._pending_calls = announcements or PendingCallRegistry()
        self._undo = undo or UndoFinder()
        self._begun_changes = set[str]()
        self._programs_by_call: defaultdict[CallKey, set[str]] = defaultdict(set)
        self._programs_by_tool: defaultdict[ToolId, set[str]] = defaultdict(set)
        for key, result in (earlier_results or {}).items():
            self._record_change(key, result)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Return the result of the call once it is approved.

        Raises ``NotAllowedError`` where it is not approved, or where the budget of changes is used up.
        """
        if not tool.safe:
            self._check_budget(tool, len(self._find_unsent_changes(identity)))
        undo = await self._undo.describe(tool)
        call = await asyncio.to_thread(
            self._build_intended_call, tool, arguments, identity, undo
        )  # a thread: long responses are parsed again
        async with AsyncExitStack() as held:
            with self._meter.stopwatch.pause():
                corrected = await held.enter_async_context(self._approver.approval(call))
            if tool.safe:
                return await self._executor.call(tool, arguments, identity)
            if corrected is not None and not differs({**corrected}, {**arguments}):
                corrected = None
            return await self._send_change(tool, arguments, identity, corrected)

    def _build_intended_call(self, tool: ToolDoc, arguments: JsonObject, identity: str, undo: str) -> IntendedCall:
        pending = self._pending_calls.find(identity) or PendingCall(identity, tool, arguments)
        if pending.arguments != arguments:  # the question must show what is sent, and the slices are of other values
            pending = replace(pending, arguments=arguments, slices=())
        intended = self._to_intended_call(pending, undo)
        if tool.safe:
            return intended
        batch = self._pending_calls.claim_batch(identity)
        members = tuple(self._to_intended_call(other, undo) for other in batch) if len(batch) > 1 else ()
        return replace(
            intended,
            # A batch in which this call has other arguments would ask about something else than what is sent.
            batch=members if any(other.arguments == arguments for other in members) else (),
            round=self._pending_calls.count_rounds(identity) if pending.in_loop else 0,
            left=self._meter.budget.changes - self._meter.changes,
        )

    def _to_intended_call(self, pending: PendingCall, undo: str) -> IntendedCall:
        provenance = self._provenance.trace_arguments(pending.tool, pending.arguments, pending.slices, pending.control)
        again = not pending.tool.safe and self._is_possible_repeat(pending)
        summary = "" if pending.tool.safe else summarize_call(pending.tool, pending.arguments, provenance.origins)
        caller_facts = pending.identity, again, pending.tainted, pending.program_text, pending.open_arguments
        return IntendedCall(pending.tool, pending.arguments, provenance, *caller_facts, summary=summary, undo=undo)

    def _find_unsent_changes(self, identity: str) -> list[PendingCall]:
        """Return the changes of this change's batch that have not been sent."""
        return [one for one in self._pending_calls.claim_batch(identity) if one.identity not in self._begun_changes]

    def _record_change(self, key: CallKey, result: CallResult) -> None:
        """Record a successful change.

        A corrected one counts under both its intended and its sent arguments, so neither repeats unasked.
        """
        if result.outcome == "ok":
            program = get_program_id(key[-1])
            self._programs_by_call[drop_identity(key)].add(program)
            self._programs_by_tool[key[0]].add(program)
            if result.corrected is not None:
                self._programs_by_call[build_call_key(key[0], result.corrected)].add(program)

    def _is_possible_repeat(self, pending: PendingCall) -> bool:
        """Return whether the change may have been made before in this run.

        That is so where another program, or a call outside of programs, made the same call with success, or where a dropped program of
        the same subtask made any change with this tool. Repetitions within one program are as its text says and do not count.
        """
        own = get_program_id(pending.identity)
        if self._programs_by_call[
            drop_identity(build_call_key(pending.tool.id, pending.arguments, pending.identity))
        ] - {own}:
            return True
        others = self._programs_by_tool[pending.tool.id] - {own} - pending.earlier_cells
        return any(other and get_subtask_id(other) == get_subtask_id(own) for other in others)

    async def _send_change(
        self, tool: ToolDoc, arguments: JsonObject, identity: str, corrected: JsonObject | None
    ) -> CallResult:
        """Send a change, with the ``corrected`` arguments where there are some, and record it.

        It is counted before it is sent, so that concurrent calls cannot exceed the budget together.
        """
        self._check_budget(tool)
        sent_arguments, sent_identity = arguments, identity
        if corrected is not None:
            self._provenance.record_correction(tool, arguments, corrected)
            sent_arguments, sent_identity = corrected, build_corrected_identity(tool.id, arguments, identity)
        self._meter.changes += 1
        self._begun_changes.add(identity)
        try:
            result = replace(await self._executor.call(tool, sent_arguments, sent_identity), corrected=corrected)
        except FootpathError:  # nothing was sent
            self._meter.changes -= 1
            raise
        if not result.attempts:  # nothing was sent: a secret is missing, or a layer below answered
            self._meter.changes -= 1
        self._record_change(build_call_key(tool.id, arguments, identity), result)
        return result

    def _check_budget(self, tool: ToolDoc, count: int = 1) -> None:
        """Raise ``NotAllowedError`` where a batch of this size exceeds the budget: nobody asked for half of it."""
        limit, used = self._meter.budget.changes, self._meter.changes
        if used + max(count, 1) <= limit:
            return
        limit_text = f"a run may make {limit} change{'s' * (limit != 1)} (FOOTPATH_MAX_CHANGES)"
        usage_text = f"{used} were made and {count} are wanted at once" if count > 1 else "and may make no more"
        raise NotAllowedError(f"{clean(tool.api, 80)} was not called: {limit_text}, {usage_text}.")


def describe_side_effect(tool: ToolDoc) -> str:
    """Return a sentence on a tool's side effect and the source of that knowledge."""
    effect = tool.effect
    certain = "changes" if effect.kind == "changes" else "may change"
    return f"It {certain} something: {clean(effect.why, 160)}."


def describe_approval_scope(call: IntendedCall) -> str:
    """Return sentences on the size of a change's batch and its round in a loop.

    The text is empty for a single call outside of loops.
    """
    sentences: list[str] = []
    if call.batch:
        sentences.append(f"It is to be called {len(call.batch)} times: one answer is for all of them.")
    if call.round:
        sentences.append(
            f"It stands in a loop: this is round {call.round}, each round asks, "
            f"and the run may make {call.left} more change{'s' * (call.left != 1)} (FOOTPATH_MAX_CHANGES)."
        )
    return " ".join(sentences)
