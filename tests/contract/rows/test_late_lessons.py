"""Lessons that an outage prevented: kept with the run's end, and learnt later, once, in order, as long as the run is still there."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from domain.errors import StoreUnreachableError
from domain.event import WeightsLearned
from domain.memory import Memory
from domain.tool import FINISH
from domain.usage import Usage
from server.limits import limits_of
from server.oauth.client import open_oauth
from server.runs import late_lessons
from server.runs.agent_runtime import AgentRuntime, open_agent_runtime
from server.runs.event_journal import parse_events, to_stored_event
from server.runs.event_stream import EventBroker
from server.runs.late_lessons import LateLearner
from server.runs.worker import WorkerParameters, run_worker
from server.storage.accounts import User
from server.storage.runs import Run
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock as Clock
from tests.support.row_samples import run, user
from tests.support.scripted_runs import Scripted, until
from tests.unit.agent.learning.test_learner import followed
from tests.unit.agent.learning.test_lesson import ASKED, A, B, executed, finished, records, result
from wiring.container import Container
from wiring.runs import DeferredLesson, learn_later
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

AWAY = "store_unreachable: nothing answers there"
LEASE = timedelta(seconds=120)


@pytest.fixture
async def agents(storage: Storage, tmp_path: Path) -> AsyncIterator[AgentRuntime]:
    """What runs are made with, on an empty store."""
    settings = Settings(store=tmp_path / "store", server_home=tmp_path / "home")
    await asyncio.to_thread(StoreFolder(settings.store).open, create=True)
    async with (
        open_oauth(settings, storage) as oauth,
        open_agent_runtime(settings, storage, limits_of(settings).quotas, oauth) as opened,
    ):
        yield opened


async def ready() -> None:
    """All stores are there."""


def learner(storage: Storage, agents: AgentRuntime, name: str = "one") -> LateLearner:
    return LateLearner(storage, agents, name, ready)


async def a_lesson(storage: Storage, of: User, memory: str = "") -> Run:
    """A run that was answered by two calls, and whose lesson waits. ``memory``: the one whose path it followed."""
    made, _ = await run(storage, of, ASKED)
    calls = executed([result(A), result(B, uses="1.id")])
    waits = WeightsLearned(error=AWAY, deferred="waiting")
    told = [*(followed(memory, A, B) if memory else ()), *calls, waits, finished()]
    events = [to_stored_event(one.model_copy(update={"run": made.id})) for one in records(*told)]
    await storage.events.append(events[:-1])
    assert made.id in {one.id for one in await storage.run_leases.claim("w", timedelta(seconds=30), 99)}
    usage = Usage().model_dump(mode="json")
    await storage.run_leases.finish(
        made.id, "w", "answered", usage, answer="done", last_event=events[-1], has_lesson=True
    )
    return made


async def learned(storage: Storage, made: Run) -> WeightsLearned:
    """What its event says now."""
    (found,) = await parse_events(await storage.events.list_kinds(made.id, ("weights.learned",)))
    assert isinstance(found.event, WeightsLearned)
    return found.event


async def remembered(container: Container) -> list[Memory]:
    return [one async for one in (await container.memories()).stream_all()]


async def test_a_run_that_ends_in_an_outage_keeps_its_lesson(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    waits = Scripted(1, tell=lambda _: WeightsLearned(error=AWAY, deferred="waiting"))

    async def has_ended() -> bool:
        found = await storage.runs.get(made.id)
        return found is not None and found.status == "finished"

    async with run_worker(storage, waits.begin, EventBroker(), WorkerParameters(poll=0.02)):
        await until(has_ended)
    assert await storage.lessons.count() == 1
    assert (await storage.row_counts.count_all())["waiting_lessons"] == 1
    lesson = await storage.lessons.claim("one", LEASE)
    assert lesson is not None
    assert lesson.run_id == made.id


async def test_two_servers_learn_each_once_and_in_order(
    storage: Storage, agents: AgentRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, order = await user(storage), list[str]()
    made = [await a_lesson(storage, ada) for _ in range(5)]

    async def noted(container: Container, lesson: DeferredLesson) -> WeightsLearned | None:
        order.append(lesson.records[0].run)
        return await learn_later(container, lesson)

    monkeypatch.setattr(late_lessons, "learn_later", noted)
    while await storage.lessons.count():
        await asyncio.gather(*(learner(storage, agents, name).learn_waiting() for name in ("one", "two")))
    assert order == [one.id for one in made]
    container = await agents.get_full_container()
    facts = await container.graph.get_facts([A, B])
    assert (facts[A].ok, facts[B].ok) == (5, 5)
    for one in made:
        found = await learned(storage, one)
        assert (found.deferred, found.error) == ("learnt", "")
        assert {(step.source, step.target) for step in found.transitions} == {(A, B), (B, FINISH)}
        assert [memory.id for memory in await remembered(container)] == [*found.remembered]


async def test_cut_short_after_the_graph_it_is_gone_on_with_and_nothing_counts_twice(
    storage: Storage, agents: AgentRuntime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph has learnt it when the vectors go away again, and the server is killed the next time."""
    ada, container = await user(storage), await agents.get_full_container()
    memories = await container.memories()
    own = Memory(id="m", owner=ada.id, request=ASKED, pattern="another", path=(A, B), at=clock())
    await memories.add([own])
    made = await a_lesson(storage, ada, memory=own.id)

    async def away(*_: object, **__: object) -> None:
        raise StoreUnreachableError("nothing answers there")

    with monkeypatch.context() as broken:
        broken.setattr(type(memories), "add", away)
        assert not await learner(storage, agents).learn_waiting()
    assert (await container.graph.get_facts([A]))[A].ok == 1
    assert (await learned(storage, made)).deferred == "waiting"
    assert await storage.lessons.claim("killed", LEASE) is not None
    assert not await learner(storage, agents).learn_waiting(), "another server has it in hand"
    clock.on(seconds=LEASE.total_seconds() + 1)
    assert await learner(storage, agents).learn_waiting()
    assert (await learned(storage, made)).deferred == "learnt"
    assert (await container.graph.get_facts([A]))[A].ok == 1
    judged = {one.id: (one.good, one.bad) for one in await remembered(container)}
    assert judged["m"] == (1, 0)
    assert len(judged) == 2


async def test_what_its_user_said_meanwhile_counts(storage: Storage, agents: AgentRuntime) -> None:
    made = await a_lesson(storage, await user(storage))
    found = await storage.runs.get(made.id)
    assert found is not None
    await storage.runs.set_verdict(found, "wrong", "")
    assert await learner(storage, agents).learn_waiting()
    container = await agents.get_full_container()
    assert await remembered(container) == []
    strengths = {(edge.source, edge.target): edge.strength async for edge in container.graph.stream_edges()}
    assert strengths[B, FINISH] == pytest.approx(0, abs=1e-6)
    assert (await container.graph.get_facts([A]))[A].ok == 1, "its tools have answered all the same"


async def test_a_run_that_is_judged_while_it_is_learnt_is_learnt_again(
    storage: Storage, agents: AgentRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await a_lesson(storage, await user(storage))

    async def judged(container: Container, lesson: DeferredLesson) -> WeightsLearned | None:
        found = await storage.runs.get(made.id)
        assert found is not None
        if found.verdict is None:
            await storage.runs.set_verdict(found, "wrong", "")
        return await learn_later(container, lesson)

    monkeypatch.setattr(late_lessons, "learn_later", judged)
    assert not await learner(storage, agents).learn_waiting()
    assert await learner(storage, agents).learn_waiting()
    assert await remembered(await agents.get_full_container()) == []


async def test_of_a_run_that_is_removed_while_it_is_learnt_nothing_stays(
    storage: Storage, agents: AgentRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await user(storage)
    made = await a_lesson(storage, ada)

    async def removed(container: Container, lesson: DeferredLesson) -> WeightsLearned | None:
        found = await learn_later(container, lesson)
        assert len(await remembered(container)) == 1
        await storage.runs.remove(made.id, ada.id)
        return found

    monkeypatch.setattr(late_lessons, "learn_later", removed)
    assert await learner(storage, agents).learn_waiting()
    assert await remembered(await agents.get_full_container()) == []
    assert await storage.lessons.count() == 0


async def test_one_that_cannot_be_learnt_holds_nobody_up(
    storage: Storage, agents: AgentRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await user(storage)
    bad, good = await a_lesson(storage, ada), await a_lesson(storage, ada)

    async def refused(container: Container, lesson: DeferredLesson) -> WeightsLearned | None:
        if lesson.records[0].run == bad.id:
            raise ValueError("a defect")
        return await learn_later(container, lesson)

    monkeypatch.setattr(late_lessons, "learn_later", refused)
    assert await learner(storage, agents).learn_waiting()
    told = await learned(storage, bad)
    assert (told.deferred, told.error) == ("dropped", "internal: ValueError; the log has the details")
    assert (await learned(storage, good)).deferred == "learnt"


async def test_one_that_keeps_failing_lets_others_go_first_and_does_not_wait_for_ever(
    storage: Storage, agents: AgentRuntime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await user(storage)
    bad, good = await a_lesson(storage, ada), await a_lesson(storage, ada)

    async def too_much(container: Container, lesson: DeferredLesson) -> WeightsLearned | None:
        if lesson.records[0].run == bad.id:
            return WeightsLearned(error="store_unreachable: out of memory", deferred="waiting")
        return await learn_later(container, lesson)

    monkeypatch.setattr(late_lessons, "learn_later", too_much)
    for _ in range(late_lessons.MAX_TRIES + 1):
        clock.on(seconds=30)
        assert not await learner(storage, agents).learn_waiting()
    assert (await learned(storage, good)).deferred == "learnt"
    assert (await learned(storage, bad)).deferred == "waiting"
    clock.on(days=31)
    assert await learner(storage, agents).learn_waiting()
    assert (await learned(storage, bad)).deferred == "dropped"


async def test_nothing_is_tried_while_a_store_is_away(storage: Storage, agents: AgentRuntime) -> None:
    await a_lesson(storage, await user(storage))

    async def away() -> None:
        raise StoreUnreachableError("graph: nothing answers there")

    for _ in range(3):
        assert not await LateLearner(storage, agents, "one", away).learn_waiting()
    lesson = await storage.lessons.claim("one", LEASE)
    assert lesson is not None
    assert lesson.tries == 1
