"""Run requests as turns of conversations, and judge them: against shared services, or services of their own."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from agent.budget import Budget
from agent.conversation import MAX_EARLIER_RUNS, EarlierRun, build_earlier_run
from agent.execution.provenance import RunStatements
from agent.run import run
from agent.run_context import RunDeps, RunUser
from domain.event import CallFinished, Event, EventRecord
from domain.plan import StepResult
from evaluation.clarification import ClarificationQuestion, SimulatedUser
from evaluation.correctness import AnswerVerdict, judge
from evaluation.evaluation_cases import EvaluationCase, ServiceChange

Deps = Callable[[], Awaitable[RunDeps]]
"""Builds the dependencies of one run."""


@dataclass(frozen=True, slots=True)
class EvaluatedTurn:
    """A request that was run as a turn of a conversation."""

    case: EvaluationCase
    events: tuple[Event, ...]
    earlier_calls: tuple[StepResult, ...] = ()
    """Calls of the turns before it."""
    questions: tuple[ClarificationQuestion, ...] = ()
    """Questions that the run asked its user."""


async def run_conversation(
    conversation: Sequence[EvaluationCase], deps: Deps, budget: Budget
) -> AsyncGenerator[EvaluatedTurn]:
    """Run the requests of a conversation in order, and yield each as it ends.

    What a request has in ``before`` is run first and not yielded. Each run gets what the runs before it found, and a
    simulated user answers its questions.
    """
    texts: list[str] = []
    runs: list[EarlierRun] = []
    earlier_calls: list[StepResult] = []

    async def run_request(text: str, user: SimulatedUser) -> list[EventRecord]:
        texts.append(text)
        working = replace(await deps(), user=RunUser(user, statements=RunStatements(user_messages=tuple(texts))))
        records = [record async for record in run(text, working, budget, earlier_runs=runs[-MAX_EARLIER_RUNS:])]
        runs.append(build_earlier_run(records))
        return records

    for case in conversation:
        for text in case.before:
            earlier_calls += _get_calls(await run_request(text, SimulatedUser(None)))
        user = SimulatedUser(case.ask)
        records = await run_request(case.request, user)
        yield EvaluatedTurn(
            case, tuple(record.event for record in records), tuple(earlier_calls), tuple(user.questions)
        )
        earlier_calls += _get_calls(records)


def judge_turn(
    turn: EvaluatedTurn, effects: Sequence[str] | None = None, changes: Sequence[ServiceChange] | None = None
) -> AnswerVerdict:
    """Return the verdict on a turn; ``effects`` and ``changes`` are what was changed in it."""
    return judge(turn.case, turn.events, effects, changes, turn.earlier_calls, turn.questions)


def _get_calls(records: Sequence[EventRecord]) -> list[StepResult]:
    return [record.event.result for record in records if isinstance(record.event, CallFinished)]
