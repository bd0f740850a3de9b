"""Assembly of the dependencies of one run from the container, and learning from runs, at once or later."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.budget import Budget
from agent.conversation import EarlierRun
from agent.execution.approval import AllowChangesApprover, Approver, DenyChangesApprover, HostIsolationApprover
from agent.execution.executor import Executor
from agent.learning.learner import RunLearner, learn_from_run
from agent.memory.long_term import LongTermMemory
from agent.planners.registry import choose_default_planner, get_planner
from agent.request_reader import PlainReader, RequestReader
from agent.run import run
from agent.run_context import RunCallOptions, RunDeps, RunHost, RunKnowledge, RunPlanning
from agent.search.dfs import SearchSettings
from domain.event import EventRecord, WeightsLearned
from offline.reader import EnglishReader
from wiring.container import Container


async def build_run_deps(
    container: Container,
    policy: str,
    executor: str | Executor,
    planner: str = "",
    *,
    owner: str | None = None,
    model: str = "",
    approver: Approver | None = None,
) -> RunDeps:
    """Build the dependencies of one run, with a policy of its own.

    Args:
        container: The open store.
        policy: Name of the policy.
        executor: Name of an executor, or an executor that the caller closes.
        planner: Name of the planner; empty for the default of the policy.
        owner: User whose memories are recalled and kept, by default that of the settings.
        model: For the policy ``llm``, another model than the default of the settings.
        approver: Decides on calls with side effects, which are refused without one. Replayed calls need none.

    Raises:
        UsageError: no such policy, planner or executor.
        UnavailableError: the tools are not indexed, or the index is in use.
    """
    planner = planner or choose_default_planner(policy)
    get_planner(planner)
    own_policy = container.create_policy(policy, model, owner or "")
    caller = await container.open_executor(executor) if isinstance(executor, str) else executor
    search = await container.open_search()
    settings = container.settings
    knowledge = RunKnowledge(
        container.graph,
        search,
        offers=await container.create_offer_maker(search),
        flows=await container.flows(),
        weights=container.weights,
        memory=await _open_memory(container, settings.owner if owner is None else owner),
        solutions=await container.solutions(owner),
    )
    planning = RunPlanning(
        own_policy,
        planner,
        reader=create_reader(policy, settings.today),
        walk_settings=build_walk_settings(container, policy),
        sandbox=container.sandbox(),
        offer_tokens=settings.offer_tokens,
        rephrases_answers=settings.phrase,
        max_parallel_subtasks=settings.subtasks_at_once,
    )
    calls = RunCallOptions(
        caller,
        approver=_choose_approver(container, approver, caller),
        secrets=await container.secrets(),
        field_choices=container.field_choices(),
    )
    return RunDeps(knowledge, planning, calls, host=RunHost(today=settings.today.isoformat() if settings.today else ""))


def _choose_approver(container: Container, requested: Approver | None, caller: Executor) -> Approver:
    if caller.name == "replay":
        return requested or AllowChangesApprover()
    approver = requested or DenyChangesApprover()
    return HostIsolationApprover(approver) if container.settings.flows == "ask" else approver


async def _open_memory(container: Container, owner: str) -> LongTermMemory:
    """Return long-term memory; where it is out of reach, the run reports so when it recalls or learns, and goes on."""
    return LongTermMemory(await container.memories_or_unavailable(), await container.embedder(), owner)


def create_reader(policy: str, day: date | None = None) -> RequestReader:
    """Return the reader of requests for a policy: ``EnglishReader`` for a policy of rules, ``PlainReader`` beside a model.

    ``day``: as the setting ``today``.
    """
    return PlainReader() if policy == "llm" else EnglishReader(day)


def build_walk_settings(container: Container, policy: str) -> SearchSettings:
    """Return how a walk explores the graph.

    A model is asked for several steps at once, since each question costs a call; rules are not.
    """
    settings = container.settings
    several = policy == "llm" and settings.several_steps
    return SearchSettings(
        candidate_count=settings.candidates,
        min_relevance=settings.similarity_floor,
        retrieved_count=2 * settings.candidates,
        several_steps=several,
    )


def run_and_learn(
    request: str,
    deps: RunDeps,
    budget: Budget | None = None,
    *,
    learn: bool = True,
    is_over: Callable[[], bool] = lambda: True,
    name: str = "",
    past: Sequence[EventRecord] = (),
    earlier: Sequence[EarlierRun] = (),
    keeps_lessons: bool = False,
) -> AsyncGenerator[EventRecord]:
    """Run a request, and learn from it as the last step. Replayed runs teach nothing, whatever ``learn`` says.

    Args:
        request: The request.
        deps: What the run works with.
        budget: Limits of the run.
        learn: Learn from the run.
        is_over: Called at the end; returns False where the run is only released, to be resumed later.
        name: As for :func:`agent.run.run`.
        past: As for :func:`agent.run.run`.
        earlier: As for :func:`agent.run.run`.
        keeps_lessons: The caller stores a lesson that waits for a store, and calls :func:`learn_later` with it.
    """
    if learn and deps.calls.executor.name != "replay":
        learner = _create_learner(
            deps, is_over, alone=not earlier and not deps.user.files.all_files, keeps_lessons=keeps_lessons
        )
        deps = replace(deps, host=replace(deps.host, learner=learner))
    return run(request, deps, budget, name=name, past_events=past, earlier_runs=earlier)


def _create_learner(deps: RunDeps, is_over: Callable[[], bool], *, alone: bool, keeps_lessons: bool) -> RunLearner:
    # A given plan makes no new solution: it has inputs already, and its run is one choice of their values.
    library = deps.knowledge.solutions if deps.planning.plan is None else None
    user = deps.knowledge.solutions.owner if deps.knowledge.solutions is not None else ""
    return RunLearner(
        deps.knowledge.store,
        deps.knowledge.memory,
        deps.planning.policy,
        is_over,
        deps.knowledge.weights,
        library,
        alone=alone,
        user=user,
        planned=deps.user.plan_approver is None,
        can_defer=keeps_lessons,
    )


@dataclass(frozen=True, slots=True)
class DeferredLesson:
    """An ended run that could not be learnt from, because a store was unavailable; see :func:`learn_later`."""

    records: Sequence[EventRecord]
    """All events of the run."""
    owner: str
    """User of the run, whose memories and solutions are updated; empty for those that all users share."""
    alone: bool
    """True if the request follows no earlier one and uses no files, so that it can be understood by itself."""
    planned: bool
    """True if the programs ran as they were planned; False if the user may have edited them before."""
    updates_memory: bool
    """True if memories are to be judged and extended."""
    updates_solutions: bool
    """True if solutions are to be judged and extended."""


async def learn_later(container: Container, lesson: DeferredLesson) -> WeightsLearned | None:
    """Learn from a run whose lesson was deferred; return what it taught, or None if there was nothing to learn.

    Steps are scored by rules, since no model is asked after a run has ended. A lesson that was partly applied before is
    not counted twice. Raises ``UnavailableError`` where a store still cannot be opened.
    """
    memory = None
    if lesson.updates_memory:
        memory = LongTermMemory(await container.memories(), await container.embedder(), lesson.owner)
    return await learn_from_run(
        lesson.records,
        container.graph,
        memory,
        weights=container.weights,
        solutions=await container.solutions(lesson.owner) if lesson.updates_solutions else None,
        alone=lesson.alone,
        user=lesson.owner,
        planned=lesson.planned,
        is_retry=True,
    )


def build_budget(container: Container) -> Budget:
    """Return the limits that the settings give every run."""
    settings = container.settings
    return Budget(
        decisions=settings.max_decisions,
        model_calls=settings.max_model_calls,
        tokens=settings.max_tokens,
        depth=settings.max_depth,
        seconds=settings.max_seconds,
        reflections=settings.max_reflections,
        changes=settings.max_changes,
    )
