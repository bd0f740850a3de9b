"""Cache of one run's calls: identical calls are answered once, and a failing host is not called again."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.execution.call_identity import CallKey, build_call_key, drop_identity
from agent.execution.executor import CallResult, Executor, ExecutorLayer
from agent.failure_message import REPEATED_CALL_NOTE
from domain.errors import FootpathError, ForbiddenAddressError
from domain.model import JsonObject
from domain.tool import ToolDoc, parse_host

MAX_HOST_FAILURES = 4
"""Consecutive failures of a host after which a run does not call it again."""
CUT_OFF_NOTE = "The call was cut off before its answer came, so it is not known whether it took effect."
_LASTING_OUTCOMES = frozenset({"ok", "gone", "absent", "undecided", "refused", "caller_fault"})
"""Outcomes of a read that a repetition would not change."""
CONFIRMED_BY_USER_NOTE = "Its answer is lost; you said that it took effect."
"""Note of a change whose answer was lost and whose user confirmed that it took effect; its response is empty."""


@dataclass(slots=True)
class _HostState:
    """State of a host in one run."""

    failures: int = 0
    skip_reason: str = ""
    """Reason for not calling it again; empty while it may be called."""
    forbidden_error: ForbiddenAddressError | None = None
    """Raised again for every further call to a forbidden address."""


@dataclass(frozen=True, slots=True)
class _CachedRead:
    """Cached result of a read by a program."""

    result: CallResult
    change_count: int
    """Value of the run's change counter when the read began; the result is stale once the counter has grown.

    Each change counts twice, at its beginning and at its end.
    """


class CachingExecutor(ExecutorLayer):
    """Executor layer of one run that answers identical calls from the first one.

    Outside of programs this holds for writes too, since a changed plan would otherwise do the same thing twice. A
    program's writes have identities and are all made, so two identical writes are two. Its reads are answered from
    the first one, lasting failures included, as long as no change of the run began or ended in between.

    Concurrent identical calls wait for the first. A host is not called again if it cannot be reached, has failed
    ``MAX_HOST_FAILURES`` times in a row, or has a forbidden address.
    """

    def __init__(self, executor: Executor, earlier_results: Mapping[CallKey, CallResult] | None = None) -> None:
        """Create the cache. ``earlier_results``: results of calls that were made before the run was interrupted."""
        super().__init__(executor)
        self._results: dict[CallKey, CallResult] = {}
        self._reads: dict[CallKey, _CachedRead] = {}
        self._change_count = 0
        for key, result in (earlier_results or {}).items():
            self._store_result(key, result)
        self._locks: defaultdict[CallKey, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._hosts: defaultdict[str, _HostState] = defaultdict(_HostState)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Return the result of the call, made now or earlier in this run; ``attempts`` is 0 for an earlier one."""
        key = build_call_key(tool.id, arguments, identity)
        # One lock for identical calls: the second waits and is answered from the first. A program's writes lock by
        # identity, since each of them is made.
        async with self._locks[drop_identity(key) if tool.safe else key]:
            cached = self._results.get(key) or self._find_fresh_read(key)
            if cached is not None:
                return _mark_repeated(cached)
            host = self._hosts[parse_host(tool.url)]
            if host.forbidden_error:
                raise host.forbidden_error
            if host.skip_reason:
                return CallResult("transient", "", attempts=0, note=host.skip_reason, reached=False)
            try:
                result = await self._send_and_store(tool, arguments, key)
            except ForbiddenAddressError as error:
                host.forbidden_error = error if parse_host(tool.url) else None
                raise
            except FootpathError:
                raise  # nothing was sent
            except BaseException:
                if not tool.safe:  # cancelled while the request was under way: it may have taken effect
                    self._store_result(key, CallResult("unknown", "", note=CUT_OFF_NOTE))
                raise
            _update_host(host, parse_host(tool.url), result)
            return result

    async def _send_and_store(self, tool: ToolDoc, arguments: JsonObject, key: CallKey) -> CallResult:
        """Make the call and store its result.

        A read that overlaps with a change may return the old or the new state, so the counter makes it stale.
        """
        if not tool.safe:
            self._change_count += 1
        change_count_before = self._change_count
        try:
            result = await self._executor.call(tool, arguments, key[-1])
        finally:
            if not tool.safe:
                self._change_count += 1
        if not (tool.safe and key[-1]):
            self._store_result(key, result)
        elif result.outcome in _LASTING_OUTCOMES:
            self._reads[drop_identity(key)] = _CachedRead(result, change_count_before)
        return result

    def _store_result(self, key: CallKey, result: CallResult) -> None:
        """Store a result, also without the program's identity.

        The second key keeps a later plan outside of programs from making the write again.
        """
        self._results[key] = result
        self._results.setdefault(drop_identity(key), result)

    def _find_fresh_read(self, key: CallKey) -> CallResult | None:
        """Return the result of an earlier read with the same arguments if nothing changed since; else None."""
        cached = self._reads.get(drop_identity(key))
        return cached.result if cached is not None and cached.change_count == self._change_count else None

    def begin_replayed_call(self, tool: ToolDoc) -> int:
        """Begin to replay a program's call that was made before the run was interrupted.

        Return the change counter, to be passed to ``record_replayed_call``.
        """
        if not tool.safe:
            self._change_count += 1
        return self._change_count

    def record_replayed_call(
        self, tool: ToolDoc, arguments: JsonObject, identity: str, result: CallResult, change_count_before: int
    ) -> None:
        """Record the result of a call from before an interruption as if it had been made now.

        ``change_count_before`` is the result of ``begin_replayed_call``.
        """
        key = build_call_key(tool.id, arguments, identity)
        if not tool.safe:
            self._change_count += 1
            if result.attempts or result.outcome == "unknown":
                self._store_result(key, result)
        elif result.outcome in _LASTING_OUTCOMES:
            self._reads[drop_identity(key)] = _CachedRead(result, change_count_before)
        self.record_host_result(tool.url, result)

    def record_host_result(self, url: str, result: CallResult) -> None:
        """Update the state of a URL's host with the result of a call made before the run was interrupted."""
        if result.attempts:
            _update_host(self._hosts[parse_host(url)], parse_host(url), result)

    def is_host_skipped(self, url: str) -> bool:
        """Return whether the host of a URL is not called any more in this run."""
        host = self._hosts[parse_host(url)]
        return bool(host.skip_reason or host.forbidden_error)


def _mark_repeated(result: CallResult) -> CallResult:
    return replace(
        result, attempts=0, seconds=0.0, note=" ".join(part for part in (result.note, REPEATED_CALL_NOTE) if part)
    )


def _update_host(host: _HostState, place: str, result: CallResult) -> None:
    if result.attempts and (result.outcome in ("transient", "unknown") or result.http_status == 429):
        host.failures += 1
    elif result.reached:  # any other answer shows that the host works
        host.failures = 0
    if place and not result.reached:
        host.skip_reason = (
            f"{place} could not be reached before in this run ({result.note}), so it was not called again"
        )
    elif place and host.failures >= MAX_HOST_FAILURES:
        host.skip_reason = f"{place} failed {host.failures} times in a row in this run, so it was not called again"
