"""Whoever follows a run gets every event once and in order, from wherever it begins, in whichever process the run is made."""

import asyncio

import pytest

from server.runs.event_stream import EventBroker, stream_events
from server.runs.worker import WorkerParameters, run_worker
from server.storage.run_records import StoredEvent
from server.storage.storage import Storage
from tests.contract.rows.test_worker import QUICK, ended, stored
from tests.support.row_samples import run, user
from tests.support.scripted_runs import Scripted


async def followed(storage: Storage, broker: EventBroker, run_id: str, after: int = 0) -> list[int]:
    """The numbers of the events, to the last."""
    return [event.seq async for event in stream_events(storage, broker, run_id, after, poll=0.02) if event is not None]


@pytest.mark.parametrize("here", [True, False])
async def test_many_follow_from_anywhere(storage: Storage, *, here: bool) -> None:
    """Also from beyond the run's last event: who waits there is let go at its end."""
    made, _ = await run(storage, await user(storage))
    broker = EventBroker()
    script = Scripted(deltas=20, stop=10)
    early = [asyncio.create_task(followed(storage, broker, made.id, after)) for after in (0, 0, 4, 100)]
    async with run_worker(storage, script.begin, broker if here else EventBroker(), QUICK):
        await stored(storage, made.id, 9)
        late = [asyncio.create_task(followed(storage, broker, made.id, after)) for after in (0, 9, 15)]
        await asyncio.sleep(0.05)
        script.go.set()
        async with asyncio.timeout(10):
            found = await asyncio.gather(*early, *late)
    assert found == [list(range(after + 1, 22)) for after in (0, 0, 4, 100, 0, 9, 15)]
    assert await followed(storage, broker, made.id, 19) == [20, 21]


async def test_where_nothing_happens_it_is_said_that_the_run_is_still_there(storage: Storage) -> None:
    ada = await user(storage)
    made, talk = await run(storage, ada)
    found: list[StoredEvent | None] = []
    async with asyncio.timeout(10):
        async for event in stream_events(storage, EventBroker(), made.id, heartbeat=0.05):
            found.append(event)
            if len(found) == 3:
                await storage.conversations.remove(talk.id, ada.id)
    assert found == [None, None, None]


async def test_who_follows_is_let_go_where_the_server_stops(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    broker = EventBroker()
    waits = asyncio.create_task(followed(storage, broker, made.id))
    await asyncio.sleep(0.05)
    assert not waits.done()
    broker.close()
    assert await asyncio.wait_for(waits, 60) == []


async def test_a_run_that_goes_on_is_followed_across_its_workers(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    broker = EventBroker()
    script = Scripted(stop=3)
    waits = asyncio.create_task(followed(storage, broker, made.id))
    async with run_worker(storage, script.begin, broker, QUICK):
        await stored(storage, made.id, 2)
    script.go.set()
    async with run_worker(storage, script.begin, broker, WorkerParameters(poll=0.02)):
        await ended(storage, made.id)
        assert await asyncio.wait_for(waits, 60) == [1, 2, 3, 4, 5, 6]
