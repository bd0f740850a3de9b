"""How many requests are answered rightly: each is run from start to end, and its answer held against what is expected."""

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
    """What the requests are about, behind their APIs."""

    async def reset(self) -> None:
        """Undo every change, and count all calls anew."""
        ...

    async def effects(self) -> list[str]:
        """The operations that have changed something since the reset, one entry for each change."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``unasked``: the operations by which requests that only read, running together, have changed something."""

    verdicts: tuple[Verdict, ...]
    unasked: tuple[str, ...] = ()


async def evaluate_answers(
    asked: Sequence[Asked],
    deps: Callable[[], Awaitable[RunDeps]],
    budget: Budget,
    services: Services,
    *,
    at_once: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """A verdict for every request, in order.

    ``deps`` makes what one run works with. Those that only read run ``at_once`` at a time; those that are to run ``alone`` follow one
    by one, the turns of a conversation with one of them together. The services are reset before the first of them all and before each that runs
    alone. ``progress`` gets the number of requests done.
    """
    verdicts: dict[str, Verdict] = {}
    free = asyncio.Semaphore(at_once)

    async def ask(talk: Sequence[Asked], *, alone: bool) -> None:
        async with free:
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
    """The figures. ``overall`` and ``calls`` (by the number of calls that lead to the answer) are over the answerable requests.

    ``interval``: 95 %, by the bootstrap over requests. Failures of held-out requests are counted and, unless asked for, not
    shown: whoever tunes must not see them.
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
    """What a request is counted with."""
    return verdict.asked.group if verdict.asked.answerable else "unanswerable"


def _costs(verdicts: Sequence[Verdict]) -> Figures:
    groups = dict.fromkeys(map(group_of, verdicts))
    return {
        **{group: costs([one for one in verdicts if group_of(one) == group]) for group in groups},
        "all": {**share(verdicts), **costs(verdicts)},
    }


def _turns(verdicts: Sequence[Verdict]) -> Figures:
    """Of the groups with dialogues: what was right, and what it cost, by the number of the turn; ``whole``: dialogues that were right throughout."""
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
    """Model calls and tokens of all runs, by the decision they were made for."""
    names = sorted({name for usage in usages for name in usage.by_purpose})
    return {
        name: {
            "calls": sum(usage.by_purpose.get(name, 0) for usage in usages),
            "tokens": sum(usage.tokens_by_purpose.get(name, 0) for usage in usages),
        }
        for name in names
    }


def per_right(verdicts: Sequence[Verdict]) -> Figures | None:
    """What all runs used, divided by the requests answered rightly; None where none was."""
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
    """How many are right; the share is None of nothing."""
    right = sum(one.right for one in verdicts)
    return {"n": len(verdicts), "right": right, "share": right / len(verdicts) if verdicts else None}


def interval(right: Sequence[bool], resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """The 95 % percentile bootstrap interval of a share, seeded; None of nothing."""
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
