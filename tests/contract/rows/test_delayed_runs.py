"""A run that meets a store out of reach is put back and told so; it is tried again, for so long, and the queue is left alone meanwhile."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from domain.errors import StoreRefusedError, StoreUnreachableError, StoreVersionError, UnavailableError
from domain.event import AnswerDelta, EventRecord
from server.runs.event_stream import EventBroker
from server.runs.run_control import RunControl
from server.runs.store_outage import RetryWait
from server.runs.worker import WorkerParameters, run_worker
from server.storage.runs import Run
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock as Clock
from tests.contract.rows.test_worker import ended, told
from tests.support.row_samples import run, user
from tests.support.scripted_runs import end, record, until


class Store:
    """A store that is away or there, and runs that need it after their ``safe`` events; each tells five, then its end."""

    def __init__(self, safe: int = 0, error: UnavailableError | None = None) -> None:
        self.away = True
        self.safe = safe
        self.error = error or StoreUnreachableError("graph: nothing answers there")
        self.away_before = False
        self.begun: list[str] = []
        self.looked = 0

    async def begin(self, run: Run, past: Sequence[EventRecord], control: RunControl) -> AsyncGenerator[EventRecord]:
        self.begun.append(run.id)
        done = sum(isinstance(one.event, AnswerDelta) for one in past)
        return self._events(run.id, past[-1].seq if past else 0, done)

    async def _events(self, run_id: str, seq: int, done: int) -> AsyncGenerator[EventRecord]:
        for number in range(done, 5):
            if self.away and number >= self.safe:
                raise self.error
            seq += 1
            yield record(run_id, seq, AnswerDelta(text=str(number)))
        yield record(run_id, seq + 1, end())

    async def look(self) -> None:
        """It goes away under the first run, unless it was ``away_before``."""
        self.looked += 1
        if self.away and (self.begun or self.away_before):
            raise self.error


def pace(whole: float = 60) -> WorkerParameters:
    """As quick as a test may be. The rows' clock stands still, so that who is put back is due only when it is moved on."""
    return WorkerParameters(
        1, 30, 0.02, RetryWait(timedelta(seconds=whole), timedelta(seconds=0.02), timedelta(seconds=0.05))
    )


async def test_it_is_put_back_told_once_and_goes_on_where_it_was(
    storage: Storage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    made, _ = await run(storage, await user(storage))
    store = Store(safe=2)
    async with run_worker(storage, store.begin, EventBroker(), pace(), check_stores=store.look):

        async def tried_again() -> bool:
            clock.on(seconds=1)
            return store.looked > 3

        await until(tried_again)
        waiting = await storage.runs.get(made.id)
        assert waiting is not None
        assert (waiting.status, waiting.outcome) == ("queued", None)
        assert await told(storage, made.id) == ["answer.delta"] * 2 + ["run.delayed"]
        store.away = False
        clock.on(seconds=60)
        assert (await ended(storage, made.id)).outcome == "answered"
    events = await storage.events.list_after(made.id)
    reason = json.loads(events[2].body)["event"]["reason"]
    assert reason == "The run waits, and goes on by itself when this has passed: a store is out of reach"
    assert "graph: nothing answers there" in caplog.text, "where the store is, the log alone says"
    assert await told(storage, made.id) == ["answer.delta"] * 2 + ["run.delayed"] + ["answer.delta"] * 3 + [
        "run.finished"
    ]


async def test_the_queue_is_left_alone_while_the_store_is_away(storage: Storage, clock: Clock) -> None:
    """It is the store that is asked whether it is there, not one run after another."""
    ada, store = await user(storage), Store()
    runs = [(await run(storage, ada))[0].id for _ in range(5)]
    async with run_worker(storage, store.begin, EventBroker(), pace(), check_stores=store.look):

        async def looked_for() -> bool:
            return store.looked > 5

        await until(looked_for)
        assert store.begun == runs[:1]
        store.away = False
        clock.on(seconds=60)
        assert {(await ended(storage, one)).outcome for one in runs} == {"answered"}
    assert len(store.begun) == 6


async def test_after_so_long_it_fails_and_says_why(storage: Storage, clock: Clock) -> None:
    made, _ = await run(storage, await user(storage))
    store = Store()
    async with run_worker(storage, store.begin, EventBroker(), pace(0.3), check_stores=store.look):
        await until(lambda: has_ended(storage, made.id, clock))
    assert await told(storage, made.id) == ["run.delayed", "run.finished"]
    said = json.loads((await storage.events.list_after(made.id))[-1].body)["event"]
    assert said["outcome"] == "failed"
    assert said["error"].startswith("store_unreachable: a store is out of reach; it was tried again for ")


async def test_one_that_waits_for_the_store_can_be_cancelled(storage: Storage, clock: Clock) -> None:
    ada, store = await user(storage), Store()
    made, _ = await run(storage, ada)
    async with run_worker(storage, store.begin, EventBroker(), pace(), check_stores=store.look):

        async def put_back() -> bool:
            return await told(storage, made.id) == ["run.delayed"] and store.looked > 1

        await until(put_back)
        await storage.runs.cancel(made.id, ada.id)
        assert (await ended(storage, made.id)).outcome == "cancelled"
    assert len(store.begun) == 1


@pytest.mark.parametrize(
    "error", [UnavailableError("no answer within 3 seconds"), StoreRefusedError("the server refused the password")]
)
async def test_a_server_that_is_not_ready_takes_nothing_that_another_could_make(
    storage: Storage, clock: Clock, error: UnavailableError
) -> None:
    """Two workers on one queue: the stores refuse one of them, from the beginning."""
    ada, good, bad = await user(storage), Store(), Store(error=error)
    good.away, bad.away_before = False, True
    async with run_worker(storage, bad.begin, EventBroker(), pace(), check_stores=bad.look):
        first, _ = await run(storage, ada)

        async def looked_for() -> bool:
            return bad.looked > 3

        await until(looked_for)
        assert await told(storage, first.id) == []
        async with run_worker(storage, good.begin, EventBroker(), pace(), check_stores=good.look):
            runs = [first.id, *[(await run(storage, ada))[0].id for _ in range(6)]]
            assert {(await ended(storage, one)).outcome for one in runs} == {"answered"}
    assert bad.begun == []
    assert good.begun == runs


async def test_a_run_whose_store_refuses_this_server_goes_on_with_another(storage: Storage, clock: Clock) -> None:
    """The key is changed while the run is made: this server's is refused from then on, the other's is the new one."""
    made, _ = await run(storage, await user(storage))
    bad, good = Store(safe=2, error=StoreRefusedError("bolt://graph:7687: it refuses user 'neo4j'")), Store()
    good.away = False
    async with run_worker(storage, bad.begin, EventBroker(), pace(), check_stores=bad.look):

        async def put_back() -> bool:
            return (await told(storage, made.id))[-1:] == ["run.delayed"]

        await until(put_back)
        said = (await storage.events.list_after(made.id))[-1].body
        assert "a store refuses this server" in said
        assert "bolt" not in said
        assert "neo4j" not in said
        clock.on(seconds=2)
        async with run_worker(storage, good.begin, EventBroker(), pace(), check_stores=good.look):
            assert (await ended(storage, made.id)).outcome == "answered"
    assert (await told(storage, made.id)).count("answer.delta") == 5


async def test_who_waits_is_told_once_where_no_server_can_make_the_run(storage: Storage, clock: Clock) -> None:
    """The store refuses the only server from the beginning: the run is not tried, and does not fail however long that lasts."""
    ada, store = await user(storage), Store()
    store.error = StoreRefusedError("bolt://graph:7687: it refuses user 'neo4j'").set_part("graph")
    store.away_before = True
    parameters = replace(pace(), patience=0.1)
    runs = [(await run(storage, ada))[0].id for _ in range(3)]
    async with run_worker(storage, store.begin, EventBroker(), parameters, check_stores=store.look):

        async def heard() -> bool:
            clock.on(seconds=1)
            return [await told(storage, one) for one in runs] == [["run.delayed"]] * 3

        await until(heard)
        clock.on(seconds=3600)
        await asyncio.sleep(0.3)  # several looks, each after the patience that a run is not told within
        assert [await told(storage, one) for one in runs] == [["run.delayed"]] * 3
        said = json.loads((await storage.events.list_after(runs[0]))[-1].body)["event"]["reason"]
        assert said == (
            "The run waits, and goes on by itself when this has passed: the graph store refuses this server"
        )
        assert store.begun == []
        store.away = False
        await until(lambda: has_ended(storage, runs[0], clock))
        assert (await ended(storage, runs[0])).outcome == "answered"
    assert (await told(storage, runs[0]))[:2] == ["run.delayed", "answer.delta"]


async def test_what_no_server_could_make_fails_at_once(storage: Storage, clock: Clock) -> None:
    made, _ = await run(storage, await user(storage))
    store = Store(error=StoreVersionError("the index was written by another encoder"))
    async with run_worker(storage, store.begin, EventBroker(), pace(), check_stores=store.look):
        assert (await ended(storage, made.id)).outcome == "failed"
    assert await told(storage, made.id) == ["run.finished"]


async def test_a_run_that_went_on_meanwhile_is_told_of_anew(storage: Storage, clock: Clock) -> None:
    """Each outage is told of, and has its own time: what counts is for how long a run has got no further."""
    made, _ = await run(storage, await user(storage))
    store = Store()

    async def seen() -> None:
        """The store is there, and gone again when a run needs it."""
        store.safe = 2 if store.begun else 0

    async def delayed(times: int) -> bool:
        clock.on(seconds=1)
        return (await told(storage, made.id)).count("run.delayed") == times

    async with run_worker(storage, store.begin, EventBroker(), pace(), check_stores=seen):
        await until(lambda: delayed(2))
        store.away = False
        await until(lambda: has_ended(storage, made.id, clock))
    kinds = await told(storage, made.id)
    assert kinds == ["run.delayed", *["answer.delta"] * 2, "run.delayed", *["answer.delta"] * 3, "run.finished"]


async def has_ended(storage: Storage, run_id: str, clock: Clock) -> bool:
    """Whether a run has, a moment later."""
    clock.on(seconds=1)
    found = await storage.runs.get(run_id)
    return found is not None and found.status == "finished"
