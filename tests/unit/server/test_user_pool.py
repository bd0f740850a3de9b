"""What is lent to runs: one thing a user, closed when nobody needs it, never while somebody has it."""

import asyncio

from server.runs.user_pool import UserPool


class Thing:
    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = False

    async def close(self) -> None:
        self.closed = True


class Maker:
    def __init__(self) -> None:
        self.made: list[Thing] = []

    async def __call__(self, user_id: str) -> Thing:
        await asyncio.sleep(0)
        self.made.append(Thing(user_id))
        return self.made[-1]


async def use(pool: UserPool[Thing], user: str) -> Thing:
    async with pool.borrow(user) as thing:
        await asyncio.sleep(0)
        assert not thing.closed
        return thing


async def test_runs_of_one_user_share_one_thing() -> None:
    maker = Maker()
    pool = UserPool(maker)
    first, second, other = await asyncio.gather(use(pool, "ada"), use(pool, "ada"), use(pool, "eve"))
    assert first is second is await use(pool, "ada")
    assert other is not first
    assert [thing.name for thing in maker.made] == ["ada", "eve"]


async def test_only_so_many_are_kept_and_the_oldest_go_first() -> None:
    maker = Maker()
    pool = UserPool(maker, max_idle=2)
    for user in ("a", "b", "a", "c", "d"):
        await use(pool, user)
    assert len(pool) == 2
    assert [thing.name for thing in maker.made if not thing.closed] == ["c", "d"]


async def test_what_somebody_has_is_never_closed() -> None:
    maker = Maker()
    pool = UserPool(maker, max_idle=0, idle_seconds=0)
    async with pool.borrow("ada") as thing:
        for number in range(5):
            await use(pool, f"user {number}")
        async with pool.borrow("ada") as again:
            assert again is thing
        assert not thing.closed
        assert all(one.closed for one in maker.made[1:])
    assert thing.closed
    assert len(pool) == 0


async def test_what_lies_too_long_is_closed() -> None:
    maker = Maker()
    pool = UserPool(maker, idle_seconds=0.01)
    await use(pool, "ada")
    await asyncio.sleep(0.02)
    await use(pool, "eve")
    assert [thing.closed for thing in maker.made] == [True, False]
    await pool.close()
    assert [thing.closed for thing in maker.made] == [True, True]


async def test_things_that_take_time_to_close_are_closed_once_and_never_lent_meanwhile() -> None:
    class Slow(Thing):
        async def close(self) -> None:
            assert not self.closed
            self.closed = True
            await asyncio.sleep(0.01)

    made: list[Slow] = []

    async def make(user_id: str) -> Slow:
        made.append(Slow(user_id))
        return made[-1]

    pool: UserPool[Slow] = UserPool(make, max_idle=1)

    async def used(user: str) -> None:
        async with pool.borrow(user) as thing:
            await asyncio.sleep(0.005)
            assert not thing.closed

    await asyncio.gather(*(used(f"u{number % 7}") for number in range(40)))
    await asyncio.gather(*(used(f"u{number % 5}") for number in range(40)))
    assert len(pool) == 1
