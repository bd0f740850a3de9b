"""Share of requests answered correctly: each is run in full, and its answer compared with what is expected."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

from agent.budget import Budget
from agent.run import RunDeps
from domain.usage import Usage
from evaluation.asking_back import asking_figures
from evaluation.correctness import Verdict
from evaluation.costs import costs
from evaluation.expected import HELD_OUT, Asked, conversations
from evaluation.recovery import recovered
from evaluation.turns import judged, turns_of

RESAMPLES = 10_000
_SEED = 7

Figures = dict[str, Any]


class Services(Protocol):
    """The services behind the requests' APIs."""

    async def reset(self) -> None:
        """Undo every change, and reset the counts of calls."""
        ...

    async def effects(self) -> list[str]:
        """Return the operations that have changed something since the reset, one entry for each change."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdicts of an evaluation."""

    verdicts: tuple[Verdict, ...]
    unasked: tuple[str, ...] = ()
    """Operations by which requests that should only read, running together, changed something."""


async def evaluate_answers(
    asked: Sequence[Asked],
    deps: Callable[[], Awaitable[RunDeps]],
    budget: Budget,
    services: Services,
    *,
    at_once: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Return a verdict for every request, in order.

    Requests that only read run ``at_once`` at a time. Conversations with a request that must run ``alone`` follow one by one. The services
    are reset before the first request and before each of these conversations.

    Args:
        asked: the requests.
        deps: builds the dependencies of one run.
        budget: the limits of each run.
        services: the services behind the APIs.
        at_once: runs in parallel.
        progress: gets the number of requests done.
    """
    verdicts: dict[str, Verdict] = {}
    free = asyncio.Semaphore(at_once)

    async def ask(talk: Sequence[Asked], *, alone: bool) -> None:
        async with free:
            # The ledger spans the conversation: each turn is judged by the changes after those already known.
            known = len(await services.effects()) if alone else 0
            async for turn in turns_of(talk, deps, budget):
                effects = await services.effects() if alone else []
                verdicts[turn.asked.id] = judged(turn, effects[known:] if alone else None)
                known = len(effects)
                if progress:
                    progress(len(verdicts))

    talks = [(talk, any(one.alone for one in talk)) for talk in conversations(asked)]
    await services.reset()
    async with asyncio.TaskGroup() as group:
        for talk, alone in talks:
            if not alone:
                group.create_task(ask(talk, alone=False))
    unasked = tuple(await services.effects())
    for talk, alone in talks:
        if alone:
            await services.reset()
            await ask(talk, alone=True)
    return Evaluation(tuple(verdicts[one.id] for one in asked), unasked)


def report(evaluation: Evaluation, *, show_held_out: bool = False) -> Figures:
    """Return the figures of an evaluation.

    ``overall`` and ``calls`` (by the number of calls that lead to the answer) are over the answerable requests. ``interval``: 95 %, by the
    bootstrap over requests. Failures of held-out requests are counted but only shown on request: whoever tunes must not see them.
    """
    verdicts = evaluation.verdicts
    answerable = [one for one in verdicts if one.asked.answerable]
    wrong = [one for one in verdicts if not one.right]
    shown = [one for one in wrong if show_held_out or one.asked.group != HELD_OUT]
    usages = [one.usage for one in verdicts]
    return {
        "groups": _table((group_of(one), one) for one in verdicts),
        "costs": _costs(verdicts),
        "turns": _turns(verdicts),
        "asking": asking_figures(verdicts, group_of),
        "calls": _table((f"{n}+" if (n := min(3, len(one.asked.calls))) == 3 else str(n), one) for one in answerable),
        "overall": {**share(answerable), "interval": interval([one.right for one in answerable])},
        "recovery": recovered(verdicts),
        "failures": [_failure(one) for one in shown],
        "failures_withheld": len(wrong) - len(shown),
        "unasked_changes": list(evaluation.unasked),
        "fell_back": sum(one.fell_back for one in verdicts),
        "model_calls": sum(usage.model_calls for usage in usages),
        "by_purpose": by_purpose(usages),
        "per_right": per_right(verdicts),
        "tokens": {
            "prompt": sum(usage.prompt_tokens for usage in usages),
            "completion": sum(usage.completion_tokens for usage in usages),
        },
        "seconds_p50": median(usage.total_seconds for usage in usages) if usages else 0.0,
        "answer_characters_p50": median(len(one.answer) for one in verdicts) if verdicts else 0.0,
    }


def group_of(verdict: Verdict) -> str:
    """Return the group that a request is counted in."""
    return verdict.asked.group if verdict.asked.answerable else "unanswerable"


def _costs(verdicts: Sequence[Verdict]) -> Figures:
    groups = dict.fromkeys(map(group_of, verdicts))
    return {
        **{group: costs([one for one in verdicts if group_of(one) == group]) for group in groups},
        "all": {**share(verdicts), **costs(verdicts)},
    }


def _turns(verdicts: Sequence[Verdict]) -> Figures:
    """Return what was right and what it cost by the number of the turn, for groups with dialogues.

    ``whole``: dialogues that were right throughout.
    """
    found: Figures = {}
    for group in dict.fromkeys(group_of(one) for one in verdicts if one.asked.turn):
        ones = [one for one in verdicts if group_of(one) == group]
        numbers = sorted({one.asked.turn for one in ones})
        by_turn = {str(number): [one for one in ones if one.asked.turn == number] for number in numbers}
        talks = [
            all(one.right for one in ones if one.asked.dialogue == name)
            for name in dict.fromkeys(one.asked.dialogue for one in ones)
        ]
        found[group] = {
            "turns": {number: {**share(some), **costs(some)} for number, some in by_turn.items()},
            "whole": {"n": len(talks), "right": sum(talks)},
        }
    return found


def by_purpose(usages: Sequence[Usage]) -> Figures:
    """Return model calls and tokens of all runs, by the decision that they were made for."""
    names = sorted({name for usage in usages for name in usage.by_purpose})
    return {
        name: {
            "calls": sum(usage.by_purpose.get(name, 0) for usage in usages),
            "tokens": sum(usage.tokens_by_purpose.get(name, 0) for usage in usages),
        }
        for name in names
    }


def per_right(verdicts: Sequence[Verdict]) -> Figures | None:
    """Return what all runs used, divided by the number of requests answered correctly; None if there is none."""
    right = sum(one.right for one in verdicts if one.asked.answerable)
    if not right:
        return None
    usages = [one.usage for one in verdicts]
    return {
        "decisions": sum(usage.decisions for usage in usages) / right,
        "model_calls": sum(usage.model_calls for usage in usages) / right,
        "tokens": sum(usage.prompt_tokens + usage.completion_tokens for usage in usages) / right,
        "seconds": sum(usage.total_seconds for usage in usages) / right,
    }


def share(verdicts: Sequence[Verdict]) -> Figures:
    """Return how many verdicts are right; the share is None for no verdicts."""
    right = sum(one.right for one in verdicts)
    return {"n": len(verdicts), "right": right, "share": right / len(verdicts) if verdicts else None}


def interval(right: Sequence[bool], resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """Return the seeded 95 % percentile bootstrap interval of a share; None for no values."""
    if not right:
        return None
    draw = random.Random(_SEED)
    shares = sorted(sum(draw.choices(right, k=len(right))) / len(right) for _ in range(resamples))
    return shares[int(0.025 * resamples)], shares[int(0.975 * resamples)]


def _table(named: Iterable[tuple[str, Verdict]]) -> Figures:
    parts: dict[str, list[Verdict]] = {}
    for name, verdict in named:
        parts.setdefault(name, []).append(verdict)
    return {name: share(part) for name, part in parts.items()}


def _failure(verdict: Verdict) -> Figures:
    return {
        "id": verdict.asked.id,
        "group": verdict.asked.group,
        "request": verdict.asked.request,
        "cause": verdict.cause,
        "detail": verdict.detail,
        "expected": list(verdict.asked.expect.values),
        "gold": [call.operation for call in verdict.asked.calls],
        "path": list(verdict.path),
        "answer": verdict.answer,
    }
