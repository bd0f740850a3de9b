"""One run's calls: an identical one is answered from the first, and a host that does not answer is left alone."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from agent.execution.executor import CallResult, Executor
from agent.step_notes import REPEATED
from domain.errors import FootpathError, ForbiddenAddressError
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId

MOST_FAILURES = 4
"""Calls in a row to one host that fail for reasons of its own before a run calls it no more."""
CUT_OFF = "The call was cut off before its answer came, so it is not known whether it took effect."

Key = tuple[ToolId, str]
"""A call: the tool, and its arguments as JSON text."""


def key_of(tool: ToolId, arguments: JsonObject) -> Key:
    """What makes two calls the same."""
    return tool, json.dumps(arguments, sort_keys=True)


@dataclass(slots=True)
class _Host:
    failures: int = 0
    why: str = ""
    refused: ForbiddenAddressError | None = None


class ReusingExecutor:
    """An executor for one run. Writes are not repeated either: after a change of plan that would do the thing twice.

    Identical calls that are made at the same moment wait for the first. A host that cannot be connected to, or that failed
    ``MOST_FAILURES`` times in a row, is not called again; nor is one whose address is forbidden.
    """

    def __init__(self, executor: Executor, made: Mapping[Key, CallResult] | None = None) -> None:
        """``made``: calls that were made before the run was broken off."""
        self.name = executor.name
        self._executor = executor
        self._made: dict[Key, CallResult] = dict(made or {})
        self._in_turn: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        """The result of the call, made now or earlier in this run; ``attempts`` is 0 for the latter."""
        key = key_of(tool.id, arguments)
        async with self._in_turn[key]:
            if key in self._made:
                return _again(self._made[key])
            host = self._hosts[_place(tool.url)]
            if host.refused:
                raise host.refused
            if host.why:
                return CallResult("transient", "", attempts=0, note=host.why, reached=False)
            try:
                result = await self._executor.call(tool, arguments)
            except ForbiddenAddressError as error:
                host.refused = error if _place(tool.url) else None
                raise
            except FootpathError:
                raise  # nothing was sent
            except BaseException:
                if not tool.safe:
                    self._made[key] = CallResult("unknown", "", note=CUT_OFF)
                raise
            self._made[key] = result
            _remember(host, _place(tool.url), result)
            return result

    def saw(self, url: str, result: CallResult) -> None:
        """Take into account what a call told of its host that was made before the run was broken off."""
        if result.attempts:
            _remember(self._hosts[_place(url)], _place(url), result)

    def left_alone(self, url: str) -> bool:
        """Whether the host of a URL is not called any more in this run."""
        host = self._hosts[_place(url)]
        return bool(host.why or host.refused)

    async def close(self) -> None:
        """Close the executor that makes the calls."""
        await self._executor.close()


def _again(made: CallResult) -> CallResult:
    return replace(made, attempts=0, seconds=0.0, note=" ".join(part for part in (made.note, REPEATED) if part))


def _place(url: str) -> str:
    """``host:port`` as a URL writes it; empty where it cannot be read, which the executor will say."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def _remember(host: _Host, place: str, result: CallResult) -> None:
    if result.attempts and (result.outcome in ("transient", "unknown") or result.http_status == 429):
        host.failures += 1
    elif result.reached:
        host.failures = 0
    if place and not result.reached:
        host.why = f"{place} could not be reached before in this run ({result.note}), so it was not called again"
    elif place and host.failures >= MOST_FAILURES:
        host.why = f"{place} failed {host.failures} times in a row in this run, so it was not called again"
