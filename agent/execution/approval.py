"""The approval of calls: an approver is asked about each with where its values really come from, before anything is sent."""

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
"""What a user is told of a change whose program foreign text may have had a hand in."""


@dataclass(frozen=True, slots=True)
class IntendedCall:
    """A call that is about to be made. ``judged``: where its arguments come from. ``identity``: which call of a program it is.

    ``again``: it changes something that may be done already: another program of the run has made the very same call with success, or one that
    this program is written anew for has made any change with its tool.
    ``text``: of the program that makes it; ``open``: arguments that it leaves open, whose values were found on the way.
    ``tainted``: its program was written after foreign data was shown to its author: it is asked about whatever was said of its tool.
    ``batch``: changes that wait together with it and are asked about at once, itself among them; empty where it is alone.
    ``summary``: what it will do, in words; ``undo``: how that can be taken back, or that it cannot.
    ``round``: how often its place in a loop was asked about, this time included; 0: it is in none. ``left``: how many changes the run may
    still make.
    """

    tool: ToolDoc
    arguments: JsonObject
    judged: Judged = field(default_factory=Judged)
    identity: str = ""
    again: bool = False
    tainted: bool = False
    text: str = ""
    open: frozenset[str] = frozenset()
    batch: "tuple[IntendedCall, ...]" = ()
    round: int = 0
    left: int = 0
    summary: str = ""
    undo: str = ""

    @property
    def asks_always(self) -> bool:
        """Whether it is asked about whatever its user said of its tool."""
        return self.again or self.tainted

    @property
    def together(self) -> "tuple[IntendedCall, ...]":
        """The calls that one answer is about."""
        return self.batch or (self,)


class Approver(Protocol):
    """A run's user, or a rule in the user's stead."""

    def approval(self, call: IntendedCall) -> AbstractAsyncContextManager[JsonObject | None]:
        """Held while the call is made. ``NotAllowedError`` where it must not be. The arguments as its user corrected them, fit to be sent; None: as
        they are.
        """
        ...


class ApprovedExecutor(ExecutorLayer):
    """One run's, around the one that makes its calls. What its approver takes to answer is none of the run's time.

    Calls that may change something and are sent count against the run's budget; whatever was approved, none goes beyond it.
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
        """``made``: calls that were made before the run was broken off. ``announcements``: what its programs tell of theirs before they are made.
        ``undo``: what tells how a change is taken back.
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
        """The call's result, once it is approved. ``NotAllowedError`` where it is not, or where the budget of changes is used up."""
        if not tool.safe:
            self._within_budget(tool, len(self._to_make(identity)))
        undo = await self._undo.of(tool)
        call = await asyncio.to_thread(self._intended, tool, arguments, identity, undo)  # long answers are read anew
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
        if told.arguments != arguments:  # what is sent is what is asked about
            told = replace(told, arguments=arguments, slices=())
        one = self._judged(told, undo)
        if tool.safe:
            return one
        batch = self._announced.batch(identity)
        together = tuple(self._judged(other, undo) for other in batch) if len(batch) > 1 else ()
        return replace(
            one,
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
        """What is still to be made of the batch that a change stands in."""
        return [one for one in self._announced.batch(identity) if one.identity not in self._begun]

    def _note(self, key: Key, result: CallResult) -> None:
        """Of one that was corrected, neither what it was to be nor what it was is to be done again unasked."""
        if result.outcome == "ok":
            program = program_of(key[-1])
            self._changed[unnamed(key)].add(program)
            self._changing[key[0]].add(program)
            if result.corrected is not None:
                self._changed[key_of(key[0], result.corrected)].add(program)

    def _may_be_done(self, told: Announced) -> bool:
        """Whether another program, or what is none, has made the same call with success, or a dropped one of the same subtask any with this tool.

        Within a program, the text says how often.
        """
        own = program_of(told.identity)
        if self._changed[unnamed(key_of(told.tool.id, told.arguments, told.identity))] - {own}:
            return True
        others = self._changing[told.tool.id] - {own} - told.cells
        return any(other and subtask_of(other) == subtask_of(own) for other in others)

    async def _change(
        self, tool: ToolDoc, arguments: JsonObject, identity: str, corrected: JsonObject | None
    ) -> CallResult:
        """Counted before it is sent, so that calls side by side do not go beyond the budget together. ``corrected``: made with these instead."""
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
        if not result.attempts:
            self._meter.changes -= 1
        self._note(key_of(tool.id, arguments, identity), result)
        return result

    def _within_budget(self, tool: ToolDoc, wanted: int = 1) -> None:
        """A batch that goes beyond it is not begun: half of it is what nobody asked for."""
        bound, made = self._meter.budget.changes, self._meter.changes
        if made + max(wanted, 1) <= bound:
            return
        most = f"a run may make {bound} change{'s' * (bound != 1)} (FOOTPATH_MAX_CHANGES)"
        more = f"{made} were made and {wanted} are wanted at once" if wanted > 1 else "and may make no more"
        raise NotAllowedError(f"{clean(tool.api, 80)} was not called: {most}, {more}.")


def why_asked(tool: ToolDoc) -> str:
    """What a user is told of a tool's side effect, and who says so."""
    effect = tool.effect
    certain = "changes" if effect.kind == "changes" else "may change"
    return f"It {certain} something: {clean(effect.why, 160)}."


def what_asks(call: IntendedCall) -> str:
    """What a user is told besides of a change: that it is one of several, that it comes round again."""
    told: list[str] = []
    if call.batch:
        told.append(f"It is to be called {len(call.batch)} times: one answer is for all of them.")
    if call.round:
        told.append(
            f"It stands in a loop: this is round {call.round}, each round asks, "
            f"and the run may make {call.left} more change{'s' * (call.left != 1)} (FOOTPATH_MAX_CHANGES)."
        )
    return " ".join(told)
