"""What long-term memory knows of requests like one; a run goes on where it cannot be asked, and says so."""

import asyncio
import logging

from agent.evidence import Evidence
from agent.run_deps import RunDeps
from agent.tool_text import clean
from domain.errors import FootpathError
from domain.event import MemoryRecalled, RecalledPath

SECONDS = 5.0
"""A memory that takes longer than this is done without."""
_log = logging.getLogger(__name__)


async def recall(request: str, deps: RunDeps, evidence: Evidence) -> MemoryRecalled | None:
    """What is recalled, which is left with the evidence; None where the run has no memory."""
    if deps.memory is None:
        return None
    try:
        async with asyncio.timeout(SECONDS):
            recalled = await deps.memory.recall(request, deps.recalled, evidence.present)
    except TimeoutError:
        return _without(f"it did not answer within {SECONDS:g} seconds")
    except FootpathError as error:
        return _without(f"{error.code}: {error}")
    evidence.recalled = tuple(recalled)
    paths = [
        RecalledPath(id=r.memory.id, request=r.memory.request, path=r.memory.path, similarity=r.similarity)
        for r in recalled
    ]
    return MemoryRecalled(memories=tuple(paths))


def _without(reason: str) -> MemoryRecalled:
    _log.warning("a run goes on without long-term memory: %s", reason)
    return MemoryRecalled(memories=(), note=clean(f"long-term memory is done without: {reason}", 400))
