"""One run's calls: an identical one is answered from the first, and a host that does not answer is left alone."""

import asyncio
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from agent.executor import CallResult, Executor
from agent.notes import REPEATED
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId

MOST_FAILURES = 4
"""Calls in a row to one host that fail for reasons of its own before a run calls it no more."""
_CUT_OFF = "The call was cut off before its answer came, so it is not known whether it took effect."


@dataclass(slots=True)
class _Host:
    failures: int = 0
    why: str = ""


class ReusingExecutor:
    """An executor for one run. Writes are not repeated either: after a change of plan that would do the thing twice.

    Identical calls that are made at the same moment wait for the first. A host that cannot be connected to, or that failed
    ``MOST_FAILURES`` times in a row, is not called again.
    """

    def __init__(self, executor: Executor) -> None:
        self.name = executor.name
        self._executor = executor
        self._made: dict[tuple[ToolId, str], CallResult] = {}
        self._in_turn: defaultdict[tuple[ToolId, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        """The result of the call, made now or earlier in this run; ``attempts`` is 0 for the latter."""
        key = (tool.id, json.dumps(arguments, sort_keys=True))
        async with self._in_turn[key]:
            if key in self._made:
                return _again(self._made[key])
            host = self._hosts[_place(tool.url)]
            if host.why:
                return CallResult("transient", "", attempts=0, note=host.why, reached=False)
            try:
                result = await self._executor.call(tool, arguments)
            except FootpathError:
                raise  # nothing was sent
            except BaseException:
                if not tool.safe:
                    self._made[key] = CallResult("unknown", "", note=_CUT_OFF)
                raise
            self._made[key] = result
            _remember(host, _place(tool.url), result)
            return result

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
    if result.outcome in ("transient", "unknown") and result.attempts:
        host.failures += 1
    elif result.reached:
        host.failures = 0
    if place and not result.reached:
        host.why = f"{place} could not be reached before in this run ({result.note}), so it was not called again"
    elif place and host.failures >= MOST_FAILURES:
        host.why = f"{place} failed {host.failures} times in a row in this run, so it was not called again"
