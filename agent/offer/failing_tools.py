"""Failing tools: now and then a safe one is tried again (exploration), and others stand in for them.

If no link of the graph names a stand-in, the likeliest tool of the same shape is taken. A tool that does the same takes
the same values: as many, of the same types. Words do not reveal it, or the retriever would have found both alike, and
one of the two fails. So the tool of that shape that fits the request best is as good a choice as the other was.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from agent.execution.call_cache import CachingExecutor
from agent.failure_message import is_access_failure
from agent.offer.candidates import ToolCandidate
from agent.offer.tool_evidence import ToolEvidence
from agent.subtask_progress import SubtaskProgress
from agent.text import clean_text
from domain.event import PathEnded
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId, split_tool_id
from graph.exploration import is_explored
from graph.weights import UNTESTED_AVAILABILITY

RIVAL_SHARE = 0.75
"""Share of a tool's relevance from which another one could take its place."""


def is_working(availability: float | None) -> bool:
    """Return whether a tool is more likely to answer than not; untested tools may be."""
    return availability is None or availability >= UNTESTED_AVAILABILITY


def select_returning_tool(
    offered: Sequence[ToolId],
    is_failing: Callable[[ToolId], bool],
    is_safe: Callable[[ToolId], bool],
    seed: str,
) -> ToolId | None:
    """Return the candidate to try although it failed recently, if any, drawn from the run's seed and the tool's id.

    Tools whose availability is poor only in imported data are not drawn: nobody here has avoided them yet.
    """
    return next((tool for tool in offered if is_failing(tool) and is_safe(tool) and is_explored(seed, tool)), None)


def has_rival(candidates: Sequence[ToolCandidate], tool: ToolId) -> bool:
    """Return whether a tool that is tried again, or that stands in for a failing one, could take this tool's place."""
    best = max(
        (max(candidate.relevance, default=0.0) for candidate in candidates if candidate.tool.id == tool), default=0.0
    )
    return any(
        (candidate.returning or candidate.standing_in)
        and candidate.tool.id != tool
        and max(candidate.relevance, default=0.0) >= RIVAL_SHARE * best
        for candidate in candidates
    )


LIFTED_SHARE = 0.95
"""Share of the failing tool's relevance that its stand-in gets at least."""

_MIN_OWN_SHARE = 0.5
"""Share of the failing tool's relevance that a tool must have by itself to stand in for it."""


def has_same_shape(first: ToolDoc, second: ToolDoc) -> bool:
    """Return whether two safe tools of one category require values, and of the same types."""
    alike = split_tool_id(first.id)[0] == split_tool_id(second.id)[0] and first.safe and second.safe
    return alike and bool(first.required) and _list_types(first) == _list_types(second)


def _list_types(tool: ToolDoc) -> list[tuple[str, str]]:
    """Return the types and formats of the required parameters, sorted."""
    return sorted((parameter.type, parameter.format or "") for parameter in tool.required)


def mark_stand_ins(
    candidates: Iterable[ToolCandidate], failed: Iterable[ToolId], evidence: ToolEvidence
) -> tuple[ToolCandidate, ...]:
    """Return the candidates, with the stand-ins for the ``failed`` tools marked.

    A stand-in becomes about as relevant as the tool that it replaces.
    """
    all_candidates = tuple(candidates)
    stand_in_relevance: dict[ToolId, tuple[float, ...]] = {}
    for tool in failed:
        chosen = _select_stand_in(tool, all_candidates, evidence)
        if chosen is not None:
            stand_in_relevance[chosen] = evidence.relevance(tool)
    return tuple(_lift_candidate(candidate, stand_in_relevance) for candidate in all_candidates)


def _select_stand_in(failed: ToolId, candidates: tuple[ToolCandidate, ...], evidence: ToolEvidence) -> ToolId | None:
    """Return the working tool of the same shape that fits best, if one is at least half as relevant."""
    doc = evidence.doc(failed)
    able = [
        candidate
        for candidate in candidates
        if candidate.tool.id != failed and not candidate.missing and not evidence.is_failing(candidate.tool.id)
    ]
    least = _MIN_OWN_SHARE * max(evidence.relevance(failed), default=0.0)
    likely = [
        candidate
        for candidate in able
        if has_same_shape(doc, candidate.tool) and max(candidate.relevance, default=0.0) >= least
    ]
    best = max(likely, key=lambda c: (max(c.relevance, default=0.0), c.weight), default=None)
    return best.tool.id if best is not None else None


def _lift_candidate(candidate: ToolCandidate, stand_in_relevance: Mapping[ToolId, tuple[float, ...]]) -> ToolCandidate:
    """Return a candidate marked and made more relevant if it stands in for a failing tool."""
    if candidate.tool.id not in stand_in_relevance:
        return candidate
    pairs = zip(candidate.relevance, stand_in_relevance[candidate.tool.id], strict=True)
    return replace(candidate, relevance=tuple(max(own, LIFTED_SHARE * other) for own, other in pairs), standing_in=True)


MAX_SUBSTITUTES = 3
"""Substitutes of one tool."""
MAX_SOURCES = 20
"""Tools that may give what a failed one gave; most of them need inputs that are missing."""


async def find_stand_ins(evidence: ToolEvidence, tool: ToolId | None) -> list[ToolId]:
    """Return the best substitutes of a tool."""
    neighbourhood = await evidence.find_neighbourhood(tool) if tool is not None else None
    return [link.other for link in neighbourhood.substitutes[:MAX_SUBSTITUTES]] if neighbourhood else []


async def find_sources(evidence: ToolEvidence, tool: ToolId, parameters: Collection[str]) -> list[ToolId]:
    """Return the tools that can fill one of these parameters of a tool, best first."""
    neighbourhood = await evidence.find_neighbourhood(tool)
    feeds = neighbourhood.feeds if neighbourhood else ()
    return list(dict.fromkeys(feed.source for feed in feeds if feed.parameter in parameters))[:MAX_SOURCES]


_NEAR_SHARE = 0.6
"""Share of a tool's relevance to a clause from which another one may stand in for it."""


def ban_tools_of_failed_hosts(progress: SubtaskProgress, evidence: ToolEvidence, executor: CachingExecutor) -> None:
    """Ban the tools of hosts that are not called again for the rest of the search."""
    unreachable = {doc.id for doc in evidence.all_docs if executor.is_host_skipped(doc.url)} - set(
        progress.state.banned
    )
    if unreachable:
        progress.state = progress.state.model_copy(update={"banned": (*progress.state.banned, *sorted(unreachable))})


def end_without_alternative(failed: StepResult, progress: SubtaskProgress, evidence: ToolEvidence) -> PathEnded | None:
    """Return the end of a run whose step could not be called and has no near alternative.

    None while some tool comes near what the step and its followers were for, for any part of the request. Otherwise the
    search must not go on to distant tools: the words of a request are its owner's, and are not sent to services that
    merely happen to be in the store.
    """
    if not is_access_failure(failed):
        return None
    remaining = [doc for doc in evidence.all_docs if doc.id not in progress.state.banned and doc.id != failed.tool]
    relevances = [evidence.relevance(doc.id) for doc in remaining]
    path, step = progress.abandoned_paths[-1]
    lost_relevances = [evidence.relevance(tool) for tool in path[step - 1 :]]
    for index, values in enumerate(zip(*lost_relevances, strict=True)):
        if any(other[index] >= _NEAR_SHARE * max(values) for other in relevances):
            return None
    reason = f"no other tool comes near what {clean_text(evidence.doc(path[-1]).api, 80)} is for"
    return PathEnded(path=progress.state.path, how="gave_up", reason=reason)
