"""Jobs of administrators: one for a slot, made by one server, taken up again from one that was killed, cancelled, forgotten."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from domain.errors import ConflictError, NotFoundError, UnavailableError
from domain.model import JsonObject
from server.jobs.kinds import LINES, JobInHand, JobKind
from server.jobs.runner import JobRunner, making_jobs
from server.storage.accounts import User
from server.storage.jobs import Job, JobState, NewJob
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.support.scripted_runs import until

COUNT = NewJob(kind="count", slot="numbers")
LEASE = timedelta(seconds=10)


@pytest.fixture
async def boss(storage: Storage) -> User:
    return await storage.users.add("boss", "x", "admin")


@asynccontextmanager
async def server(
    storage: Storage, make: Callable[[JobInHand], Awaitable[JsonObject]], worker: str = "one", tries: int = 3
) -> AsyncGenerator[JobRunner]:
    kind = JobKind("count", make, "numbers", tries)
    async with making_jobs(storage, [kind], worker, "here", LEASE.total_seconds(), poll=0.01) as runner:
        yield runner


async def when(storage: Storage, job_id: str, state: JobState) -> Job:
    async def has_come() -> bool:
        return (await storage.jobs.get(job_id)).state == state

    await until(has_come)
    return await storage.jobs.get(job_id)


async def test_a_job_tells_how_far_it_is_and_what_came_of_it(storage: Storage, boss: User) -> None:
    go_on = asyncio.Event()

    async def count(hand: JobInHand) -> JsonObject:
        hand.progress("numbers", 2, 3)
        for number in range(LINES + 20):
            hand.say(f"line {number}")
        await go_on.wait()
        return {"counted": 3, "asked": hand.job.wanted}

    async with server(storage, count) as runner:
        job = await runner.add("count", boss, {"to": 3})
        with pytest.raises(ConflictError, match="another job"):
            await runner.add("count", boss)
        with pytest.raises(NotFoundError):
            await runner.add("sing", boss)

        async def is_told() -> bool:
            return bool((await storage.jobs.get(job.id)).lines)

        await until(is_told)
        told = await storage.jobs.get(job.id)
        assert (told.what, told.done, told.total, told.by) == ("numbers", 2, 3, "boss")
        assert (len(told.lines), told.lines[0], told.lines[-1]) == (LINES, "line 0", f"line {LINES + 19}")
        go_on.set()
        ended = await when(storage, job.id, "done")
        assert ended.result == {"counted": 3, "asked": {"to": 3}}
        await runner.add("count", boss)  # its slot is free again


async def test_what_goes_wrong_is_told_and_a_cancelled_one_ends(storage: Storage, boss: User) -> None:
    begun, ended = asyncio.Event(), list[str]()

    async def fail(hand: JobInHand) -> JsonObject:
        if hand.job.wanted.get("wait"):
            begun.set()
            await asyncio.Event().wait()
        raise UnavailableError("the disk is full: make room") if hand.job.wanted.get("told") else ValueError("secret")

    async def clear(job: Job) -> None:
        ended.append(job.state)

    kind = JobKind("count", fail, "numbers", ended=clear)
    async with making_jobs(storage, [kind], "one", "here", poll=0.01) as runner:
        told = await when(storage, (await runner.add("count", boss, {"told": True})).id, "failed")
        assert told.trouble == "the disk is full: make room"
        untold = await when(storage, (await runner.add("count", boss)).id, "failed")
        assert "secret" not in untold.trouble
        waits = await runner.add("count", boss, {"wait": True})
        await begun.wait()
        await runner.cancel(waits.id)
        assert "cancelled" in (await when(storage, waits.id, "cancelled")).trouble
        assert (await runner.cancel(told.id)).state == "failed"
    assert ended == ["failed", "failed", "cancelled"]


async def test_who_was_killed_loses_it_to_the_next_and_only_so_often(
    storage: Storage, boss: User, clock: ManualClock
) -> None:
    """A server that is killed tells nobody: its lease ends, or the next one of its home sees that it is gone."""
    job = await storage.jobs.add(COUNT, boss)
    elsewhere = await storage.jobs.add(NewJob(kind="count", slot="files", home="there"), boss)
    (taken,) = await storage.job_leases.claim("one", "here", ["count"], LEASE)
    assert taken.id == job.id
    assert await storage.job_leases.claim("two", "here", ["count"], LEASE) == []
    clock.on(seconds=11)
    (again,) = await storage.job_leases.claim("two", "here", ["count"], LEASE)
    assert again.tries == 2
    assert not await storage.job_leases.finish(job.id, "one", "done"), "it is another's now"
    assert await storage.job_leases.renew("one", LEASE) == {}
    assert await storage.job_leases.release_workers(["two"]) == 1

    async def count(_: JobInHand) -> JsonObject:
        raise AssertionError("it is not to be begun a third time")

    async with server(storage, count, "three", tries=2):
        assert "stopped 2 times" in (await when(storage, job.id, "failed")).trouble
    assert (await storage.jobs.get(elsewhere.id)).state == "queued", "its files lie in another home"


async def test_who_stops_in_order_puts_it_down(storage: Storage, boss: User) -> None:
    begun, waits = list[int](), asyncio.Event()

    async def count(hand: JobInHand) -> JsonObject:
        begun.append(hand.job.tries)
        if len(begun) == 1:
            waits.set()
            await asyncio.Event().wait()
        return {}

    async with server(storage, count) as runner:
        job = await runner.add("count", boss)
        await waits.wait()
    assert (await storage.jobs.get(job.id)).state == "queued"
    async with server(storage, count, "two"):
        await when(storage, job.id, "done")
    assert begun == [1, 1], "that was no try that failed"


async def test_old_ones_are_forgotten_and_open_ones_never(storage: Storage, boss: User, clock: ManualClock) -> None:
    gone = await storage.jobs.add(COUNT, boss)
    await storage.jobs.cancel(gone.id)
    stays = await storage.jobs.add(COUNT, boss)
    clock.on(days=91)
    assert await storage.jobs.delete_old(timedelta(days=90)) == 1
    assert [one.id for one in await storage.jobs.list_page()] == [stays.id]
