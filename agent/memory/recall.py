"""Recall of similar requests from long-term memory for one run, which continues without it if memory fails.

The result is recorded in the run's events. A resumed run takes it from there instead of asking again: its earlier
decisions rest on it, and memory may have changed or be available again since.
"""

import asyncio
import logging
from datetime import UTC, datetime
from functools import partial

from agent import resume_decisions as decisions
from agent.memory.request_patterns import build_pattern
from agent.offer.tool_evidence import ToolEvidence
from agent.resume import SubtaskMemo
from agent.run_context import RunDeps
from agent.text import clean_text
from domain.errors import FootpathError
from domain.event import MemoryRecalled, RecalledPath
from domain.memory import Memory, RecalledMemory

RECALL_TIMEOUT_SECONDS = 5.0
"""Seconds after which the run continues without memory."""
_UNKNOWN_TIME = datetime.fromtimestamp(0, UTC)
"""Placeholder for the time of a memory, which is not recorded because no decision depends on it."""
_log = logging.getLogger(__name__)


async def recall_memories(
    request: str, deps: RunDeps, evidence: ToolEvidence, memo: SubtaskMemo
) -> MemoryRecalled | None:
    """Recall memories of similar requests and set ``evidence.recalled``; None if the run has no memory.

    ``memo``: recorded decisions of the subtask; a recorded recall is used instead of asking memory.
    """
    recalled = await memo.decide(decisions.read_recalled_memories, partial(_ask_memory, request, deps, evidence))
    evidence.recalled = tuple(_to_recalled_memory(path) for path in recalled.memories) if recalled is not None else ()
    return recalled


async def _ask_memory(request: str, deps: RunDeps, evidence: ToolEvidence) -> MemoryRecalled | None:
    """Ask long-term memory; a failure becomes an event with a note."""
    if deps.knowledge.memory is None:
        return None
    try:
        async with asyncio.timeout(RECALL_TIMEOUT_SECONDS):
            recalled = await deps.knowledge.memory.recall(request, deps.planning.max_recalled, evidence.find_documented)
    except TimeoutError:
        return _build_failure_event(f"it did not answer within {RECALL_TIMEOUT_SECONDS:g} seconds")
    except FootpathError as error:
        return _build_failure_event(f"{error.code}: {error.public_message}", error)
    return MemoryRecalled(memories=tuple(_to_recalled_path(memory) for memory in recalled))


def _to_recalled_path(recalled: RecalledMemory) -> RecalledPath:
    memory = recalled.memory
    return RecalledPath(
        id=memory.id,
        request=memory.request,
        path=memory.path,
        similarity=recalled.similarity,
        good=memory.good,
        bad=memory.bad,
    )


def _to_recalled_memory(recalled_path: RecalledPath) -> RecalledMemory:
    """Restore a memory from a run's record, as far as decisions depend on it."""
    memory = Memory(
        id=recalled_path.id,
        request=recalled_path.request,
        pattern=build_pattern(recalled_path.request),
        path=recalled_path.path,
        at=_UNKNOWN_TIME,
        good=recalled_path.good,
        bad=recalled_path.bad,
    )
    return RecalledMemory(memory=memory, similarity=recalled_path.similarity)


def _build_failure_event(reason: str, error: FootpathError | None = None) -> MemoryRecalled:
    # Only the log gets the whole error: it may name the store's address, which users must not see.
    _log.warning("a run goes on without long-term memory: %s", error or reason)
    return MemoryRecalled(memories=(), note=clean_text(f"long-term memory is done without: {reason}", 400))
