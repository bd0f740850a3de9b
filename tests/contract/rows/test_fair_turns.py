"""Users take turns: who asks for ten runs at once keeps nobody from one."""

import asyncio
from datetime import timedelta

from sqlalchemy import Connection, text

from server.runs.event_stream import EventBroker
from server.runs.worker import WorkerParameters, run_worker
from server.storage.rows.runs import RunRow
from server.storage.run_leases import select_next_runs
from server.storage.runs import Run
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import run, user
from tests.support.scripted_runs import Scripted, until

LEASE = timedelta(seconds=30)


async def of(storage: Storage, name: str, count: int) -> list[str]:
    """The ids of so many new runs of a new user, the oldest first."""
    somebody = await user(storage, name)
    return [(await run(storage, somebody))[0].id for _ in range(count)]


def ids(runs: list[Run]) -> list[str]:
    return [one.id for one in runs]


async def test_who_has_the_fewest_under_way_is_next(storage: Storage) -> None:
    greedy, modest = await of(storage, "ada", 10), await of(storage, "eve", 2)
    assert ids(await storage.run_leases.claim("one", LEASE)) == greedy[:1]
    assert ids(await storage.run_leases.claim("two", LEASE)) == modest[:1], "at whatever server"
    assert ids(await storage.run_leases.claim("one", LEASE)) == greedy[1:2]
    assert ids(await storage.run_leases.claim("one", LEASE)) == modest[1:]
    assert ids(await storage.run_leases.claim("one", LEASE)) == greedy[2:3], "nobody else waits"


async def test_several_at_once_are_what_they_would_be_one_by_one(storage: Storage) -> None:
    greedy = await of(storage, "ada", 10)
    modest, third = await of(storage, "eve", 2), await of(storage, "bob", 1)
    taken = await storage.run_leases.claim("one", LEASE, limit=5)
    assert set(ids(taken)) == {*greedy[:2], *modest, *third}


async def test_one_user_cannot_have_all_places_of_a_worker(storage: Storage) -> None:
    greedy = await of(storage, "ada", 10)
    assert ids(await storage.run_leases.claim("one", LEASE, limit=4, per_user=3)) == greedy[:3]
    assert ids(await storage.run_leases.claim("one", LEASE, limit=1, per_user=3)) == []
    assert ids(await storage.run_leases.claim("two", LEASE, limit=4, per_user=3)) == greedy[3:6], (
        "another worker's are its own"
    )
    modest = await of(storage, "eve", 1)
    assert ids(await storage.run_leases.claim("one", LEASE, limit=1, per_user=3)) == modest


async def test_a_cancelled_run_is_ended_however_many_of_its_user_are_under_way(storage: Storage) -> None:
    ada = await user(storage)
    greedy = [(await run(storage, ada))[0].id for _ in range(4)]
    assert ids(await storage.run_leases.claim("one", LEASE, limit=4, per_user=2)) == greedy[:2]
    await storage.runs.cancel(greedy[3], ada.id)
    assert ids(await storage.run_leases.claim("one", LEASE, limit=4, per_user=2)) == greedy[3:]


async def test_runs_of_a_lost_worker_are_under_way_no_more(storage: Storage, clock: ManualClock) -> None:
    greedy, modest = await of(storage, "ada", 3), await of(storage, "eve", 1)
    assert ids(await storage.run_leases.claim("dead", LEASE, limit=1)) == greedy[:1]
    clock.on(seconds=60)
    assert ids(await storage.run_leases.claim("one", LEASE, limit=1)) == greedy[:1], (
        "its oldest run again, not counted twice"
    )
    assert ids(await storage.run_leases.claim("one", LEASE, limit=1)) == modest


async def test_several_servers_at_once_take_each_run_once(storage: Storage) -> None:
    made = [*await of(storage, "ada", 8), *await of(storage, "eve", 4)]
    taken = await asyncio.gather(*(storage.run_leases.claim(f"server {n}", LEASE, 4, per_user=3) for n in range(3)))
    found = [one.id for group in taken for one in group]
    assert len(found) == len(set(found))
    for group in taken:
        assert sum(one.user_id == group[0].user_id for one in group) <= 3
    assert set(found) <= set(made)


async def test_another_users_run_is_made_while_ten_slow_ones_are_under_way(storage: Storage) -> None:
    greedy = await of(storage, "ada", 10)
    script, slow = Scripted(stop=3), set(greedy)
    quick = Scripted()

    async def begin(one: Run, *rest: object) -> object:
        return await (script if one.id in slow else quick).begin(one, *rest)  # pyright: ignore[reportArgumentType]

    async with run_worker(storage, begin, EventBroker(), WorkerParameters(4, lease=30, poll=0.02)) as worker:  # pyright: ignore[reportArgumentType]

        async def busy() -> bool:
            return worker.in_hand == 3

        await until(busy)
        modest = await of(storage, "eve", 1)
        worker.wake()

        async def ended() -> bool:
            found = await storage.runs.get(modest[0])
            return found is not None and found.status == "finished"

        await until(ended)
        await until(busy)  # the ten are still held to three; a run is put down a moment after its row says so
        script.go.set()


async def test_runs_that_are_planned_take_no_place_and_are_bounded(storage: Storage) -> None:
    """Two places: two are of a user, whoever else has none here comes beside them, and no more than sixteen in all."""
    greedy, planned = await of(storage, "ada", 4), True
    script, quick = Scripted(stop=3), Scripted()
    others = [(await of(storage, f"user {number}", 1))[0] for number in range(20)]
    slow = {*greedy, *others}

    async def begin(one: Run, *rest: object) -> object:
        return await (script if one.id in slow else quick).begin(one, *rest)  # pyright: ignore[reportArgumentType]

    def count() -> int:
        return 100 if planned else 0  # no more than are in hand count

    parameters = WorkerParameters(2, lease=30, poll=0.02)
    async with run_worker(storage, begin, EventBroker(), parameters, count_planned=count) as worker:  # pyright: ignore[reportArgumentType]

        async def full() -> bool:
            return worker.in_hand == 16

        await until(full)
        await asyncio.sleep(0.2)  # several looks for more
        assert worker.in_hand == 16
        assert sum(one in greedy for one, _ in script.begun) == 1
        planned = False
        script.go.set()

        async def ended() -> bool:
            found = [await storage.runs.get(one) for one in slow]
            return all(one is not None and one.status == "finished" for one in found)

        await until(ended)


async def test_one_users_planned_runs_leave_room(storage: Storage) -> None:
    """However many of them wait to be planned: another user's is taken."""
    await of(storage, "ada", 10)
    script, parameters = Scripted(stop=3), WorkerParameters(4, lease=30, poll=0.02)
    async with run_worker(storage, script.begin, EventBroker(), parameters, count_planned=lambda: 100) as worker:

        async def three() -> bool:
            return worker.in_hand == 3

        await until(three)
        await asyncio.sleep(0.2)  # several looks for more
        assert worker.in_hand == 3
        (modest,) = await of(storage, "eve", 1)
        worker.wake()

        async def begun() -> bool:
            return (modest, 0) in script.begun

        await until(begun)
        script.go.set()


async def test_the_next_run_is_found_by_an_index(storage: Storage, clock: ManualClock) -> None:
    """However many runs have ended."""
    if storage.database.dialect != "sqlite":
        return
    asked = select_next_runs("one", clock(), 4, RunRow.not_before.is_(None), 3)

    def plan(connection: Connection) -> list[str]:
        words = str(asked.compile(connection, compile_kwargs={"literal_binds": True}))
        return [row[3] for row in connection.execute(text(f"EXPLAIN QUERY PLAN {words}"))]

    async with storage.database.read_session() as session:
        steps = await (await session.connection()).run_sync(plan)
    assert any("ix_runs_status_user_id_id" in step for step in steps)
    assert [step for step in steps if step.startswith("SCAN runs")] == []
