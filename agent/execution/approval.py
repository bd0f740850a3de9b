"""Approval of calls before they are sent: approvers, the calls shown to them, and the executor layer that asks.

An approver sees each call with the origins that code found for its values. Approvers that ask nobody decide by a
setting. Programs announce their calls in advance, so that changes that wait together share one question.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from agent.budget import BudgetMeter
from agent.execution.call_identity import (
    CallKey,
    build_call_key,
    build_corrected_identity,
    drop_identity,
    get_program_id,
    get_subtask_id,
    is_different_json,
)
from agent.execution.call_wording import summarize_call
from agent.execution.executor import CallResult, Executor, ExecutorLayer
from agent.execution.provenance import CallProvenance, ProvenanceTracker
from agent.execution.undo_candidates import UndoFinder
from agent.text import clean_text
from domain.errors import FootpathError, NotAllowedError
from domain.model import JsonObject
from domain.provenance import HostCrossing, Slice
from domain.tool import ToolDoc, ToolId

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AnnouncedCall:
    """Call that a program announced and waits for."""

    identity: str
    tool: ToolDoc
    arguments: JsonObject
    slices: tuple[Slice, ...] = ()
    """Backward slices of its arguments."""
    tainted: bool = False
    """True if the author of the program had seen foreign data when writing it."""
    program_text: str = ""
    """Text of the program."""
    open_arguments: frozenset[str] = frozenset()
    """Names of arguments that the program left open and whose values were found at run time."""
    in_loop: bool = False
    """True if the program may reach this place again."""
    earlier_cells: frozenset[str] = frozenset()
    """Ids of the earlier programs that it continues, whose names remain defined.

    They have the form of :func:`agent.execution.call_identity.get_program_id`.
    """
    control: Slice | None = None
    """Slice of the conditions that decide whether and how often the call is made.

    None for a program that is not tainted.
    """


class AnnouncedCallRegistry:
    """Announced calls of one run.

    Changes by the same tool that wait at the same time form a batch, which is approved in one question.
    """

    def __init__(self) -> None:
        self._calls: dict[str, AnnouncedCall] = {}
        self._unbatched_changes: dict[str, AnnouncedCall] = {}
        self._batches: dict[str, tuple[AnnouncedCall, ...]] = {}
        self._rounds_by_site: Counter[str] = Counter()

    def add(self, calls: Iterable[AnnouncedCall]) -> None:
        """Add calls that a program is about to make."""
        for call in calls:
            self._calls[call.identity] = call
            if not call.tool.safe:
                self._unbatched_changes[call.identity] = call

    def find(self, identity: str) -> AnnouncedCall | None:
        """Return the announced call of this identity; None where it was not announced."""
        return self._calls.get(identity)

    def claim_batch(self, identity: str) -> tuple[AnnouncedCall, ...]:
        """Return the batch of this change, itself included; empty if it was not announced.

        The first request fixes the batch; changes announced later do not join it.
        """
        call = self._unbatched_changes.get(identity)
        if identity not in self._batches and call is not None:
            members = tuple(change for change in self._unbatched_changes.values() if change.tool.id == call.tool.id)
            for member in members:
                self._batches[member.identity] = members
                del self._unbatched_changes[member.identity]
            self._rounds_by_site.update({_get_site(member.identity) for member in members})
        return self._batches.get(identity, ())

    def count_rounds(self, identity: str) -> int:
        """Return the number of batches formed at this place of the program, this one included."""
        return self._rounds_by_site[_get_site(identity)]


def _get_site(identity: str) -> str:
    """Return the call's place in the program's text: the identity without its occurrence count and digest."""
    return identity.partition("#")[0]


TAINTED_NOTE = (
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
    loop_round: int = 0
    """Number of times its place in a loop was asked about, this time included; 0 outside of loops."""
    remaining_changes: int = 0
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

    def approve(self, call: IntendedCall) -> AbstractAsyncContextManager[JsonObject | None]:
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
        announced_calls: AnnouncedCallRegistry | None = None,
        undo: UndoFinder | None = None,
    ) -> None:
        """Create the layer.

        ``earlier_results`` holds the calls made before the run was interrupted, ``announced_calls`` those that the run's
        programs announced. ``undo`` finds how a change can be undone.
        """
        super().__init__(executor)
        self._approver = approver
        self._provenance = provenance
        self._meter = meter
        self._announced_calls = announced_calls or AnnouncedCallRegistry()
        self._undo = undo or UndoFinder()
        self._sent_identities = set[str]()
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
        async with AsyncExitStack() as stack:
            with self._meter.stopwatch.pause():
                corrected = await stack.enter_async_context(self._approver.approve(call))
            if tool.safe:
                return await self._executor.call(tool, arguments, identity)
            if corrected is not None and not is_different_json({**corrected}, {**arguments}):
                corrected = None
            return await self._send_change(tool, arguments, identity, corrected)

    def _build_intended_call(self, tool: ToolDoc, arguments: JsonObject, identity: str, undo: str) -> IntendedCall:
        """Build what the approver sees, with the batch and the round of a change that a program announced."""
        announced = self._announced_calls.find(identity) or AnnouncedCall(identity, tool, arguments)
        if announced.arguments != arguments:  # the slices belong to the announced values, not to these
            announced = replace(announced, arguments=arguments, slices=())
        intended = self._to_intended_call(announced, undo)
        if tool.safe:
            return intended
        batch = self._announced_calls.claim_batch(identity)
        members = tuple(self._to_intended_call(batch_call, undo) for batch_call in batch) if len(batch) > 1 else ()
        return replace(
            intended,
            # If this call was announced with other arguments, the batch would show something that is not sent.
            batch=members if any(member.arguments == arguments for member in members) else (),
            loop_round=self._announced_calls.count_rounds(identity) if announced.in_loop else 0,
            remaining_changes=self._meter.budget.changes - self._meter.changes,
        )

    def _to_intended_call(self, announced: AnnouncedCall, undo: str) -> IntendedCall:
        provenance = self._provenance.trace_arguments(
            announced.tool, announced.arguments, announced.slices, announced.control
        )
        possible_repeat = not announced.tool.safe and self._is_possible_repeat(announced)
        summary = "" if announced.tool.safe else summarize_call(announced.tool, announced.arguments, provenance.origins)
        caller_facts = (
            announced.identity,
            possible_repeat,
            announced.tainted,
            announced.program_text,
            announced.open_arguments,
        )
        return IntendedCall(announced.tool, announced.arguments, provenance, *caller_facts, summary=summary, undo=undo)

    def _find_unsent_changes(self, identity: str) -> list[AnnouncedCall]:
        """Return the changes of this change's batch that have not been sent."""
        return [
            change
            for change in self._announced_calls.claim_batch(identity)
            if change.identity not in self._sent_identities
        ]

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

    def _is_possible_repeat(self, announced: AnnouncedCall) -> bool:
        """Return whether the change may have been made before in this run.

        It may if another program, or a call outside of programs, made the same call with success, or if a dropped
        program of the same subtask made any change with this tool. A program may repeat its own calls, as its text
        says.
        """
        own_program = get_program_id(announced.identity)
        if self._programs_by_call[
            drop_identity(build_call_key(announced.tool.id, announced.arguments, announced.identity))
        ] - {own_program}:
            return True
        other_programs = self._programs_by_tool[announced.tool.id] - {own_program} - announced.earlier_cells
        return any(program and get_subtask_id(program) == get_subtask_id(own_program) for program in other_programs)

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
        self._sent_identities.add(identity)
        try:
            result = replace(await self._executor.call(tool, sent_arguments, sent_identity), corrected=corrected)
        except FootpathError:  # nothing was sent
            self._meter.changes -= 1
            raise
        if not result.attempts:  # nothing was sent: a secret is missing, or a layer below answered
            self._meter.changes -= 1
        self._record_change(build_call_key(tool.id, arguments, identity), result)
        return result

    def _check_budget(self, tool: ToolDoc, change_count: int = 1) -> None:
        """Raise ``NotAllowedError`` if a batch of ``change_count`` changes exceeds the budget; it is never made in part."""
        limit, used = self._meter.budget.changes, self._meter.changes
        if used + max(change_count, 1) <= limit:
            return
        limit_text = f"a run may make {limit} change{'s' * (limit != 1)} (FOOTPATH_MAX_CHANGES)"
        usage_text = (
            f"{used} were made and {change_count} are wanted at once" if change_count > 1 else "and may make no more"
        )
        raise NotAllowedError(f"{clean_text(tool.api, 80)} was not called: {limit_text}, {usage_text}.")


def describe_side_effect(tool: ToolDoc) -> str:
    """Describe in a sentence a tool's side effect and how it is known."""
    effect = tool.effect
    certain = "changes" if effect.kind == "changes" else "may change"
    return f"It {certain} something: {clean_text(effect.why, 160)}."


def describe_approval_scope(call: IntendedCall) -> str:
    """Describe the size of a change's batch and its round in a loop; empty for a single call outside of loops."""
    sentences: list[str] = []
    if call.batch:
        sentences.append(f"It is to be called {len(call.batch)} times: one answer is for all of them.")
    if call.loop_round:
        sentences.append(
            f"It stands in a loop: this is round {call.loop_round}, each round asks, "
            f"and the run may make {call.remaining_changes} more change{'s' * (call.remaining_changes != 1)} (FOOTPATH_MAX_CHANGES)."
        )
    return " ".join(sentences)


POSSIBLE_REPEAT_NOTE = (
    "The same call, or one like it by a text that was dropped, was made before in this run, with success."
)


class AllowChangesApprover:
    """Allows every call that does not repeat a change; with ``hosts``, changes are allowed at these hosts only."""

    def __init__(self, hosts: Collection[str] | None = None) -> None:
        self._hosts = hosts

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[None]:
        """Allow the call.

        Raises:
            NotAllowedError: it is a change at another host, or one that may have been made already.
        """
        if not call.tool.safe and self._hosts is not None and call.tool.host not in self._hosts:
            raise NotAllowedError(_format_refusal(call, f"Changes are allowed at {', '.join(self._hosts)} only."))
        if call.possible_repeat:
            raise NotAllowedError(
                _format_refusal(call, f"{POSSIBLE_REPEAT_NOTE} Nobody could be asked whether it is to be done again.")
            )
        yield


class DenyChangesApprover:
    """Allows only calls that are known to have no side effects.

    ``advice`` ends the error message: it says how changes could be allowed.
    """

    def __init__(self, advice: str = "Give the run an approver that asks its user, or allows changes.") -> None:
        self._advice = advice

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[None]:
        """Allow the call; raise ``NotAllowedError`` if it may have side effects."""
        if not call.tool.safe:
            raise NotAllowedError(
                _format_refusal(call, f"{describe_side_effect(call.tool)} Nobody could be asked. {self._advice}")
            )
        yield


class DryRunApprover:
    """Refuses calls with side effects and passes them to ``show`` instead, each call of a batch separately."""

    def __init__(self, show_change: Callable[[IntendedCall], None]) -> None:
        self._show_change = show_change

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[None]:
        """Allow the call; show a change and raise ``NotAllowedError`` for it."""
        if not call.tool.safe:
            for member in call.approved_together:
                self._show_change(member)
            raise NotAllowedError(_format_refusal(call, "This is a dry run, which makes no changes."))
        yield


class HostIsolationApprover:
    """Refuses to send values from one host's response to another host; ``next_approver`` decides everything else."""

    def __init__(self, next_approver: Approver) -> None:
        self._next_approver = next_approver

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        """Ask the next approver.

        Raises:
            NotAllowedError: a value would cross from one host to another; the message names the hosts and the setting.
        """
        for crossing in call.provenance.crossings:
            _log.warning("%s", describe_refused_crossing(crossing))
            raise NotAllowedError(
                f"{describe_refused_crossing(crossing)} FOOTPATH_FLOWS=allow lets such values go; at a server, its user is asked."
            )
        async with self._next_approver.approve(call) as corrected:
            yield corrected


def describe_refused_crossing(crossing: HostCrossing) -> str:
    """Describe which value was not sent to which host."""
    if not crossing.parameter:
        return (
            f"Whether and how often this is called depends on what {crossing.source} answers, which {crossing.target}, "
            "another host, would learn from it: it was not called."
        )
    return (
        f"The value of {crossing.parameter} stands in an answer of {crossing.source} and was not sent to {crossing.target}, "
        "which is another host."
    )


def _format_refusal(call: IntendedCall, reason: str) -> str:
    return f"{clean_text(call.tool.api, 80)} was not called. {reason}"
