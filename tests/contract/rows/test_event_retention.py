"""Events of runs that ended long ago go; what a run under way may need, and what was said, stays."""

from datetime import timedelta

from server.cleanup import tidy
from server.runs.event_stream import EventBroker, stream_events
from server.storage.run_records import StoredEvent
from server.storage.runs import Run
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import CHOICES, user
from tests.support.scripted_runs import end, record

LEASE = timedelta(seconds=30)


async def ended(storage: Storage, user_id: str, conversation: str) -> Run:
    """A run of four events that has answered."""
    made = await storage.runs.add(user_id, conversation, "a question", CHOICES, add_message=True)
    await storage.run_leases.claim("one", LEASE)
    kinds = ("run.started", "subtask.started", "call.finished")
    events = [StoredEvent(run_id=made.id, seq=n, kind=kind, body="{}") for n, kind in enumerate(kinds, 1)]
    await storage.events.append(events)
    body = record(made.id, 4, end(answer="so it is")).model_dump_json()
    last = StoredEvent(run_id=made.id, seq=4, kind="run.finished", body=body)
    assert await storage.run_leases.finish(made.id, "one", "answered", {}, answer="so it is", last_event=last)
    return made


async def kinds(storage: Storage, run: Run) -> list[str]:
    return [event.kind for event in await storage.events.list_after(run.id)]


async def test_events_of_long_ago_go_and_the_answer_stays(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    talk, newer = await storage.conversations.add(ada.id), await storage.conversations.add(ada.id)
    old = await ended(storage, ada.id, talk.id)
    clock.on(days=20)
    recent = await ended(storage, ada.id, newer.id)
    clock.on(days=15)
    assert await tidy(storage, 0) == 0
    assert await tidy(storage, 30) == 3
    assert await tidy(storage, 30) == 0
    assert await kinds(storage, old) == ["run.finished"]
    assert len(await kinds(storage, recent)) == 4
    said = await storage.conversations.list_messages(talk.id, ada.id)
    assert [one.text for one in said] == ["a question", "so it is"]
    followed = [event async for event in stream_events(storage, EventBroker(), old.id)]
    assert [event.seq for event in followed if event] == [4], "who follows it is told how it ended"


async def test_what_a_waiting_run_may_need_stays(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    talk, other = await storage.conversations.add(ada.id), await storage.conversations.add(ada.id)
    earlier, elsewhere = await ended(storage, ada.id, talk.id), await ended(storage, ada.id, other.id)
    waiting = await storage.runs.add(ada.id, talk.id, "and in 2027?", CHOICES)
    await storage.run_leases.claim("one", LEASE)
    await storage.run_questions.ask(waiting.id, "call 1", "call", {"tool": "a/b/c"})
    await storage.events.append([StoredEvent(run_id=waiting.id, seq=1, kind="run.started", body="{}")])
    assert await storage.run_leases.release(waiting.id, "one", "waiting")
    clock.on(days=400)
    chosen = await storage.retention.find_expired_runs(timedelta(days=30))
    assert chosen == [elsewhere.id]
    assert await storage.retention.remove_events([earlier.id, waiting.id, elsewhere.id]) == 3, "nor when asked directly"
    assert len(await kinds(storage, earlier)) == 4
    assert await kinds(storage, waiting) == ["run.started"]


async def test_any_number_of_runs_in_small_transactions(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    runs = [await ended(storage, ada.id, (await storage.conversations.add(ada.id)).id) for _ in range(45)]
    clock.on(days=31)
    assert await tidy(storage, 30) == 3 * 45
    for one in runs:
        assert await kinds(storage, one) == ["run.finished"]
