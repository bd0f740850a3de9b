"""How many requests are answered rightly: each is run from start to end, and its answer held against what is expected."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Protocol

from agent.budget import Budget
from agent.conversation import EarlierRun, earlier_run
from agent.execution.provenance import Voices
from agent.run import RunDeps, run
from domain.event import CallFinished, Event
from domain.usage import Usage
from evaluation.correctness import Verdict, judge
from evaluation.costs import costs
from evaluation.expected import HELD_OUT, Asked
from evaluation.recovery import recovered

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
    by one. The services are reset before the first of them all and before each that runs alone. ``progress`` gets the number of
    requests done. What a conversation has asked before is asked first; its calls count as the request's own.
    """
    verdicts: dict[str, Verdict] = {}
    free = asyncio.Semaphore(at_once)

    async def ask(one: Asked, working: RunDeps) -> None:
        async with free:
            events = await events_of(one, deps, working, budget)
            verdicts[one.id] = judge(one, events, await services.effects() if one.alone else None)
            if progress:
                progress(len(verdicts))

    together = [(one, await deps()) for one in asked if not one.alone]
    await services.reset()
    async with asyncio.TaskGroup() as group:
        for one, working in together:
            group.create_task(ask(one, working))
    unasked = tuple(await services.effects())
    for one in asked:
        if one.alone:
            await services.reset()
            await ask(one, await deps())
    return Evaluation(tuple(verdicts[one.id] for one in asked), unasked)


async def events_of(
    one: Asked, deps: Callable[[], Awaitable[RunDeps]], working: RunDeps, budget: Budget
) -> list[Event]:
    """What happens when a request is run; of what is asked before it, the calls. ``working``: what its own run works with."""
    said: list[EarlierRun] = []
    events: list[Event] = []
    for number, before in enumerate(one.before, start=1):
        own = replace(await deps(), voices=Voices(said=one.before[:number]))
        records = [record async for record in run(before, own, budget, earlier=said)]
        events += [record.event for record in records if isinstance(record.event, CallFinished)]
        said.append(earlier_run(records))
    own = replace(working, voices=Voices(said=[*one.before, one.request]))
    events += [record.event async for record in run(one.request, own, budget, earlier=said)]
    return events


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
