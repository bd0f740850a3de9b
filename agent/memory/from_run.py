"""What a run means to long-term memory: which memories it followed and how that went, and what of it is worth keeping."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.learning.step_scores import FAILED
from agent.offer.exploration import RIVAL_SHARE
from agent.transcript import RunTranscript
from domain.event import CandidatesConsidered, EventRecord, StepChosen
from domain.learning_events import MemoryRecalled
from domain.tool import ToolId, split_tool_id
from domain.trajectory import SolvedRequest

_CIRCUMSTANCE = frozenset({"absent", "undecided", "refused", "unreached"})
"""Outcomes by which a step came to nothing for this run, though its tool is not to blame."""


def followed(records: Iterable[EventRecord], transcript: RunTranscript) -> Iterator[tuple[str, bool]]:
    """The memories that a run followed, and whether their paths served.

    Bad: a tool of the path failed, or its subtask came to no answer. Good: the steps that answered it are that path. A subtask that
    left the path and was answered without a failure on it says nothing of it; nor does one whose path fits far worse than what was
    passed over, as an answer in place of one that could not be had does; nor one whose path a wrong key, a thing that is not there or
    this machine's network cut short.
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
    """What a run served, with the path that served it, each tool once: its request, or of several subtasks those that stand alone.

    Only what was answered step by step by its plan, or by a program, whose path are the tools that answered it by their first calls. Nor is it worth remembering where a tool that failed has found no like in the
    path, or where something that was passed over fits far better: such an answer is often to another question, and remembered it
    would be given for ever.
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
    """Whether a path has a tool of the same category that fits the request about as well. How well what was lost did is to be known."""
    category = split_tool_id(lost)[0]
    enough = RIVAL_SHARE * relevance.get(lost, 1.0)
    return any(split_tool_id(tool)[0] == category and relevance.get(tool, 0.0) >= enough for tool in path)


def _fits(path: Sequence[ToolId], relevance: Mapping[ToolId, float]) -> bool:
    """Whether the best of a path fits about as well as the best that was considered."""
    best = max(relevance.values(), default=0.0)
    return max((relevance.get(tool, 0.0) for tool in path), default=0.0) >= RIVAL_SHARE * best


def _relevance(records: Iterable[EventRecord], subtask: int) -> dict[ToolId, float]:
    """How well each tool that a subtask considered fits it."""
    found: dict[ToolId, float] = {}
    for record in records:
        if isinstance(record.event, CandidatesConsidered) and record.subtask == subtask:
            found |= {one.tool: one.relevance for one in record.event.candidates}
    return found
