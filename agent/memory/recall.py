"""Recall of similar requests from long-term memory for one run, which continues without it if memory fails.

The result is recorded in the run's events. A resumed run takes it from there instead of asking again: its earlier
decisions rest on it, and memory may have changed or be available again since.
"""

import asyncio
import logging
from datetime import UTC, datetime
from functools import partial

from agent import resume_decisions as decisions
from agent.memory.similarity import pattern
from agent.offer.tool_evidence import ToolEvidence
from agent.resume import SubtaskMemo
from agent.run_context import RunDeps
from agent.text import clean
from domain.errors import FootpathError
from domain.learning_events import MemoryRecalled, RecalledPath
from domain.memory import Memory, RecalledMemory

SECONDS = 5.0
"""Seconds after which the run continues without memory."""
_UNTOLD = datetime.fromtimestamp(0, UTC)
"""Placeholder for the time of a memory, which is not recorded because no decision depends on it."""
_log = logging.getLogger(__name__)


async def recall(request: str, deps: RunDeps, evidence: ToolEvidence, memo: SubtaskMemo) -> MemoryRecalled | None:
    """Recall memories of similar requests and set ``evidence.recalled``; None if the run has no memory.

    ``memo``: recorded decisions of the subtask; a recorded recall is used instead of asking memory.
    """
    told = await memo.decide(decisions.read_recalled_memories, partial(_asked, request, deps, evidence))
    evidence.recalled = tuple(_recalled(one) for one in told.memories) if told is not None else ()
    return told


async def _asked(request: str, deps: RunDeps, evidence: ToolEvidence) -> MemoryRecalled | None:
    """Ask long-term memory; a failure becomes an event with a note."""
    if deps.knowledge.memory is None:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            recalled = await deps.knowledge.memory.recall(request, deps.planning.recalled, evidence.find_documented)
    except TimeoutError:
        return _without(f"it did not answer within {SECONDS:g} seconds")
    except FootpathError as error:
        return _without(f"{error.code}: {error.public_message}", error)
    return MemoryRecalled(memories=tuple(_told(one) for one in recalled))


def _told(one: RecalledMemory) -> RecalledPath:
    known = one.memory
    return RecalledPath(
        id=known.id,
        request=known.request,
        path=known.path,
        similarity=one.similarity,
        good=known.good,
        bad=known.bad,
    )


def _recalled(told: RecalledPath) -> RecalledMemory:
    """Restore a memory from a run's record, as far as decisions depend on it."""
    memory = Memory(
        id=told.id,
        request=told.request,
        pattern=pattern(told.request),
        path=told.path,
        at=_UNTOLD,
        good=told.good,
        bad=told.bad,
    )
    return RecalledMemory(memory=memory, similarity=told.similarity)


def _without(reason: str, error: FootpathError | None = None) -> MemoryRecalled:
    # Only the log gets the whole error: it may name the store's address, which users must not see.
    _log.warning("a run goes on without long-term memory: %s", error or reason)
    return MemoryRecalled(memories=(), note=clean(f"long-term memory is done without: {reason}", 400))
