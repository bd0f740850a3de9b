"""A worker sees that each run ends: here, or with whoever takes it up next. No event is lost, changed or told twice."""

import json
from collections.abc import Sequence
from datetime import timedelta

import pytest

from domain.errors import UnavailableError
from domain.event import AnswerDelta, CallFinished, EventRecord
from domain.plan import StepResult
from domain.tool import ToolId
from server.runs.event_stream import EventBroker
from server.runs.run_control import RunControl
from server.runs.worker import RunWorker, WorkerParameters, run_worker
from server.storage.run_history import RunFilter
from server.storage.run_records import StoredEvent
from server.storage.runs import Run
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock as Clock
from tests.support.row_samples import CHOICES, run, user
from tests.support.scripted_runs import Scripted, end, record, until

QUICK = WorkerParameters(max_running=2, lease=30, poll=0.02)


async def ended(storage: Storage, run_id: str) -> Run:
    """The run, once it has ended."""

    async def has() -> bool:
        found = await storage.runs.get(run_id)
        return found is not None and found.status == "finished"

    await until(has)
    found = await storage.runs.get(run_id)
    assert found is not None
    return found


async def told(storage: Storage, run_id: str) -> list[str]:
    """Its stored events by kind; their numbers have no gaps."""
    events = await storage.events.list_after(run_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return [event.kind for event in events]


async def stored(storage: Storage, run_id: str, least: int) -> None:
    """Wait until so many of its events are stored."""

    async def are() -> bool:
        return len(await storage.events.list_after(run_id)) >= least

    await until(are)


def as_stored(one: EventRecord) -> StoredEvent:
    return StoredEvent(run_id=one.run, seq=one.seq, kind=one.event.kind, body=one.model_dump_json())


async def test_a_run_is_made_to_its_end_and_its_answer_is_said(storage: Storage) -> None:
    ada = await user(storage)
    talk = await storage.conversations.add(ada.id)
    made = await storage.runs.add(ada.id, talk.id, "a question", CHOICES, add_message=True)
    async with run_worker(storage, Scripted().begin, EventBroker(), QUICK):
        over = await ended(storage, made.id)
    assert (over.outcome, over.worker, over.lease_until) == ("answered", None, None)
    assert over.usage is not None
    assert over.usage["decisions"] == 3
    assert await told(storage, made.id) == ["answer.delta"] * 5 + ["run.finished"]
    said = await storage.conversations.list_messages(talk.id, ada.id)
    assert [(one.speaker, one.text, one.run_id) for one in said] == [
        ("user", "a question", made.id),
        ("assistant", "done", made.id),
    ]


async def test_so_many_at_once(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    runs = [(await run(storage, one))[0].id for one in (ada, eve, ada, eve, ada)]
    script = Scripted(stop=3)
    async with run_worker(storage, script.begin, EventBroker(), QUICK) as worker:
        for one in runs[:2]:
            await stored(storage, one, 2)
        assert worker.in_hand == 2
        script.go.set()
        for one in runs:
            await ended(storage, one)
    assert script.most == 2
    assert sorted(run_id for run_id, _ in script.begun) == runs


async def test_what_is_put_down_goes_on_elsewhere(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    script = Scripted(stop=3)
    async with run_worker(storage, script.begin, EventBroker(), QUICK):
        await stored(storage, made.id, 2)
    left = await storage.runs.get(made.id)
    assert left is not None
    assert (left.status, left.worker) == ("queued", None)
    assert await told(storage, made.id) == ["answer.delta"] * 2
    script.go.set()
    async with run_worker(storage, script.begin, EventBroker(), QUICK):
        assert (await ended(storage, made.id)).outcome == "answered"
    assert script.begun == [(made.id, 0), (made.id, 2)]
    assert await told(storage, made.id) == ["answer.delta"] * 5 + ["run.finished"]


async def test_what_a_run_has_called_is_counted_however_often_it_is_taken_up(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))

    def called(step: int) -> CallFinished:
        result = StepResult(tool=ToolId("a/b/c"), status="ok" if step != 4 else "missing", attempts=int(step != 4))
        return CallFinished(step=step, result=result)

    script = Scripted(stop=3, tell=called)
    async with run_worker(storage, script.begin, EventBroker(), QUICK):
        await stored(storage, made.id, 2)
    script.go.set()
    async with run_worker(storage, script.begin, EventBroker(), QUICK):
        await ended(storage, made.id)
    (past,) = await storage.run_history.list_page(made.user_id, RunFilter(tool="a/b/c"))
    assert past.calls == 4, "one was never made"


async def test_a_run_that_another_worker_has_taken_is_let_go_of(storage: Storage, clock: Clock) -> None:
    made, _ = await run(storage, await user(storage))
    script = Scripted(stop=3)
    async with run_worker(storage, script.begin, EventBroker(), WorkerParameters(1, lease=30_000, poll=0.02)) as worker:
        await stored(storage, made.id, 2)
        clock.on(seconds=40_000)
        taken = RunWorker(storage, script.begin, EventBroker(), QUICK)
        (other,) = await storage.run_leases.claim(taken.name, timedelta(days=1))
        assert other.id == made.id
        await storage.events.append([as_stored(record(made.id, 3, AnswerDelta(text="another's")))])
        script.go.set()

        async def let_go() -> bool:
            return worker.in_hand == 0

        await until(let_go)
    still = await storage.runs.get(made.id)
    assert still is not None
    assert (still.status, still.worker) == ("running", taken.name)
    events = await storage.events.list_after(made.id)
    assert json.loads(events[-1].body)["event"]["text"] == "another's"


async def test_a_run_is_cancelled_while_it_is_made(storage: Storage) -> None:
    ada = await user(storage)
    made, talk = await run(storage, ada)
    async with run_worker(storage, Scripted(stop=3).begin, EventBroker(), QUICK):
        await stored(storage, made.id, 2)
        await storage.runs.cancel(made.id, ada.id)
        over = await ended(storage, made.id)
    assert over.outcome == "cancelled"
    assert await told(storage, made.id) == ["answer.delta"] * 2 + ["run.finished"]
    assert [one.text for one in await storage.conversations.list_messages(talk.id, ada.id)] == ["so far"]


async def test_a_run_is_cancelled_before_it_begins(storage: Storage) -> None:
    ada = await user(storage)
    made, _ = await run(storage, ada)
    await storage.runs.cancel(made.id, ada.id)
    script = Scripted()
    async with run_worker(storage, script.begin, EventBroker(), QUICK):
        assert (await ended(storage, made.id)).outcome == "cancelled"
    assert script.begun == []
    assert await told(storage, made.id) == ["run.finished"]


async def test_a_run_that_had_told_its_end_only_ends(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    await storage.events.append([as_stored(record(made.id, 1, end()))])
    script = Scripted()
    async with run_worker(storage, script.begin, EventBroker(), QUICK):
        assert (await ended(storage, made.id)).outcome == "answered"
    assert script.begun == []
    assert await told(storage, made.id) == ["run.finished"]


async def test_a_run_that_cannot_begin_says_why(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))

    async def fails(run: Run, past: Sequence[EventRecord], control: RunControl) -> None:
        raise UnavailableError("there is no store")

    async with run_worker(storage, fails, EventBroker(), QUICK):  # pyright: ignore[reportArgumentType]  # it returns nothing at all
        assert (await ended(storage, made.id)).outcome == "failed"
    (last,) = await storage.events.list_after(made.id)
    assert json.loads(last.body)["event"]["error"] == "unavailable: there is no store"


async def test_a_run_whose_conversation_is_removed_is_let_go_of(storage: Storage) -> None:
    ada = await user(storage)
    made, talk = await run(storage, ada)
    script = Scripted(stop=3)
    async with run_worker(storage, script.begin, EventBroker(), QUICK) as worker:
        await stored(storage, made.id, 2)
        await storage.conversations.remove(talk.id, ada.id)
        script.go.set()

        async def let_go() -> bool:
            return worker.in_hand == 0

        await until(let_go)
    assert await storage.runs.get(made.id) is None


async def test_a_run_whose_events_could_not_be_stored_is_taken_up_again(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = await run(storage, await user(storage))
    append, errors = storage.events.append, [UnavailableError("gone for a moment")]

    async def failing_once(events: Sequence[StoredEvent], *, durable: bool = False) -> None:
        if errors:
            raise errors.pop()
        await append(events, durable=durable)

    monkeypatch.setattr(storage.events, "append", failing_once)
    script = Scripted()
    async with run_worker(storage, script.begin, EventBroker(), WorkerParameters(1, lease=0.3, poll=0.02)):
        assert (await ended(storage, made.id)).outcome == "answered"
    assert script.begun == [(made.id, 0), (made.id, 0)]
    assert await told(storage, made.id) == ["answer.delta"] * 5 + ["run.finished"]
