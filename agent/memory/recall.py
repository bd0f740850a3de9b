"""What long-term memory knows of requests like one; a run goes on where it cannot be asked, and says so.

Memory is asked once in a run. One that is broken off and goes on recalls what its record says that it recalled, or that it went on
without: its decisions rest on that, and memory has since learnt, is slow today, or was slow then.
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
"""A memory that takes longer than this is done without."""
_UNTOLD = datetime.fromtimestamp(0, UTC)
"""When a memory was made is not in the record; nothing is decided by it."""
_log = logging.getLogger(__name__)


async def recall(request: str, deps: RunDeps, evidence: ToolEvidence, memo: SubtaskMemo) -> MemoryRecalled | None:
    """What is recalled, which is left with the evidence; None where the run has no memory. ``memo``: that of its subtask."""
    told = await memo.decide(decisions.read_recalled_memories, partial(_asked, request, deps, evidence))
    evidence.recalled = tuple(_recalled(one) for one in told.memories) if told is not None else ()
    return told


async def _asked(request: str, deps: RunDeps, evidence: ToolEvidence) -> MemoryRecalled | None:
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
    """A memory as the record has it: all that decisions rest on."""
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
    _log.warning("a run goes on without long-term memory: %s", error or reason)  # where a store is, is not for users
    return MemoryRecalled(memories=(), note=clean(f"long-term memory is done without: {reason}", 400))
