"""What a run means to long-term memory: which memories it followed and how that went, and what of it is worth keeping."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent.returning import ALIKE
from agent.scoring import FAILED
from agent.transcript import Transcript
from domain.event import CandidatesConsidered, EventRecord, MemoryRecalled, StepChosen
from domain.tool import ToolId, tool_id_parts
from domain.trajectory import Solved


def followed(records: Iterable[EventRecord], transcript: Transcript) -> Iterator[tuple[str, bool]]:
    """The memories that a run followed, and whether their paths served.

    Bad: a tool of the path failed, or the run came to no answer. Good: the answer's steps are that path. A run that left the path
    and answered without a failure on it says nothing of it.
    """
    paths: dict[str, tuple[ToolId, ...]] = {}
    taken: dict[str, None] = {}
    for record in records:
        match record.event:
            case MemoryRecalled() as event:
                paths |= {one.id: one.path for one in event.memories}
            case StepChosen(memory=memory) if memory:
                taken[memory] = None
            case _:
                continue
    answered = transcript.end is not None and transcript.end.outcome == "answered"
    broken = {
        result.tool for result in (*transcript.steps.values(), *transcript.failed) if result.outcome in FAILED
    }  # fmt: skip
    for memory in taken:
        path = paths.get(memory, ())
        if not broken.isdisjoint(path) or not answered:
            yield memory, False
        elif tuple(dict.fromkeys(transcript.path)) == path:
            yield memory, True


def solved(records: Iterable[EventRecord], transcript: Transcript) -> Solved | None:
    """The request with the path that served it, each tool once; None for a run that was not answered, step by step, by its plan.

    Nor is a run worth remembering where a tool that failed has found no like in the path: an answer that was reached in spite
    of a failure is often to another question, and remembered it would be given for ever.
    """
    if transcript.end is None or transcript.end.outcome != "answered":
        return None
    results = [transcript.steps[step] for step in sorted(transcript.steps)]
    if len(results) != len(transcript.path) or any(result.status != "ok" for result in results):
        return None
    path = tuple(dict.fromkeys(transcript.path))
    lost = {result.tool for result in transcript.failed if result.outcome in FAILED}.difference(path)
    relevance = _relevance(records)
    if not path or any(not _replaced(tool, path, relevance) for tool in lost):
        return None
    bindings = {result.tool: result.provenance for result in reversed(results)}
    return Solved(transcript.request, path, tuple(bindings[tool] for tool in path))


def _replaced(lost: ToolId, path: Sequence[ToolId], relevance: Mapping[ToolId, float]) -> bool:
    """Whether a path has a tool of the same category that fits the request about as well."""
    category = tool_id_parts(lost)[0]
    enough = ALIKE * relevance.get(lost, 0.0)
    return any(tool_id_parts(tool)[0] == category and relevance.get(tool, 0.0) >= enough for tool in path)


def _relevance(records: Iterable[EventRecord]) -> dict[ToolId, float]:
    """How well each tool that was considered fits the request."""
    found: dict[ToolId, float] = {}
    for record in records:
        if isinstance(record.event, CandidatesConsidered):
            found |= {one.tool: one.relevance for one in record.event.candidates}
    return found
