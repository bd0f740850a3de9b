"""One run's calls: an identical one is answered from the first, and a host that does not answer is left alone."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.execution.executor import CallResult, Executor, ExecutorLayer
from agent.execution.identity import Key, key_of, unnamed
from agent.step_notes import REPEATED
from domain.errors import FootpathError, ForbiddenAddressError
from domain.model import JsonObject
from domain.tool import ToolDoc, host_of

MOST_FAILURES = 4
"""Calls in a row to one host that fail for reasons of its own before a run calls it no more."""
CUT_OFF = "The call was cut off before its answer came, so it is not known whether it took effect."
_LASTING = frozenset({"ok", "gone", "absent", "undecided", "refused", "caller_fault"})
"""Outcomes of a read that the same read would have again."""
HAPPENED = "Its answer is lost; you said that it took effect."
"""The note of a change that its user vouches for. It has an empty response."""


@dataclass(slots=True)
class _Host:
    failures: int = 0
    why: str = ""
    refused: ForbiddenAddressError | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """``changes``: how many had been begun or had ended in the run when it was asked for."""

    result: CallResult
    changes: int


class ReusingExecutor(ExecutorLayer):
    """An executor for one run. Writes are not repeated either: after a change of plan that would do the thing twice.

    A program's calls have an identity, and each is made: two identical writes are two. Only what a program reads again is answered from the
    first time, with a failure too where it is one for good, while nothing in the run has changed anything in between.

    Identical calls that are made at the same moment wait for the first. A host that cannot be connected to, or that failed
    ``MOST_FAILURES`` times in a row, is not called again; nor is one whose address is forbidden.
    """

    def __init__(self, executor: Executor, made: Mapping[Key, CallResult] | None = None) -> None:
        """``made``: calls that were made before the run was broken off."""
        super().__init__(executor)
        self._made: dict[Key, CallResult] = {}
        self._read: dict[Key, _Read] = {}
        self._changes = 0
        for key, result in (made or {}).items():
            self._keep(key, result)
        self._in_turn: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """The result of the call, made now or earlier in this run; ``attempts`` is 0 for the latter."""
        key = key_of(tool.id, arguments, identity)
        async with self._in_turn[unnamed(key) if tool.safe else key]:
            made = self._made.get(key) or self._fresh(key)
            if made is not None:
                return _again(made)
            host = self._hosts[host_of(tool.url)]
            if host.refused:
                raise host.refused
            if host.why:
                return CallResult("transient", "", attempts=0, note=host.why, reached=False)
            try:
                result = await self._made_now(tool, arguments, key)
            except ForbiddenAddressError as error:
                host.refused = error if host_of(tool.url) else None
                raise
            except FootpathError:
                raise  # nothing was sent
            except BaseException:
                if not tool.safe:
                    self._keep(key, CallResult("unknown", "", note=CUT_OFF))
                raise
            _remember(host, host_of(tool.url), result)
            return result

    async def _made_now(self, tool: ToolDoc, arguments: JsonObject, key: Key) -> CallResult:
        """The result of a call that is made; what was read while something changed may be old or new, and is kept for nobody."""
        if not tool.safe:
            self._changes += 1
        begun = self._changes
        try:
            result = await self._executor.call(tool, arguments, key[-1])
        finally:
            if not tool.safe:
                self._changes += 1
        if not (tool.safe and key[-1]):
            self._keep(key, result)
        elif result.outcome in _LASTING:
            self._read[unnamed(key)] = _Read(result, begun)
        return result

    def _keep(self, key: Key, result: CallResult) -> None:
        """What a program wrote is also there for a later plan that is none, which would do it twice."""
        self._made[key] = result
        self._made.setdefault(unnamed(key), result)

    def _fresh(self, key: Key) -> CallResult | None:
        """What was read before with the same arguments, if nothing was changed since."""
        read = self._read.get(unnamed(key))
        return read.result if read is not None and read.changes == self._changes else None

    def begins_again(self, tool: ToolDoc) -> int:
        """When a program's call begins, as ``lived`` is told, that was made before the run was broken off: what is read beside a change is kept for nobody."""
        if not tool.safe:
            self._changes += 1
        return self._changes

    def lived(self, tool: ToolDoc, arguments: JsonObject, identity: str, result: CallResult, begun: int) -> None:
        """Take in a program's call that was made before the run was broken off, as if it were made now. ``begun``: by ``begins_again``."""
        key = key_of(tool.id, arguments, identity)
        if not tool.safe:
            self._changes += 1
            if result.attempts or result.outcome == "unknown":
                self._keep(key, result)
        elif result.outcome in _LASTING:
            self._read[unnamed(key)] = _Read(result, begun)
        self.saw(tool.url, result)

    def saw(self, url: str, result: CallResult) -> None:
        """Take into account what a call told of its host that was made before the run was broken off."""
        if result.attempts:
            _remember(self._hosts[host_of(url)], host_of(url), result)

    def left_alone(self, url: str) -> bool:
        """Whether the host of a URL is not called any more in this run."""
        host = self._hosts[host_of(url)]
        return bool(host.why or host.refused)


def _again(made: CallResult) -> CallResult:
    return replace(made, attempts=0, seconds=0.0, note=" ".join(part for part in (made.note, REPEATED) if part))


def _remember(host: _Host, place: str, result: CallResult) -> None:
    if result.attempts and (result.outcome in ("transient", "unknown") or result.http_status == 429):
        host.failures += 1
    elif result.reached:
        host.failures = 0
    if place and not result.reached:
        host.why = f"{place} could not be reached before in this run ({result.note}), so it was not called again"
    elif place and host.failures >= MOST_FAILURES:
        host.why = f"{place} failed {host.failures} times in a row in this run, so it was not called again"
