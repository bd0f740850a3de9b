"""Memory of hosts' answers to probes and of refused keys, shared by a process; bounded, without keys or arguments."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from domain.tool import ToolDoc, ToolId

LIFETIME = 600.0
"""Seconds during which a host's answer to a probe is remembered."""
RETRY_AFTER = 60.0
"""Seconds after which a host without an answer is probed again."""
MAX_ANSWERS = 2_000
MAX_TOOLS = 2_000
MIN_REFUSED_OWNERS = 3
"""Number of owners with different keys who must be refused before refusals count against a tool."""
_MAX_OWNERS = 16


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """Answer of a host, with the request that it answers."""

    status: int
    body: str
    method: str
    target: str
    """Path and query as sent."""
    words: tuple[str, ...] = ()
    """Segments of the path that only this request has: its values, or random words of a probe."""
    allow: str = ""
    """Header ``Allow``."""


@dataclass(slots=True)
class _AnswerEntry:
    """Remembered answer; the holder of the lock may be fetching it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: HostAnswer | None = None
    until: float = float("-inf")


class HostMemory:
    """Answers of hosts to probes, tools that have answered, and owners whose keys a tool refused (403).

    One object serves all executors of a process.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._answers: OrderedDict[tuple[str, ...], _AnswerEntry] = OrderedDict()
        self._refused: OrderedDict[ToolId, dict[str, str]] = OrderedDict()
        self._answered: OrderedDict[tuple[str, ...], None] = OrderedDict()

    def copy_without_history(self) -> "HostMemory":
        """Return a memory that shares the hosts' answers but has no observations of tools.

        The gate uses it, since it trusts only its own observations of tools.
        """
        other = HostMemory(self._now)
        other._answers = self._answers
        return other

    async def recall(
        self, key: tuple[str, ...], fetch: Callable[[], Awaitable[HostAnswer | None]]
    ) -> HostAnswer | None:
        """Return the answer remembered under this key, or fetch it; concurrent callers share one fetch."""
        entry = self._answers.setdefault(key, _AnswerEntry())
        self._answers.move_to_end(key)
        while len(self._answers) > MAX_ANSWERS:
            self._answers.popitem(last=False)
        async with entry.lock:
            if entry.until <= self._now():
                entry.answer = await fetch()
                entry.until = self._now() + (LIFETIME if entry.answer else RETRY_AFTER)
            return entry.answer

    def record_answer(self, tool: ToolDoc) -> None:
        """Record that a tool, with its present method and URL, has answered; earlier refusals of keys are forgotten."""
        self._refused.pop(tool.id, None)
        self._answered[tool.id, tool.method, tool.url] = None
        self._answered.move_to_end((tool.id, tool.method, tool.url))
        while len(self._answered) > MAX_TOOLS:
            self._answered.popitem(last=False)

    def has_answered(self, tool: ToolDoc) -> bool:
        """Return whether the tool has answered in this process with the same method and URL."""
        return (tool.id, tool.method, tool.url) in self._answered

    def record_refusal(self, tool: ToolId, owner: str, key: str) -> bool:
        """Record a refused key by its digest and return whether refusals now count against the tool.

        They do once :data:`MIN_REFUSED_OWNERS` owners were refused, each with another key. Only the last key of an
        owner counts: several keys of one owner, or one key shared by several accounts, say nothing about the tool.
        """
        if not owner or not key:
            return False
        owners = self._refused.setdefault(tool, {})
        self._refused.move_to_end(tool)
        while len(self._refused) > MAX_TOOLS:
            self._refused.popitem(last=False)
        if owner in owners or len(owners) < _MAX_OWNERS:
            owners[owner] = key
        return owner in owners and len(set(owners.values())) >= MIN_REFUSED_OWNERS
