"""Lessons of a run for long-term memory: how the memories that it followed fared, and which requests it solved."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.learning.step_scores import FAILED
from agent.offer.exploration import RIVAL_SHARE
from agent.transcript import RunTranscript
from domain.event import CandidatesConsidered, EventRecord, StepChosen
from domain.learning_events import MemoryRecalled
from domain.tool import ToolId, split_tool_id
from domain.trajectory import SolvedRequest

_CIRCUMSTANCE = frozenset({"absent", "undecided", "refused", "unreached"})
"""Outcomes of steps that failed in this run without a fault of the tool."""


def followed(records: Iterable[EventRecord], transcript: RunTranscript) -> Iterator[tuple[str, bool]]:
    """Yield the ids of the memories that a run followed, each with whether its path served.

    A path has failed if one of its tools failed or its subtask got no answer. It has served if the subtask was answered
    by exactly its steps. Nothing is yielded for a memory if the run says nothing about it:

    - The subtask left the path, had no failure on it, and was answered.
    - The path fits far worse than tools that were passed over, so it may have answered another question.
    - A step had an outcome in ``_CIRCUMSTANCE``: a wrong key, a missing thing, or a fault of this machine's network.
    """
    paths: dict[str, tuple[ToolId, ...]] = {}
    taken: dict[tuple[int, str], None] = {}
    for record in records:
        match record.event:
            case MemoryRecalled() as event:
                paths |= {one.id: one.path for one in event.memories}
            case StepChosen(memory=memory) if memory:
                taken[record.subtask, memory] = None
            case _:
                continue
    for subtask, memory in taken:
        path, served = paths.get(memory, ()), transcript.subtasks[subtask]
        results = (*served.steps.values(), *served.failed)
        broken = {result.tool for result in results if result.outcome in FAILED}
        if not {result.tool for result in results if result.outcome in _CIRCUMSTANCE}.isdisjoint(path):
            continue
        if not broken.isdisjoint(path) or not transcript.is_served(served):
            yield memory, False
        elif tuple(dict.fromkeys(served.path)) == path and _fits(path, _relevance(records, subtask)):
            yield memory, True


def solved(records: Iterable[EventRecord], transcript: RunTranscript) -> Iterator[SolvedRequest]:
    """Yield the subtasks of a run that are worth remembering, each with the path that answered it, every tool once.

    A run without subtasks yields its request. Subtasks that build on others are left out, as nobody would ask them
    alone. So are those in which a tool failed and no similar one took its place, or in which a tool that was passed
    over fits far better: their answer is often to another question, and would be repeated for every similar request.
    """
    for one in transcript.ordered_subtasks:
        relevance = _relevance(records, one.number)
        results = [one.steps[step] for step in sorted(one.steps) if one.steps[step].status == "ok"]
        served = {result.tool for result in results}
        path = tuple(tool for tool in dict.fromkeys(one.path) if tool in served)
        tried = (*one.failed, *one.steps.values())
        lost = {result.tool for result in tried if result.outcome in FAILED | _CIRCUMSTANCE}.difference(path)
        stands_alone = path and not one.prior_count and transcript.is_served(one) and _fits(path, relevance)
        if stands_alone and one.answered and all(_replaced(tool, path, relevance) for tool in lost):
            bindings = {result.tool: result.provenance for result in reversed(results)}
            request = one.description or transcript.request
            yield SolvedRequest(request, path, bindings=tuple(bindings[tool] for tool in path))


def _replaced(lost: ToolId, path: Sequence[ToolId], relevance: Mapping[ToolId, float]) -> bool:
    """Check if a path has a tool of the lost tool's category that fits the request about as well.

    A lost tool of unknown relevance counts as a perfect fit.
    """
    category = split_tool_id(lost)[0]
    enough = RIVAL_SHARE * relevance.get(lost, 1.0)
    return any(split_tool_id(tool)[0] == category and relevance.get(tool, 0.0) >= enough for tool in path)


def _fits(path: Sequence[ToolId], relevance: Mapping[ToolId, float]) -> bool:
    """Check if the best tool of a path fits about as well as the best candidate."""
    best = max(relevance.values(), default=0.0)
    return max((relevance.get(tool, 0.0) for tool in path), default=0.0) >= RIVAL_SHARE * best


def _relevance(records: Iterable[EventRecord], subtask: int) -> dict[ToolId, float]:
    """Return the relevance of each candidate of a subtask, from its latest event."""
    found: dict[ToolId, float] = {}
    for record in records:
        if isinstance(record.event, CandidatesConsidered) and record.subtask == subtask:
            found |= {one.tool: one.relevance for one in record.event.candidates}
    return found
