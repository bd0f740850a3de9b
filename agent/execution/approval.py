"""The approval of calls: an approver is asked about each with where its values really come from, before anything is sent."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Protocol

from agent.budget import Meter
from agent.execution.executor import CallResult, Executor
from agent.execution.identity import Key, key_of, program_of, unnamed
from agent.execution.provenance import Judged, Provenance
from agent.text import clean
from domain.errors import FootpathError, NotAllowedError
from domain.model import JsonObject
from domain.tool import ToolDoc


@dataclass(frozen=True, slots=True)
class IntendedCall:
    """A call that is about to be made. ``judged``: where its arguments come from. ``identity``: which call of a program it is.

    ``again``: it changes something, and another program of the run has made the very same call with success: it would be done twice.
    """

    tool: ToolDoc
    arguments: JsonObject
    judged: Judged = field(default_factory=Judged)
    identity: str = ""
    again: bool = False


class Approver(Protocol):
    """A run's user, or a rule in the user's stead."""

    def approval(self, call: IntendedCall) -> AbstractAsyncContextManager[None]:
        """Held while the call is made. ``NotAllowedError`` where it must not be."""
        ...


class ApprovedExecutor:
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
    ) -> None:
        """``made``: calls that were made before the run was broken off."""
        self.name = executor.name
        self._executor = executor
        self._approver = approver
        self._provenance = provenance
        self._meter = meter
        self._changed: defaultdict[Key, set[str]] = defaultdict(set)
        for key, result in (made or {}).items():
            self._note(key, result)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """The call's result, once it is approved. ``NotAllowedError`` where it is not, or where the budget of changes is used up."""
        if not tool.safe:
            self._within_budget(tool)
        judged = await asyncio.to_thread(self._provenance.judged, tool, arguments)  # long answers are read anew
        async with AsyncExitStack() as held:
            with self._meter.stopwatch.standing_still():
                again = not tool.safe and self._is_made(key_of(tool.id, arguments, identity))
                call = IntendedCall(tool, arguments, judged, identity, again)
                await held.enter_async_context(self._approver.approval(call))
            return await (self._executor.call if tool.safe else self._change)(tool, arguments, identity)

    def _note(self, key: Key, result: CallResult) -> None:
        if result.outcome == "ok":
            self._changed[unnamed(key)].add(program_of(key[-1]))

    def _is_made(self, key: Key) -> bool:
        """Whether another program, or what is none, has made the same call with success; within one, the text says how often."""
        return bool(self._changed[unnamed(key)] - {program_of(key[-1])})

    async def _change(self, tool: ToolDoc, arguments: JsonObject, identity: str) -> CallResult:
        """Counted before it is sent, so that calls side by side do not go beyond the budget together."""
        self._within_budget(tool)
        self._meter.changes += 1
        try:
            result = await self._executor.call(tool, arguments, identity)
        except FootpathError:  # nothing was sent
            self._meter.changes -= 1
            raise
        if not result.attempts:
            self._meter.changes -= 1
        self._note(key_of(tool.id, arguments, identity), result)
        return result

    def _within_budget(self, tool: ToolDoc) -> None:
        if not self._meter.may_change:
            bound = self._meter.budget.changes
            raise NotAllowedError(
                f"{clean(tool.api, 80)} was not called: a run may make {bound} change{'s' * (bound != 1)} (FOOTPATH_MAX_CHANGES), "
                "and may make no more."
            )

    async def close(self) -> None:
        """Close the executor that makes the calls."""
        await self._executor.close()


def why_asked(tool: ToolDoc) -> str:
    """What a user is told of a tool's side effect, and who says so."""
    effect = tool.effect
    certain = "changes" if effect.kind == "changes" else "may change"
    return f"It {certain} something: {clean(effect.why, 160)}."
