"""Approval of calls before they are sent: approvers, the calls shown to them, and the executor layer that asks.

An approver sees each call with the origins that code found for its values. Approvers that ask nobody decide by a
setting. Programs announce their calls in advance, so that changes that wait together share one question.
"""

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
"""Message shown with a change whose program may have been influenced by foreign text."""


@dataclass(frozen=True, slots=True)
class IntendedCall:
    """A call that is about to be made, as its approver sees it."""

    tool: ToolDoc
    arguments: JsonObject
    provenance: CallProvenance = field(default_factory=CallProvenance)
    """Origins of its arguments."""
    identity: str = ""
    """Identity of the call within its program (:mod:`agent.execution.call_identity`); empty outside of programs."""
    possible_repeat: bool = False
    """True if it may repeat a change of this run.

    Either another program made the same call with success, or a dropped program of the same subtask made any change
    with this tool.
    """
    tainted: bool = False
    """True if its program's author had seen foreign data; it needs approval whatever its tool's permission says."""
    program_text: str = ""
    """Text of the program that makes it."""
    open_arguments: frozenset[str] = frozenset()
    """Names of arguments that the program left open and whose values were found at run time."""
    batch: "tuple[IntendedCall, ...]" = ()
    """Changes that are approved in one question, this one included; empty for a single call."""
    round: int = 0
    """Number of times its place in a loop was asked about, this time included; 0 outside of loops."""
    left: int = 0
    """Number of changes that the run may still make."""
    summary: str = ""
    """Summary of the call in words."""
    undo: str = ""
    """How the change can be undone, or that it cannot."""

    @property
    def always_needs_approval(self) -> bool:
        """True if it needs approval even where its user allowed its tool."""
        return self.possible_repeat or self.tainted

    @property
    def approved_together(self) -> "tuple[IntendedCall, ...]":
        """Calls decided by one answer: the batch, or the call alone."""
        return self.batch or (self,)


class Approver(Protocol):
    """Decides on calls: a run's user, or a rule in the user's place."""

    def approval(self, call: IntendedCall) -> AbstractAsyncContextManager[JsonObject | None]:
        """Return a context manager to hold while the call is made.

        It yields the valid arguments that the user put in place of the original ones, or None if they are unchanged.

        Raises:
            NotAllowedError: on entering, if the call must not be made.
        """
        ...


class ApprovedExecutor(ExecutorLayer):
    """Executor layer of one run that asks an approver before each call.

    The approver's time does not count as time of the run. Calls with side effects count against the run's budget of
    changes when they are sent; an approval cannot exceed that budget.
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

        ``earlier_results`` holds the calls made before the run was interrupted, ``announcements`` those that the run's
        programs announced. ``undo`` finds how a change can be undone.
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

        Raises:
            NotAllowedError: it is not approved, or the budget of changes is used up.
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
        """Build what the approver sees, with the batch and the round of a change that a program announced."""
        pending = self._pending_calls.find(identity) or PendingCall(identity, tool, arguments)
        if pending.arguments != arguments:  # the slices belong to the announced values, not to these
            pending = replace(pending, arguments=arguments, slices=())
        intended = self._to_intended_call(pending, undo)
        if tool.safe:
            return intended
        batch = self._pending_calls.claim_batch(identity)
        members = tuple(self._to_intended_call(other, undo) for other in batch) if len(batch) > 1 else ()
        return replace(
            intended,
            # If this call was announced with other arguments, the batch would show something that is not sent.
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

        A corrected change is recorded under both its original and its sent arguments, so that neither is repeated
        without a question.
        """
        if result.outcome == "ok":
            program = get_program_id(key[-1])
            self._programs_by_call[drop_identity(key)].add(program)
            self._programs_by_tool[key[0]].add(program)
            if result.corrected is not None:
                self._programs_by_call[build_call_key(key[0], result.corrected)].add(program)

    def _is_possible_repeat(self, pending: PendingCall) -> bool:
        """Return whether the change may have been made before in this run.

        It may if another program, or a call outside of programs, made the same call with success, or if a dropped
        program of the same subtask made any change with this tool. A program may repeat its own calls, as its text
        says.
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
        """Send a change, with the ``corrected`` arguments if there are any, and record it.

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
        """Raise ``NotAllowedError`` if a batch of ``count`` changes exceeds the budget; it is never made in part."""
        limit, used = self._meter.budget.changes, self._meter.changes
        if used + max(count, 1) <= limit:
            return
        limit_text = f"a run may make {limit} change{'s' * (limit != 1)} (FOOTPATH_MAX_CHANGES)"
        usage_text = f"{used} were made and {count} are wanted at once" if count > 1 else "and may make no more"
        raise NotAllowedError(f"{clean(tool.api, 80)} was not called: {limit_text}, {usage_text}.")


def describe_side_effect(tool: ToolDoc) -> str:
    """Describe in a sentence a tool's side effect and how it is known."""
    effect = tool.effect
    certain = "changes" if effect.kind == "changes" else "may change"
    return f"It {certain} something: {clean(effect.why, 160)}."


def describe_approval_scope(call: IntendedCall) -> str:
    """Describe the size of a change's batch and its round in a loop; empty for a single call outside of loops."""
    sentences: list[str] = []
    if call.batch:
        sentences.append(f"It is to be called {len(call.batch)} times: one answer is for all of them.")
    if call.round:
        sentences.append(
            f"It stands in a loop: this is round {call.round}, each round asks, "
            f"and the run may make {call.left} more change{'s' * (call.left != 1)} (FOOTPATH_MAX_CHANGES)."
        )
    return " ".join(sentences)
