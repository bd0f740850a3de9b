"""Measure how many requests are answered correctly: each is run in full, and its answer compared with the values."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any, Protocol

from agent.budget import Budget
from agent.run_context import RunDeps
from domain.usage import Usage
from evaluation.clarification import compute_clarification_figures
from evaluation.correctness import AnswerVerdict
from evaluation.evaluation_cases import HELD_OUT, EvaluationCase, group_conversations
from evaluation.recovery import compute_recovery
from evaluation.turns import judge_turn, run_conversation

Spread = dict[str, float]


def summarize_costs(verdicts: Sequence[AnswerVerdict]) -> dict[str, object]:
    """Return the cost figures of some requests; an empty dict for no requests."""
    if not verdicts:
        return {}
    return {
        "model_calls": _describe_spread(verdicts, lambda one: one.usage.model_calls),
        "tokens": _describe_spread(verdicts, lambda one: one.usage.prompt_tokens + one.usage.completion_tokens),
        "seconds": _describe_spread(verdicts, lambda one: one.usage.total_seconds),
        "repairs": sum(one.repairs for one in verdicts),
        "repaired": sum(one.repairs > 0 for one in verdicts),
        "looks": sum(one.looks for one in verdicts),
    }


def _describe_spread(verdicts: Sequence[AnswerVerdict], value_of: Callable[[AnswerVerdict], float]) -> Spread:
    values = [float(value_of(one)) for one in verdicts]
    return {"p50": median(values), "mean": mean(values), "max": max(values)}


RESAMPLES = 10_000
"""Resamples of the bootstrap."""
_SEED = 7

Figures = dict[str, Any]


class ResettableServices(Protocol):
    """The services behind the requests' APIs."""

    async def reset(self) -> None:
        """Undo every change, and reset the counts of calls."""
        ...

    async def effects(self) -> list[str]:
        """Return the operations that have changed something since the reset, one entry for each change."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerEvaluation:
    """The verdicts of an evaluation."""

    verdicts: tuple[AnswerVerdict, ...]
    unasked: tuple[str, ...] = ()
    """Operations by which requests that should only read, which run together, changed something."""


async def evaluate_answers(
    cases: Sequence[EvaluationCase],
    deps: Callable[[], Awaitable[RunDeps]],
    budget: Budget,
    services: ResettableServices,
    *,
    at_once: int = 1,
    progress: Callable[[int], None] | None = None,
) -> AnswerEvaluation:
    """Return a verdict for every request, in order.

    Requests that only read run ``at_once`` at a time. Conversations with a request that must run ``alone`` follow one by one. The services
    are reset before the first request and before each of these conversations.

    Args:
        cases: the requests.
        deps: builds the dependencies of one run.
        budget: the limits of each run.
        services: the services behind the APIs.
        at_once: runs in parallel.
        progress: gets the number of requests done.
    """
    verdicts: dict[str, AnswerVerdict] = {}
    free = asyncio.Semaphore(at_once)

    async def ask(talk: Sequence[EvaluationCase], *, alone: bool) -> None:
        async with free:
            # The ledger spans the conversation: each turn is judged by the changes after those already known.
            known = len(await services.effects()) if alone else 0
            async for turn in run_conversation(talk, deps, budget):
                effects = await services.effects() if alone else []
                verdicts[turn.case.id] = judge_turn(turn, effects[known:] if alone else None)
                known = len(effects)
                if progress:
                    progress(len(verdicts))

    talks = [(talk, any(one.alone for one in talk)) for talk in group_conversations(cases)]
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
    return AnswerEvaluation(tuple(verdicts[one.id] for one in cases), unasked)


def report(evaluation: AnswerEvaluation, *, show_held_out: bool = False) -> Figures:
    """Return the figures of an evaluation.

    ``overall`` and ``calls`` (by the number of calls that lead to the answer) are over the answerable requests. ``interval``: 95 %, by the
    bootstrap over requests. Failures of held-out requests are counted but only shown on request: whoever tunes must not see them.
    """
    verdicts = evaluation.verdicts
    answerable = [one for one in verdicts if one.case.answerable]
    wrong = [one for one in verdicts if not one.right]
    shown_failures = [one for one in wrong if show_held_out or one.case.group != HELD_OUT]
    usages = [one.usage for one in verdicts]
    return {
        "groups": _tabulate_shares((get_group(one), one) for one in verdicts),
        "costs": _summarize_costs_by_group(verdicts),
        "turns": _summarize_turns(verdicts),
        "asking": compute_clarification_figures(verdicts, get_group),
        "calls": _tabulate_shares(
            (f"{n}+" if (n := min(3, len(one.case.calls))) == 3 else str(n), one) for one in answerable
        ),
        "overall": {**compute_share(answerable), "interval": compute_share_interval([one.right for one in answerable])},
        "recovery": compute_recovery(verdicts),
        "failures": [_describe_failure(one) for one in shown_failures],
        "failures_withheld": len(wrong) - len(shown_failures),
        "unasked_changes": list(evaluation.unasked),
        "fell_back": sum(one.fell_back for one in verdicts),
        "model_calls": sum(usage.model_calls for usage in usages),
        "by_purpose": count_by_purpose(usages),
        "per_right": compute_per_right(verdicts),
        "tokens": {
            "prompt": sum(usage.prompt_tokens for usage in usages),
            "completion": sum(usage.completion_tokens for usage in usages),
        },
        "seconds_p50": median(usage.total_seconds for usage in usages) if usages else 0.0,
        "answer_characters_p50": median(len(one.answer) for one in verdicts) if verdicts else 0.0,
    }


def get_group(verdict: AnswerVerdict) -> str:
    """Return the name of the group in which a request is counted."""
    return verdict.case.group if verdict.case.answerable else "unanswerable"


def _summarize_costs_by_group(verdicts: Sequence[AnswerVerdict]) -> Figures:
    groups = dict.fromkeys(map(get_group, verdicts))
    return {
        **{group: summarize_costs([one for one in verdicts if get_group(one) == group]) for group in groups},
        "all": {**compute_share(verdicts), **summarize_costs(verdicts)},
    }


def _summarize_turns(verdicts: Sequence[AnswerVerdict]) -> Figures:
    """Return what was right and what it cost by the number of the turn, for groups with dialogues.

    ``whole``: dialogues that were right throughout.
    """
    figures: Figures = {}
    for group in dict.fromkeys(get_group(one) for one in verdicts if one.case.turn):
        group_verdicts = [one for one in verdicts if get_group(one) == group]
        numbers = sorted({one.case.turn for one in group_verdicts})
        by_turn = {str(number): [one for one in group_verdicts if one.case.turn == number] for number in numbers}
        talks = [
            all(one.right for one in group_verdicts if one.case.dialogue == name)
            for name in dict.fromkeys(one.case.dialogue for one in group_verdicts)
        ]
        figures[group] = {
            "turns": {number: {**compute_share(some), **summarize_costs(some)} for number, some in by_turn.items()},
            "whole": {"n": len(talks), "right": sum(talks)},
        }
    return figures


def count_by_purpose(usages: Sequence[Usage]) -> Figures:
    """Return model calls and tokens of all runs, by the decision that they were made for."""
    names = sorted({name for usage in usages for name in usage.by_purpose})
    return {
        name: {
            "calls": sum(usage.by_purpose.get(name, 0) for usage in usages),
            "tokens": sum(usage.tokens_by_purpose.get(name, 0) for usage in usages),
        }
        for name in names
    }


def compute_per_right(verdicts: Sequence[AnswerVerdict]) -> Figures | None:
    """Return what all runs used, divided by the number of requests answered correctly; None if there is none."""
    right = sum(one.right for one in verdicts if one.case.answerable)
    if not right:
        return None
    usages = [one.usage for one in verdicts]
    return {
        "decisions": sum(usage.decisions for usage in usages) / right,
        "model_calls": sum(usage.model_calls for usage in usages) / right,
        "tokens": sum(usage.prompt_tokens + usage.completion_tokens for usage in usages) / right,
        "seconds": sum(usage.total_seconds for usage in usages) / right,
    }


def compute_share(verdicts: Sequence[AnswerVerdict]) -> Figures:
    """Return how many verdicts are right; the share is None for no verdicts."""
    right = sum(one.right for one in verdicts)
    return {"n": len(verdicts), "right": right, "share": right / len(verdicts) if verdicts else None}


def compute_share_interval(right: Sequence[bool], resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """Return the seeded 95 % percentile bootstrap interval of a share; None for no values."""
    if not right:
        return None
    draw = random.Random(_SEED)
    shares = sorted(sum(draw.choices(right, k=len(right))) / len(right) for _ in range(resamples))
    return shares[int(0.025 * resamples)], shares[int(0.975 * resamples)]


def _tabulate_shares(named_verdicts: Iterable[tuple[str, AnswerVerdict]]) -> Figures:
    parts: dict[str, list[AnswerVerdict]] = {}
    for name, verdict in named_verdicts:
        parts.setdefault(name, []).append(verdict)
    return {name: compute_share(part) for name, part in parts.items()}


def _describe_failure(verdict: AnswerVerdict) -> Figures:
    return {
        "id": verdict.case.id,
        "group": verdict.case.group,
        "request": verdict.case.request,
        "cause": verdict.cause,
        "detail": verdict.detail,
        "expected": list(verdict.case.expect.values),
        "gold": [call.operation for call in verdict.case.calls],
        "path": list(verdict.path),
        "answer": verdict.answer,
    }
