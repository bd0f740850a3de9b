"""Approval of calls: an approver sees each call with the real origins of its values before anything is sent."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Protocol

from agent.budget import Meter
from agent.execution.announcements import Announced, Announcements
from agent.execution.executor import CallResult, Executor, ExecutorLayer
from agent.execution.identity import Key, corrected_as, differs, key_of, program_of, subtask_of, unnamed
from agent.execution.provenance import Judged, Provenance
from agent.execution.undo import Undo
from agent.execution.wording import summary_of
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
    judged: Judged = field(default_factory=Judged)
    """Origins of its arguments."""
    identity: str = ""
    """Which call of a program it is; empty outside of programs."""
    again: bool = False
    """It may repeat a change: another program of the run made the same call with success, or a dropped program of the same subtask made any
    change with this tool."""
    tainted: bool = False
    """Its program was written after its author was shown foreign data, so it needs approval whatever its tool's permission says."""
    text: str = ""
    """Text of the program that makes it."""
    open: frozenset[str] = frozenset()
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
    def asks_always(self) -> bool:
        """True where it needs approval even if its user allowed its tool."""
        return self.again or self.tainted

    @property
    def together(self) -> "tuple[IntendedCall, ...]":
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
        provenance: Provenance,
        meter: Meter,
        made: Mapping[Key, CallResult] | None = None,
        announcements: Announcements | None = None,
        undo: Undo | None = None,
    ) -> None:
        """Create the layer.

        ``made``: results of calls that were made before the run was interrupted. ``announcements``: calls that the run's programs
        announced. ``undo``: finds how a change can be undone.
        """
        super().__init__(executor)
        self._approver = approver
        self._provenance = provenance
        self._meter = meter
        self._announced = announcements or Announcements()
        self._undo = undo or Undo()
        self._begun = set[str]()
        self._changed: defaultdict[Key, set[str]] = defaultdict(set)
        self._changing: defaultdict[ToolId, set[str]] = defaultdict(set)
        for key, result in (made or {}).items():
            self._note(key, result)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Return the result of the call once it is approved.

        Raises ``NotAllowedError`` where it is not approved, or where the budget of changes is used up.
        """
        if not tool.safe:
            self._within_budget(tool, len(self._to_make(identity)))
        undo = await self._undo.of(tool)
        call = await asyncio.to_thread(
            self._intended, tool, arguments, identity, undo
        )  # a thread: long responses are parsed again
        async with AsyncExitStack() as held:
            with self._meter.stopwatch.standing_still():
                corrected = await held.enter_async_context(self._approver.approval(call))
            if tool.safe:
                return await self._executor.call(tool, arguments, identity)
            if corrected is not None and not differs({**corrected}, {**arguments}):
                corrected = None
            return await self._change(tool, arguments, identity, corrected)

    def _intended(self, tool: ToolDoc, arguments: JsonObject, identity: str, undo: str) -> IntendedCall:
        told = self._announced.of(identity) or Announced(identity, tool, arguments)
        if told.arguments != arguments:  # the question must show what is sent, and the slices are of other values
            told = replace(told, arguments=arguments, slices=())
        one = self._judged(told, undo)
        if tool.safe:
            return one
        batch = self._announced.batch(identity)
        together = tuple(self._judged(other, undo) for other in batch) if len(batch) > 1 else ()
        return replace(
            one,
            # A batch in which this call has other arguments would ask about something else than what is sent.
            batch=together if any(other.arguments == arguments for other in together) else (),
            round=self._announced.round(identity) if told.in_loop else 0,
            left=self._meter.budget.changes - self._meter.changes,
        )

    def _judged(self, told: Announced, undo: str) -> IntendedCall:
        judged = self._provenance.judged(told.tool, told.arguments, told.slices, told.control)
        again = not told.tool.safe and self._may_be_done(told)
        summary = "" if told.tool.safe else summary_of(told.tool, told.arguments, judged.origins)
        made_by = told.identity, again, told.tainted, told.text, told.open
        return IntendedCall(told.tool, told.arguments, judged, *made_by, summary=summary, undo=undo)

    def _to_make(self, identity: str) -> list[Announced]:
        """Return the changes of this change's batch that have not been sent."""
        return [one for one in self._announced.batch(identity) if one.identity not in self._begun]

    def _note(self, key: Key, result: CallResult) -> None:
        """Record a successful change.

        A corrected one counts under both its intended and its sent arguments, so neither repeats unasked.
        """
        if result.outcome == "ok":
            program = program_of(key[-1])
            self._changed[unnamed(key)].add(program)
            self._changing[key[0]].add(program)
            if result.corrected is not None:
                self._changed[key_of(key[0], result.corrected)].add(program)

    def _may_be_done(self, told: Announced) -> bool:
        """Return whether the change may have been made before in this run.

        That is so where another program, or a call outside of programs, made the same call with success, or where a dropped program of
        the same subtask made any change with this tool. Repetitions within one program are as its text says and do not count.
        """
        own = program_of(told.identity)
        if self._changed[unnamed(key_of(told.tool.id, told.arguments, told.identity))] - {own}:
            return True
        others = self._changing[told.tool.id] - {own} - told.cells
        return any(other and subtask_of(other) == subtask_of(own) for other in others)

    async def _change(
        self, tool: ToolDoc, arguments: JsonObject, identity: str, corrected: JsonObject | None
    ) -> CallResult:
        """Send a change, with the ``corrected`` arguments where there are some, and record it.

        It is counted before it is sent, so that concurrent calls cannot exceed the budget together.
        """
        self._within_budget(tool)
        made, named = arguments, identity
        if corrected is not None:
            self._provenance.correct(tool, arguments, corrected)
            made, named = corrected, corrected_as(tool.id, arguments, identity)
        self._meter.changes += 1
        self._begun.add(identity)
        try:
            result = replace(await self._executor.call(tool, made, named), corrected=corrected)
        except FootpathError:  # nothing was sent
            self._meter.changes -= 1
            raise
        if not result.attempts:  # nothing was sent: a secret is missing, or a layer below answered
            self._meter.changes -= 1
        self._note(key_of(tool.id, arguments, identity), result)
        return result

    def _within_budget(self, tool: ToolDoc, wanted: int = 1) -> None:
        """Raise ``NotAllowedError`` where a batch of this size exceeds the budget: nobody asked for half of it."""
        bound, made = self._meter.budget.changes, self._meter.changes
        if made + max(wanted, 1) <= bound:
            return
        most = f"a run may make {bound} change{'s' * (bound != 1)} (FOOTPATH_MAX_CHANGES)"
        more = f"{made} were made and {wanted} are wanted at once" if wanted > 1 else "and may make no more"
        raise NotAllowedError(f"{clean(tool.api, 80)} was not called: {most}, {more}.")


def why_asked(tool: ToolDoc) -> str:
    """Return a sentence on a tool's side effect and the source of that knowledge."""
    effect = tool.effect
    certain = "changes" if effect.kind == "changes" else "may change"
    return f"It {certain} something: {clean(effect.why, 160)}."


def what_asks(call: IntendedCall) -> str:
    """Return sentences on the size of a change's batch and its round in a loop.

    The text is empty for a single call outside of loops.
    """
    told: list[str] = []
    if call.batch:
        told.append(f"It is to be called {len(call.batch)} times: one answer is for all of them.")
    if call.round:
        told.append(
            f"It stands in a loop: this is round {call.round}, each round asks, "
            f"and the run may make {call.left} more change{'s' * (call.left != 1)} (FOOTPATH_MAX_CHANGES)."
        )
    return " ".join(told)
