"""Lessons of a run for long-term memory: how the memories that it followed fared, and which requests it solved."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.learning.run_lesson import TOOL_FAILURES
from agent.offer.failing_tools import RIVAL_SHARE
from agent.transcript import RunTranscript
from domain.event import CandidatesConsidered, EventRecord, MemoryRecalled, StepChosen
from domain.tool import ToolId, split_tool_id
from domain.trajectory import SolvedRequest

_BLAMELESS_OUTCOMES = frozenset({"absent", "undecided", "refused", "unreached"})
"""Outcomes of steps that failed in this run without a fault of the tool."""


def rate_followed_memories(records: Iterable[EventRecord], transcript: RunTranscript) -> Iterator[tuple[str, bool]]:
    """Yield the ids of the memories that a run followed, each with whether its path served.

    A path has failed if one of its tools failed or its subtask got no answer. It has served if the subtask was answered
    by exactly its steps. Nothing is yielded for a memory if the run says nothing about it:

    - The subtask left the path, had no failure on it, and was answered.
    - The path fits far worse than tools that were passed over, so it may have answered another question.
    - A step had an outcome in ``_BLAMELESS_OUTCOMES``: a wrong key, a missing thing, or a fault of this machine's network.
    """
    paths: dict[str, tuple[ToolId, ...]] = {}
    followed_memories: dict[tuple[int, str], None] = {}
    for record in records:
        match record.event:
            case MemoryRecalled() as event:
                paths |= {recalled_path.id: recalled_path.path for recalled_path in event.memories}
            case StepChosen(memory=memory) if memory:
                followed_memories[record.subtask, memory] = None
            case _:
                continue
    for subtask, memory in followed_memories:
        path, subtask_trace = paths.get(memory, ()), transcript.subtasks[subtask]
        results = (*subtask_trace.steps.values(), *subtask_trace.failed_steps)
        failed_tools = {result.tool for result in results if result.outcome in TOOL_FAILURES}
        if not {result.tool for result in results if result.outcome in _BLAMELESS_OUTCOMES}.isdisjoint(path):
            continue
        if not failed_tools.isdisjoint(path) or not transcript.is_served(subtask_trace):
            yield memory, False
        elif tuple(dict.fromkeys(subtask_trace.path)) == path and _fits_request(
            path, _collect_relevance(records, subtask)
        ):
            yield memory, True


def extract_solved_requests(records: Iterable[EventRecord], transcript: RunTranscript) -> Iterator[SolvedRequest]:
    """Yield the subtasks of a run that are worth remembering, each with the path that answered it, every tool once.

    A run without subtasks yields its request. Subtasks that build on others are left out, as nobody would ask them
    alone. So are those in which a tool failed and no similar one took its place, or in which a tool that was passed
    over fits far better: their answer is often to another question, and would be repeated for every similar request.
    """
    for subtask in transcript.ordered_subtasks:
        relevance = _collect_relevance(records, subtask.number)
        results = [subtask.steps[step] for step in sorted(subtask.steps) if subtask.steps[step].status == "ok"]
        served_tools = {result.tool for result in results}
        path = tuple(tool for tool in dict.fromkeys(subtask.path) if tool in served_tools)
        attempts = (*subtask.failed_steps, *subtask.steps.values())
        lost_tools = {
            result.tool for result in attempts if result.outcome in TOOL_FAILURES | _BLAMELESS_OUTCOMES
        }.difference(path)
        stands_alone = (
            path and not subtask.prior_count and transcript.is_served(subtask) and _fits_request(path, relevance)
        )
        if stands_alone and subtask.is_answered and all(_is_replaced(tool, path, relevance) for tool in lost_tools):
            bindings = {result.tool: result.provenance for result in reversed(results)}
            request = subtask.description or transcript.request
            yield SolvedRequest(request, path, bindings=tuple(bindings[tool] for tool in path))


def _is_replaced(lost_tool: ToolId, path: Sequence[ToolId], relevance: Mapping[ToolId, float]) -> bool:
    """Check if a path has a tool of the lost tool's category that fits the request about as well.

    A lost tool of unknown relevance counts as a perfect fit.
    """
    category = split_tool_id(lost_tool)[0]
    threshold = RIVAL_SHARE * relevance.get(lost_tool, 1.0)
    return any(split_tool_id(tool)[0] == category and relevance.get(tool, 0.0) >= threshold for tool in path)


def _fits_request(path: Sequence[ToolId], relevance: Mapping[ToolId, float]) -> bool:
    """Check if the best tool of a path fits about as well as the best candidate."""
    best = max(relevance.values(), default=0.0)
    return max((relevance.get(tool, 0.0) for tool in path), default=0.0) >= RIVAL_SHARE * best


def _collect_relevance(records: Iterable[EventRecord], subtask: int) -> dict[ToolId, float]:
    """Return the relevance of each candidate of a subtask, from its latest event."""
    relevance: dict[ToolId, float] = {}
    for record in records:
        if isinstance(record.event, CandidatesConsidered) and record.subtask == subtask:
            relevance |= {candidate.tool: candidate.relevance for candidate in record.event.candidates}
    return relevance
