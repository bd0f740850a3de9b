"""Running services that one run has to itself, so that no run sees another's changes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from agent.budget import Budget
from agent.execution.executor import CallResult, Executor
from agent.run_context import RunDeps
from domain.event import Event
from domain.model import JsonObject
from domain.tool import ToolDoc
from evaluation.correctness import AnswerVerdict
from evaluation.evaluation_cases import EvaluationCase, ServiceChange, group_conversations
from evaluation.turns import judge_turn, run_conversation


class IsolatedService(Protocol):
    """A running service that one run at a time has to itself, so that no run sees the changes of another."""

    async def reset(self) -> None:
        """Undo every change, and reset the counts of calls."""
        ...

    async def list_changes(self) -> Sequence[ServiceChange]:
        """Return the changes since the reset, oldest first."""
        ...

    async def deps(self) -> RunDeps:
        """Return the dependencies of a run against this service."""
        ...


class RedirectingExecutor:
    """Redirects the calls for one address to another.

    A store's documents name one address, while the evaluation runs several equal services.
    """

    def __init__(self, executor: Executor, original: str, address: str) -> None:
        self.name = executor.name
        self._executor, self._original, self._address = executor, original, address

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        return await self._executor.call(self._redirect(tool), arguments, identity)

    async def close(self) -> None:
        """Do nothing: the executor is closed by its owner."""

    def _redirect(self, tool: ToolDoc) -> ToolDoc:
        parts = urlsplit(tool.url)
        if f"{parts.scheme}://{parts.netloc}" != self._original:
            return tool
        return tool.model_copy(update={"url": self._address + tool.url.removeprefix(self._original)})


Done = Callable[[AnswerVerdict, Sequence[Event]], None]
"""Receives a verdict with the events of its run."""


async def evaluate_isolated(
    cases: Sequence[EvaluationCase],
    places: Mapping[str, Sequence[IsolatedService]],
    budget: Budget,
    done: Done,
    at_once: int,
) -> None:
    """Run and judge every request, at most ``at_once`` conversations at a time.

    Args:
        cases: the requests.
        places: running services by name; each is reset before a conversation gets it.
        budget: the limits of each run.
        done: gets each verdict with the run's events as it comes.
        at_once: conversations in parallel.
    """
    free: dict[str, asyncio.Queue[IsolatedService]] = {}
    for service, services in places.items():
        free[service] = asyncio.Queue()
        for place in services:
            free[service].put_nowait(place)
    turns = asyncio.Semaphore(at_once)

    async def ask(talk: Sequence[EvaluationCase]) -> None:
        service = talk[0].service
        async with turns:
            place = await free[service].get()
            try:
                await place.reset()
                known = 0
                async for turn in run_conversation(talk, place.deps, budget):
                    # The ledger spans the conversation: each turn is judged by the changes after those already known.
                    made = await place.list_changes()
                    done(judge_turn(turn, changes=made[known:]), turn.events)
                    known = len(made)
            finally:
                free[service].put_nowait(place)

    async with asyncio.TaskGroup() as group:
        for talk in group_conversations(cases):
            group.create_task(ask(talk))
