"""What every memory store promises. Test classes inherit this and give the fixture ``memories``, set up and empty."""

import asyncio
from datetime import UTC, datetime

from domain.memory import Memory, MemoryStore, make_memory_id
from domain.plan import Binding
from domain.tool import ToolId

ENCODER = "encoder 1"
PATH = (ToolId("c/s/a"), ToolId("c/s/b"))


def memory(pattern: str, owner: str = "", path: tuple[ToolId, ...] = PATH) -> Memory:
    """A memory whose request is its pattern."""
    name = make_memory_id(owner, pattern, path)
    bindings = ((Binding(parameter="q", origin="request", reference="Oslo"),), ())
    at = datetime(2026, 5, 4, tzinfo=UTC)
    return Memory(id=name, owner=owner, request=pattern, pattern=pattern, path=path, bindings=bindings, at=at)


async def filled(memories: MemoryStore, *kept: tuple[Memory, list[float]]) -> None:
    """Add memories with their vectors."""
    await memories.add([one for one, _ in kept])
    await memories.put_vectors(ENCODER, [(one.id, vector) for one, vector in kept])


class MemoryStoreContract:
    async def test_what_is_kept_comes_back_as_it_was(self, memories: MemoryStore) -> None:
        one = memory("weather in <name>")
        await filled(memories, (one, [1.0, 0.0]))
        (found,) = await memories.find_similar([1.0, 0.0], ENCODER, "", 5)
        assert found.memory == one
        assert abs(found.similarity - 1) < 1e-6

    async def test_the_most_similar_come_first(self, memories: MemoryStore) -> None:
        first, second, third = (memory(name) for name in "xyz")
        await filled(memories, (third, [0.0, 1.0]), (first, [1.0, 0.0]), (second, [0.8, 0.6]))
        found = await memories.find_similar([1.0, 0.0], ENCODER, "", 2)
        assert [one.memory.id for one in found] == [first.id, second.id]
        assert await memories.find_similar([1.0, 0.0], ENCODER, "", 0) == []

    async def test_an_owner_sees_the_shared_ones_and_the_own(self, memories: MemoryStore) -> None:
        shared, own, other = memory("x"), memory("x", "ann"), memory("x", "bob")
        await filled(memories, *((one, [1.0, 0.0]) for one in (shared, own, other)))
        assert {one.memory.owner for one in await memories.find_similar([1.0, 0.0], ENCODER, "ann", 9)} == {"", "ann"}
        assert {one.memory.owner for one in await memories.find_similar([1.0, 0.0], ENCODER, "", 9)} == {""}

    async def test_kept_twice_is_kept_once_with_what_was_said_of_it(self, memories: MemoryStore) -> None:
        one = memory("x")
        await filled(memories, (one, [1.0, 0.0]))
        await memories.judge(one.id, good=False)
        await memories.add([one])
        assert await memories.count() == 1
        (found,) = await memories.find_similar([1.0, 0.0], ENCODER, "", 1)
        assert (found.memory.good, found.memory.bad) == (0, 1)

    async def test_the_first_of_two_ways_to_ask_for_the_same_is_kept(self, memories: MemoryStore) -> None:
        """In one batch or in two: a store that is built again holds the same."""
        first = memory("weather in <name>")
        again = first.model_copy(update={"request": "weather in Bergen"})
        await memories.add([first, again, memory("x"), again])
        await memories.add([again])
        assert {one.id: one.request async for one in memories.stream_all()}[first.id] == first.request
        assert await memories.count() == 2

    async def test_ties_are_broken_by_id_whatever_the_order_of_arrival(self, memories: MemoryStore) -> None:
        """More of them than are asked for, and than are read at once."""
        tied = [memory("x", path=(ToolId(f"c/s/{number}"),)) for number in range(60)]
        best = memory("y")
        ids = sorted(one.id for one in tied)
        start = len(tied) // 2
        await filled(memories, *((one, [0.6, 0.8]) for one in tied[start:]), (best, [1.0, 0.0]))
        await filled(memories, *((one, [0.6, 0.8]) for one in tied[:start]))
        for limit in (1, 2, 9, 59):
            found = [one.memory.id for one in await memories.find_similar([1.0, 0.0], ENCODER, "", limit)]
            assert found == [best.id, *ids][:limit]

    async def test_nothing_of_its_own_is_of_an_earlier_version(self, memories: MemoryStore) -> None:
        await memories.add([memory('the "program":{ of <name>'), memory("program")])
        assert await memories.list_legacy(5) == []
        await memories.drop_programs([memory("program").id, "unknown"])
        assert await memories.count() == 2

    async def test_judgements_at_once_all_count(self, memories: MemoryStore) -> None:
        one = memory("x").model_copy(update={"good": 2})
        await filled(memories, (one, [1.0, 0.0]))
        await asyncio.gather(*(memories.judge(one.id, good=n % 3 > 0) for n in range(30)))
        await memories.judge("unknown", good=True)
        (found,) = [one async for one in memories.stream_all()]
        assert (found.good, found.bad) == (22, 10)

    async def test_a_judgement_with_a_key_counts_once(self, memories: MemoryStore) -> None:
        one, other = memory("x"), memory("y")
        await filled(memories, (one, [1.0, 0.0]), (other, [0.8, 0.6]))
        await asyncio.gather(*(memories.judge(one.id, good=True, key=f"run {n % 3}") for n in range(12)))
        await memories.judge(other.id, good=False, key="run 0")
        await memories.judge("unknown", good=True, key="run 0")
        found = {kept.id: (kept.good, kept.bad) async for kept in memories.stream_all()}
        assert found == {one.id: (3, 0), other.id: (0, 1)}

    async def test_paths_of_a_tool_that_is_another_now_are_judged_anew(self, memories: MemoryStore) -> None:
        kept, moved = memory("x", path=PATH[:1]), memory("y", "ann").model_copy(update={"good": 2})
        await filled(memories, (kept, [1.0, 0.0]), (moved, [0.8, 0.6]))
        for one in (kept, moved):
            await memories.judge(one.id, good=False)
        for _ in range(2):
            await memories.reset_judgements([PATH[1], ToolId("c/s/unknown")])
        found = {one.memory.id: one.memory for one in await memories.find_similar([1.0, 0.0], ENCODER, "ann", 5)}
        assert (found[kept.id].good, found[kept.id].bad) == (0, 1)
        assert found[moved.id] == moved.model_copy(update={"good": 0})
        await memories.judge(moved.id, good=True)
        assert {one.id: (one.good, one.bad) async for one in memories.stream_all()}[moved.id] == (1, 0)

    async def test_what_an_encoder_has_not_seen(self, memories: MemoryStore) -> None:
        one, other = memory("x"), memory("y")
        await filled(memories, (one, [1.0, 0.0]))
        await memories.add([other])
        assert [m.id for m in await memories.list_without_vector(ENCODER, 9)] == [other.id]
        assert len(await memories.list_without_vector("encoder 2", 9)) == 2
        assert len(await memories.list_without_vector("encoder 2", 1)) == 1
        assert await memories.find_similar([1.0, 0.0], "encoder 2", "", 9) == []

    async def test_all_are_streamed_in_the_order_of_ids(self, memories: MemoryStore) -> None:
        kept = sorted((memory(str(n), "ann" if n % 2 else "") for n in range(1203)), key=lambda one: one.id)
        await memories.add(kept)
        await memories.judge(kept[-1].id, good=True)
        kept[-1] = kept[-1].model_copy(update={"good": 1})
        assert [one async for one in memories.stream_all()] == kept
        assert await anext(memories.stream_all()) == kept[0]

    async def test_every_memory_is_seen_once_by_each_encoder(self, memories: MemoryStore) -> None:
        kept = {one.id: one for one in (memory(str(n)) for n in range(30))}
        await memories.add(list(kept.values()))
        for encoder in ("encoder 1", "encoder 2"):
            seen: list[str] = []
            while batch := await memories.list_without_vector(encoder, 7):
                assert all(kept[one.id] == one for one in batch)
                await memories.put_vectors(encoder, [(one.id, [1.0, 0.0]) for one in batch])
                seen += [one.id for one in batch]
            assert sorted(seen) == sorted(kept)

    async def test_what_is_removed_is_gone_and_may_come_again(self, memories: MemoryStore) -> None:
        one = memory("x")
        await filled(memories, (one, [1.0, 0.0]))
        await memories.judge(one.id, good=False)
        await memories.remove([one.id, "unknown"])
        await memories.remove([])
        assert await memories.count() == 0
        assert await memories.find_similar([1.0, 0.0], ENCODER, "", 9) == []
        await filled(memories, (one, [1.0, 0.0]))
        assert [found.memory for found in await memories.find_similar([1.0, 0.0], ENCODER, "", 9)] == [one]

    async def test_a_vector_of_a_memory_that_is_no_more_is_dropped(self, memories: MemoryStore) -> None:
        await memories.put_vectors(ENCODER, [("gone", [1.0, 0.0])])
        assert await memories.find_similar([1.0, 0.0], ENCODER, "", 9) == []

    async def test_set_up_and_closed_twice(self, memories: MemoryStore) -> None:
        await memories.setup()
        await memories.close()
        await memories.close()
