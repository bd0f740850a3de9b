"""The database under rough handling: cancelled callers, writers side by side, readers meanwhile."""

import asyncio
import random

from server.storage.run_records import StoredEvent
from server.storage.storage import Storage
from tests.support.row_samples import run, user


def event(run_id: str, seq: int) -> StoredEvent:
    return StoredEvent(run_id=run_id, seq=seq, kind="answer.delta", body="{}")


async def test_cancelled_writes_are_whole_or_not_there_and_nothing_is_stuck(storage: Storage) -> None:
    made, _ = await run(storage, await user(storage))
    chance = random.Random(7)
    for first in range(1, 120, 3):
        batch = [event(made.id, seq) for seq in range(first, first + 3)]
        writing = asyncio.create_task(storage.events.append(batch))
        await asyncio.sleep(chance.random() * 0.004)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    seqs = {one.seq for one in await storage.events.list_after(made.id)}
    assert all(len(seqs & {first, first + 1, first + 2}) in (0, 3) for first in range(1, 120, 3))
    await storage.events.append([event(made.id, 1000)])
    assert (await storage.events.find_last_numbers([made.id]))[made.id] == 1000


async def test_readers_see_whole_batches_while_writers_write(storage: Storage) -> None:
    ada = await user(storage)
    runs = [(await run(storage, ada))[0].id for _ in range(4)]

    async def write(run_id: str) -> None:
        for first in range(1, 31, 3):
            await storage.events.append([event(run_id, seq) for seq in range(first, first + 3)])

    async def follow(run_id: str) -> list[int]:
        seen: list[int] = []
        while len(seen) < 30:
            found = await storage.events.list_after(run_id, seen[-1] if seen else 0)
            assert len(found) % 3 == 0
            seen += [one.seq for one in found]
            await asyncio.sleep(0.002)
        return seen

    followed = asyncio.gather(*(follow(one) for one in runs for _ in range(3)))
    await asyncio.gather(*(write(one) for one in runs))
    assert all(seen == list(range(1, 31)) for seen in await asyncio.wait_for(followed, 60))
