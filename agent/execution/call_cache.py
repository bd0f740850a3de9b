"""Cache of one run's calls: identical calls are answered once, and a failing host is not called again."""

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
"""Consecutive failures of a host after which a run does not call it again."""
CUT_OFF = "The call was cut off before its answer came, so it is not known whether it took effect."
_LASTING = frozenset({"ok", "gone", "absent", "undecided", "refused", "caller_fault"})
"""Outcomes of a read that a repetition would not change."""
HAPPENED = "Its answer is lost; you said that it took effect."
"""Note of a change with a lost answer of which its user said that it took effect; its response is empty."""


@dataclass(slots=True)
class _Host:
    """State of a host in one run."""

    failures: int = 0
    why: str = ""
    """Why it is not called again; empty while it is called."""
    refused: ForbiddenAddressError | None = None
    """Raised again for every further call to a forbidden address."""


@dataclass(frozen=True, slots=True)
class _Read:
    """Cached result of a read by a program."""

    result: CallResult
    changes: int
    """Beginnings and ends of changes that the run had counted when the read began; the result is stale once there are more."""


class ReusingExecutor(ExecutorLayer):
    """Executor layer of one run that answers identical calls from the first one.

    Outside of programs, writes are not repeated either: after a change of plan, that would do the same thing twice. A program's calls
    have an identity, and each is made, so two identical writes are two. Only its repeated reads are answered from the first, lasting
    failures included, as long as no change began or ended in the run in between.

    Identical calls at the same moment wait for the first. A host that cannot be reached, that failed ``MOST_FAILURES`` times in a row
    or whose address is forbidden is not called again.
    """

    def __init__(self, executor: Executor, made: Mapping[Key, CallResult] | None = None) -> None:
        """Create the cache. ``made``: results of calls that were made before the run was interrupted."""
        super().__init__(executor)
        self._made: dict[Key, CallResult] = {}
        self._read: dict[Key, _Read] = {}
        self._changes = 0
        for key, result in (made or {}).items():
            self._keep(key, result)
        self._in_turn: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Return the result of the call, made now or earlier in this run; ``attempts`` is 0 for an earlier one."""
        key = key_of(tool.id, arguments, identity)
        # One lock for identical calls: the second waits and is answered from the first. A program's writes lock by identity, as each is made.
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
                if not tool.safe:  # cancelled while the request was under way: it may have taken effect
                    self._keep(key, CallResult("unknown", "", note=CUT_OFF))
                raise
            _remember(host, host_of(tool.url), result)
            return result

    async def _made_now(self, tool: ToolDoc, arguments: JsonObject, key: Key) -> CallResult:
        """Make the call and store its result.

        A read that overlaps with a change may be old or new: the counter marks it as stale.
        """
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
        """Store a result, also without the program's identity.

        A later plan outside of programs must not make the write again.
        """
        self._made[key] = result
        self._made.setdefault(unnamed(key), result)

    def _fresh(self, key: Key) -> CallResult | None:
        """Return the result of an earlier read with the same arguments if nothing changed since; else None."""
        read = self._read.get(unnamed(key))
        return read.result if read is not None and read.changes == self._changes else None

    def begins_again(self, tool: ToolDoc) -> int:
        """Count the beginning of a program's call that was made before the run was interrupted.

        Return the counter for ``lived``.
        """
        if not tool.safe:
            self._changes += 1
        return self._changes

    def lived(self, tool: ToolDoc, arguments: JsonObject, identity: str, result: CallResult, begun: int) -> None:
        """Record a program's call from before an interruption as if it were made now.

        ``begun``: the result of ``begins_again``.
        """
        key = key_of(tool.id, arguments, identity)
        if not tool.safe:
            self._changes += 1
            if result.attempts or result.outcome == "unknown":
                self._keep(key, result)
        elif result.outcome in _LASTING:
            self._read[unnamed(key)] = _Read(result, begun)
        self.saw(tool.url, result)

    def saw(self, url: str, result: CallResult) -> None:
        """Update the state of a host by a call that was made before the run was interrupted."""
        if result.attempts:
            _remember(self._hosts[host_of(url)], host_of(url), result)

    def left_alone(self, url: str) -> bool:
        """Return whether the host of a URL is not called any more in this run."""
        host = self._hosts[host_of(url)]
        return bool(host.why or host.refused)


def _again(made: CallResult) -> CallResult:
    return replace(made, attempts=0, seconds=0.0, note=" ".join(part for part in (made.note, REPEATED) if part))


def _remember(host: _Host, place: str, result: CallResult) -> None:
    if result.attempts and (result.outcome in ("transient", "unknown") or result.http_status == 429):
        host.failures += 1
    elif result.reached:  # any other answer shows that the host works
        host.failures = 0
    if place and not result.reached:
        host.why = f"{place} could not be reached before in this run ({result.note}), so it was not called again"
    elif place and host.failures >= MOST_FAILURES:
        host.why = f"{place} failed {host.failures} times in a row in this run, so it was not called again"
