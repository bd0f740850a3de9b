"""What runs are made with: the one container of a process, opened when first needed, and an executor for each user."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from agent.clauses import clauses
from agent.evidence import Evidence
from agent.executor import Executor
from domain.event import EventRecord, InputNeeded
from domain.plan_document import PlanDocument
from server.runs.asking import AskingExecutor
from server.runs.before import runs_before
from server.runs.ledger import LedgerExecutor
from server.runs.questions import Asks, Questions
from server.storage.runs import Run
from server.storage.storage import Storage
from server.user_secrets import UserSecrets
from wiring.container import Container, open_container
from wiring.executors import http_executor
from wiring.once import Once
from wiring.runs import budget_of, run_and_learn, run_deps
from wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class Hand:
    """What a run has to do with who makes it. ``told``: has every event that was told so far stored; ``held``: whether it is still
    made here, so that its end is its end; ``waits``: tells a question to the user and has the run put down until it is answered.
    """

    told: Callable[[], Awaitable[None]]
    held: Callable[[], bool]
    waits: Callable[[InputNeeded], None]


class Begins(Protocol):
    """Begins a run, or goes on with one from its ``past`` events."""

    async def __call__(self, run: Run, past: Sequence[EventRecord], hand: Hand) -> AsyncGenerator[EventRecord]:
        """Raises ``FootpathError`` where it cannot be begun."""
        ...


class Agents:
    """Made by :func:`open_agents` only."""

    def __init__(self, settings: Settings, storage: Storage, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._storage = storage
        self._stack = stack
        self._container = Once(self._open)
        self._recorded = Once(self._open_recorded)
        self._executors: dict[str, tuple[Executor, UserSecrets]] = {}

    async def _open(self) -> Container:
        return await self._stack.enter_async_context(open_container(self._settings))

    async def container(self) -> Container:
        """Opened once. Raises ``UnavailableError`` where there is no store; the next asking tries again."""
        return await self._container.get()

    async def begin(self, run: Run, past: Sequence[EventRecord], hand: Hand) -> AsyncGenerator[EventRecord]:
        """A run's events, with its user's keys and memories, and every change allowed and in the ledger before it is made."""
        container = await self.container()
        executor, secrets = await self._executor(container, run.user_id)
        ledger = LedgerExecutor(executor, self._storage.effects, run.id, hand.told)
        questions = Questions(self._storage, run, Asks(hand.told, hand.waits))
        asking = AskingExecutor(ledger, questions)
        deps = await run_deps(container, run.policy, asking, run.planner, owner=run.user_id, model=run.model)
        deps = replace(deps, secrets=secrets, ledger=True, document=given_plan(run))
        if run.settings.get("stop_at_plan"):
            deps = replace(deps, approves=questions.about_plan)
        return run_and_learn(
            run.request,
            deps,
            budget_of(container),
            learn=container.settings.learn,
            ended=hand.held,
            name=run.id,
            past=past,
            earlier=await runs_before(run, self._storage),
        )

    async def recorded(self) -> Executor:
        """Answers from recorded calls and reaches nothing else. Raises as :meth:`container`."""
        return await self._recorded.get()

    async def _open_recorded(self) -> Executor:
        return await (await self.container()).executor("replay")

    async def evidence(self, request: str, user_id: str) -> Evidence:
        """What is known of tools, as a run of this user sees them. Raises as :meth:`container`."""
        container = await self.container()
        _, secrets = await self._executor(container, user_id)
        parts, search, flows = clauses(request) or (request,), await container.search(), await container.flows()
        return Evidence(parts, container.graph, search, container.weights, secrets, flows)

    async def _executor(self, container: Container, user_id: str) -> tuple[Executor, UserSecrets]:
        """Connections are kept between a user's runs, and shared with nobody's."""
        if user_id not in self._executors:
            secrets = UserSecrets(self._storage.tool_keys, user_id, await container.secrets())
            executor = http_executor(self._settings, secrets)
            self._stack.push_async_callback(executor.close)
            self._executors[user_id] = executor, secrets
        return self._executors[user_id]


def given_plan(run: Run) -> PlanDocument | None:
    """The plan that a run was asked for with, its parameters filled in; None where it is to make its own."""
    given = run.settings.get("document")
    return None if given is None else PlanDocument.model_validate(given)


@asynccontextmanager
async def open_agents(settings: Settings, storage: Storage) -> AsyncGenerator[Agents]:
    """Nothing is opened before the first run needs it; all is closed at the end."""
    async with AsyncExitStack() as stack:
        yield Agents(settings, storage, stack)
