"""A whole path by rules: the walk over the candidates at hand, in the head."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agent.offer.candidates import Candidate
from agent.policy.protocol import Choice, PathQuestion, Situation, WholePath
from domain.tool import ToolDoc
from offline.slots.binding import fillable


async def walked(question: PathQuestion, choose: Callable[[Situation], Awaitable[Choice]]) -> WholePath:
    """The steps that ``choose`` takes, each judged by what those before it give; there is no way back."""
    taken: list[int] = []
    reason = "no tool at hand serves the request"
    while True:
        left = [at for at in range(len(question.candidates)) if at not in taken and len(taken) < question.longest]
        situation = _situation(question, taken, left)
        choice = await choose(situation)
        if choice.action != "advance" or choice.index is None:
            reason = choice.reason if choice.action == "finish" or not taken else reason
            return WholePath(tuple(taken), reason)
        taken.append(left[choice.index])
        reason = choice.reason


def _situation(question: PathQuestion, taken: Sequence[int], left: Sequence[int]) -> Situation:
    new = [question.candidates[at] for at in taken]
    path = (*question.path, *(candidate.tool for candidate in new))
    return Situation(
        request=question.request,
        clauses=question.clauses,
        path=path,
        path_relevance=(*question.path_relevance, *(candidate.relevance for candidate in new)),
        best_relevance=question.best_relevance,
        candidates=tuple(_behind(question.candidates[at], question.request, path) for at in left),
        finish_weight=0.0,
        memory=question.memory,
    )


def _behind(candidate: Candidate, request: str, path: tuple[ToolDoc, ...]) -> Candidate:
    """A candidate as it stands behind a path."""
    fill = fillable(candidate.tool, request, path)
    return replace(candidate, missing=fill.missing, feeds=fill.feeds)
