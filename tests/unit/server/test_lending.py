"""What is lent to runs: one thing a user, closed when nobody needs it, never while somebody has it."""

import asyncio

from server.runs.lending import Lending


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


async def use(lending: Lending[Thing], user: str) -> Thing:
    async with lending.lent(user) as thing:
        await asyncio.sleep(0)
        assert not thing.closed
        return thing


async def test_runs_of_one_user_share_one_thing() -> None:
    maker = Maker()
    lending = Lending(maker)
    first, second, other = await asyncio.gather(use(lending, "ada"), use(lending, "ada"), use(lending, "eve"))
    assert first is second is await use(lending, "ada")
    assert other is not first
    assert [thing.name for thing in maker.made] == ["ada", "eve"]


async def test_only_so_many_are_kept_and_the_oldest_go_first() -> None:
    maker = Maker()
    lending = Lending(maker, most=2)
    for user in ("a", "b", "a", "c", "d"):
        await use(lending, user)
    assert len(lending) == 2
    assert [thing.name for thing in maker.made if not thing.closed] == ["c", "d"]


async def test_what_somebody_has_is_never_closed() -> None:
    maker = Maker()
    lending = Lending(maker, most=0, seconds=0)
    async with lending.lent("ada") as thing:
        for number in range(5):
            await use(lending, f"user {number}")
        async with lending.lent("ada") as again:
            assert again is thing
        assert not thing.closed
        assert all(one.closed for one in maker.made[1:])
    assert thing.closed
    assert len(lending) == 0


async def test_what_lies_too_long_is_closed() -> None:
    maker = Maker()
    lending = Lending(maker, seconds=0.01)
    await use(lending, "ada")
    await asyncio.sleep(0.02)
    await use(lending, "eve")
    assert [thing.closed for thing in maker.made] == [True, False]
    await lending.close()
    assert [thing.closed for thing in maker.made] == [True, True]
