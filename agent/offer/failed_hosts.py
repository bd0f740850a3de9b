"""Bans and early ends after a host, a key or an address has failed.

The words of a request are its owner's. If the service that they were meant for cannot be called, they are not sent to
others that merely happen to be in the store.
"""

from agent.execution.call_cache import CachingExecutor
from agent.failure_message import is_trouble
from agent.offer.tool_evidence import ToolEvidence
from agent.subtask_progress import SubtaskProgress
from agent.text import clean
from domain.event import PathEnded
from domain.plan import StepResult

_NEAR_SHARE = 0.6
"""Share of a tool's relevance to a clause from which another one may stand in for it."""


def ban_failed_hosts(progress: SubtaskProgress, evidence: ToolEvidence, executor: CachingExecutor) -> None:
    """Ban the tools of hosts that are not called again for the rest of the search."""
    unreachable = {doc.id for doc in evidence.all if executor.is_host_skipped(doc.url)} - set(progress.state.banned)
    if unreachable:
        progress.state = progress.state.model_copy(update={"banned": (*progress.state.banned, *sorted(unreachable))})


def end_without_alternative(failed: StepResult, progress: SubtaskProgress, evidence: ToolEvidence) -> PathEnded | None:
    """Return the end of a run whose step could not be called and has no near alternative.

    None while some tool comes near what the step and its followers were for, for any part of the request. Otherwise the
    search must not go on to distant tools: the words of a request are its owner's, and are not sent to services that
    merely happen to be in the store.
    """
    if not is_trouble(failed):
        return None
    remaining = [doc for doc in evidence.all if doc.id not in progress.state.banned and doc.id != failed.tool]
    relevances = [evidence.relevance(doc.id) for doc in remaining]
    path, step = progress.abandoned_paths[-1]
    lost_relevances = [evidence.relevance(tool) for tool in path[step - 1 :]]
    for at, values in enumerate(zip(*lost_relevances, strict=True)):
        if any(other[at] >= _NEAR_SHARE * max(values) for other in relevances):
            return None
    reason = f"no other tool comes near what {clean(evidence.doc(path[-1]).api, 80)} is for"
    return PathEnded(path=progress.state.path, how="gave_up", reason=reason)
