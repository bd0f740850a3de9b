"""Memory of hosts' answers to probes and of refused keys, shared by a process; bounded, without keys or arguments."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from domain.tool import ToolDoc, ToolId

ANSWER_LIFETIME = 600.0
"""Seconds during which a host's answer to a probe is remembered."""
PROBE_RETRY_DELAY = 60.0
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
    request_words: tuple[str, ...] = ()
    """Segments of the path that only this request has: its values, or random words of a probe."""
    allow_header: str = ""
    """Header ``Allow``."""


@dataclass(slots=True)
class _AnswerEntry:
    """Remembered answer; the holder of the lock may be fetching it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: HostAnswer | None = None
    expires_at: float = float("-inf")


class HostMemory:
    """Answers of hosts to probes, tools that have answered, and owners whose keys a tool refused (403).

    One object serves all executors of a process.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._answers: OrderedDict[tuple[str, ...], _AnswerEntry] = OrderedDict()
        self._refused_keys: OrderedDict[ToolId, dict[str, str]] = OrderedDict()
        self._answered_tools: OrderedDict[tuple[str, ...], None] = OrderedDict()

    def copy_without_history(self) -> "HostMemory":
        """Return a memory that shares the hosts' answers but has no observations of tools.

        The gate uses it, since it trusts only its own observations of tools.
        """
        copy = HostMemory(self._now)
        copy._answers = self._answers
        return copy

    async def get_or_fetch_answer(
        self, key: tuple[str, ...], fetch: Callable[[], Awaitable[HostAnswer | None]]
    ) -> HostAnswer | None:
        """Return the answer remembered under this key, or fetch it; concurrent callers share one fetch."""
        entry = self._answers.setdefault(key, _AnswerEntry())
        self._answers.move_to_end(key)
        while len(self._answers) > MAX_ANSWERS:
            self._answers.popitem(last=False)
        async with entry.lock:
            if entry.expires_at <= self._now():
                entry.answer = await fetch()
                entry.expires_at = self._now() + (ANSWER_LIFETIME if entry.answer else PROBE_RETRY_DELAY)
            return entry.answer

    def record_answer(self, tool: ToolDoc) -> None:
        """Record that a tool, with its present method and URL, has answered; earlier refusals of keys are forgotten."""
        self._refused_keys.pop(tool.id, None)
        self._answered_tools[tool.id, tool.method, tool.url] = None
        self._answered_tools.move_to_end((tool.id, tool.method, tool.url))
        while len(self._answered_tools) > MAX_TOOLS:
            self._answered_tools.popitem(last=False)

    def has_answered(self, tool: ToolDoc) -> bool:
        """Return whether the tool has answered in this process with the same method and URL."""
        return (tool.id, tool.method, tool.url) in self._answered_tools

    def record_refusal(self, tool: ToolId, owner: str, key_digest: str) -> bool:
        """Record a refused key by its digest and return whether refusals now count against the tool.

        They do once :data:`MIN_REFUSED_OWNERS` owners were refused, each with another key. Only the last key of an
        owner counts: several keys of one owner, or one key shared by several accounts, say nothing about the tool.
        """
        if not owner or not key_digest:
            return False
        owners = self._refused_keys.setdefault(tool, {})
        self._refused_keys.move_to_end(tool)
        while len(self._refused_keys) > MAX_TOOLS:
            self._refused_keys.popitem(last=False)
        if owner in owners or len(owners) < _MAX_OWNERS:
            owners[owner] = key_digest
        return owner in owners and len(set(owners.values())) >= MIN_REFUSED_OWNERS
