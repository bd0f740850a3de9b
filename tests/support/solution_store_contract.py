"""What every store of solutions and every index of patterns promises. Test classes inherit these and give the fixtures, set up and empty."""

import asyncio
from datetime import UTC, datetime

import pytest

from domain.program import Program, ProgramPlan
from domain.solution import PatternIndex, Solution, SolutionStore
from domain.tool import ToolId

ENCODER = "encoder 1"
PATH = (ToolId("c/s/a"), ToolId("c/s/b"))


def solution(name: str, owner: str = "", path: tuple[ToolId, ...] = PATH) -> Solution:
    """A solution whose every field says something."""
    program = Program(text=f"await a(q=name)  # {name}", tools={"a": PATH[0]}, arguments={"a": {"q": "q"}})
    return Solution(
        id=f"{name}.{owner}" if owner else name,
        owner=owner,
        plan=ProgramPlan(program=program, inputs={"name": {"type": "string", "default": None}}),
        patterns=("Who is {name}?", "谁是{name}"),
        path=path,
        origin="run",
        outputs=("id",),
        fingerprints=dict.fromkeys(path, "f"),
        good=2,
        bad=1,
        wrong=("Who is nobody?",),
        suspended="it failed",
        runs=("r1",),
        verdicts={"r1": True},
        at=datetime(2026, 5, 4, tzinfo=UTC),
    )


def once_more(_: str, there: Solution | None) -> Solution | None:
    """One more success."""
    return there.model_copy(update={"good": there.good + 1}) if there else None


class SolutionStoreContract:
    async def test_what_is_put_comes_back_as_it_was(self, solutions: SolutionStore) -> None:
        one, other = solution("x"), solution("y", "ann")
        await solutions.put([one, other])
        assert await solutions.get([other.id, "unknown", one.id]) == {other.id: other, one.id: one}
        assert await solutions.count() == 2

    async def test_what_is_put_again_takes_its_place(self, solutions: SolutionStore) -> None:
        one = solution("x")
        await solutions.put([one])
        changed = one.model_copy(update={"patterns": ("y",), "path": PATH[:1], "suspended": ""})
        await solutions.put([changed])
        assert await solutions.get([one.id]) == {one.id: changed}
        assert await solutions.list_by_tools([PATH[1]]) == []
        assert await solutions.list_by_tools([PATH[0]]) == [changed]

    async def test_changes_at_once_all_count(self, solutions: SolutionStore) -> None:
        one, other = solution("x"), solution("y")
        await solutions.put([one, other])
        await asyncio.gather(*(solutions.change([one.id, other.id, "unknown"], once_more) for _ in range(20)))
        assert {name: kept.good for name, kept in (await solutions.get([one.id, other.id])).items()} == {
            "x": 22,
            "y": 22,
        }
        assert await solutions.count() == 2

    async def test_a_change_may_make_what_is_not_there(self, solutions: SolutionStore) -> None:
        def made(name: str, there: Solution | None) -> Solution | None:
            return once_more(name, there) or solution(name)

        written = await asyncio.gather(*(solutions.change(["x"], made) for _ in range(5)))
        assert sorted(one["x"].good for one in written) == [2, 3, 4, 5, 6]
        assert (await solutions.get(["x"]))["x"].good == 6

    async def test_a_change_that_fails_changes_nothing(self, solutions: SolutionStore) -> None:
        await solutions.put([solution("x"), solution("y")])

        def broken(name: str, there: Solution | None) -> Solution | None:
            if name == "y":
                raise KeyError(name)
            return once_more(name, there)

        with pytest.raises(KeyError):
            await solutions.change(["x", "y"], broken)
        assert (await solutions.get(["x"]))["x"] == solution("x")

    async def test_the_same_program_of_several_owners(self, solutions: SolutionStore) -> None:
        mine, theirs, shared = solution("x", "ann"), solution("x", "bob"), solution("x")
        await solutions.put([theirs, solution("y"), mine, shared])
        assert await solutions.list_by_program("x") == [shared, mine, theirs]
        assert await solutions.list_by_program("z") == []

    async def test_those_that_call_a_tool(self, solutions: SolutionStore) -> None:
        both, first = solution("x"), solution("y", path=PATH[:1])
        await solutions.put([first, both])
        assert await solutions.list_by_tools(PATH) == [both, first]
        assert await solutions.list_by_tools([PATH[1]]) == [both]
        assert await solutions.list_by_tools([]) == []

    async def test_all_are_streamed_in_the_order_of_ids(self, solutions: SolutionStore) -> None:
        kept = sorted((solution(str(n), "ann" if n % 2 else "") for n in range(1203)), key=lambda one: one.id)
        await solutions.put(kept)
        assert [one async for one in solutions.stream_all()] == kept
        assert await anext(solutions.stream_all()) == kept[0]

    async def test_what_is_removed_is_gone(self, solutions: SolutionStore) -> None:
        await solutions.put([solution("x"), solution("y")])
        await solutions.remove(["x", "unknown"])
        await solutions.remove([])
        assert await solutions.get(["x"]) == {}
        assert [one.id for one in await solutions.list_by_tools(PATH)] == ["y"]
        await solutions.put([])
        assert await solutions.change([], once_more) == {}

    async def test_set_up_and_closed_twice(self, solutions: SolutionStore) -> None:
        await solutions.setup()
        await solutions.close()
        await solutions.close()


class PatternIndexContract:
    async def test_the_most_similar_come_first(self, patterns: PatternIndex) -> None:
        await patterns.put(ENCODER, "", "x", [[0.0, 1.0], [1.0, 0.0]])
        await patterns.put(ENCODER, "", "y", [[0.8, 0.6]])
        found = await patterns.find_similar([1.0, 0.0], ENCODER, "", 2)
        assert [(one.solution, one.number) for one in found] == [("x", 1), ("y", 0)]
        assert abs(found[0].similarity - 1) < 1e-3
        assert abs(found[1].similarity - 0.8) < 1e-3
        assert await patterns.find_similar([1.0, 0.0], ENCODER, "", 0) == []
        assert await patterns.find_similar([1.0, 0.0], "encoder 2", "", 5) == []

    async def test_an_owner_sees_the_shared_ones_and_the_own(self, patterns: PatternIndex) -> None:
        for owner in ("", "ann", "bob"):
            await patterns.put(ENCODER, owner, f"x.{owner}", [[1.0, 0.0]])
        assert {one.solution for one in await patterns.find_similar([1.0, 0.0], ENCODER, "ann", 9)} == {"x.", "x.ann"}
        assert {one.solution for one in await patterns.find_similar([1.0, 0.0], ENCODER, "", 9)} == {"x."}
        assert {one.solution for one in await patterns.find_similar([1.0, 0.0], ENCODER, "eve", 9)} == {"x."}

    async def test_an_owner_is_served_behind_many_of_others(self, patterns: PatternIndex) -> None:
        for number in range(40):
            await patterns.put(ENCODER, "bob", str(number), [[1.0, 0.0]])
        await patterns.put(ENCODER, "ann", "mine", [[0.6, 0.8]])
        assert [one.solution for one in await patterns.find_similar([1.0, 0.0], ENCODER, "ann", 2)] == ["mine"]

    async def test_what_is_put_again_takes_the_place_of_all(self, patterns: PatternIndex) -> None:
        await patterns.put(ENCODER, "", "x", [[0.0, 1.0], [1.0, 0.0]])
        assert len(await patterns.find_similar([1.0, 0.0], ENCODER, "", 9)) == 2
        await patterns.put(ENCODER, "", "x", [[0.0, 1.0], [0.6, 0.8], [1.0, 0.0]])
        assert [one.number for one in await patterns.find_similar([1.0, 0.0], ENCODER, "", 9)] == [2, 1, 0]
        await patterns.put(ENCODER, "", "x", [[1.0, 0.0]])
        assert [one.number for one in await patterns.find_similar([1.0, 0.0], ENCODER, "", 9)] == [0]
        await patterns.put(ENCODER, "", "x", [])
        assert await patterns.find_similar([1.0, 0.0], ENCODER, "", 9) == []

    async def test_what_changed_often_crowds_nothing_out(self, patterns: PatternIndex) -> None:
        await patterns.put(ENCODER, "", "y", [[0.8, 0.6]])
        for number in range(30):
            await patterns.put(ENCODER, "", "x", [[1.0, 0.0], [0.0, 1.0]] if number % 2 else [[0.0, 1.0], [1.0, 0.0]])
            await patterns.find_similar([1.0, 0.0], ENCODER, "", 2)
        assert [one.solution for one in await patterns.find_similar([1.0, 0.0], ENCODER, "", 2)] == ["x", "y"]

    async def test_what_an_encoder_has_seen(self, patterns: PatternIndex) -> None:
        await patterns.put(ENCODER, "", "x", [[0.0, 1.0], [1.0, 0.0]])
        await patterns.put(ENCODER, "ann", "y", [[0.0, 1.0]])
        assert await patterns.count_patterns(["x", "y", "z"], ENCODER) == {"x": 2, "y": 1}
        assert await patterns.count_patterns(["x"], "encoder 2") == {}
        assert await patterns.count_patterns([], ENCODER) == {}

    async def test_each_encoder_has_vectors_of_its_own(self, patterns: PatternIndex) -> None:
        await patterns.put(ENCODER, "", "x", [[0.0, 1.0]])
        await patterns.put("encoder 2", "", "x", [[1.0, 0.0, 0.0]])
        assert [one.similarity for one in await patterns.find_similar([1.0, 0.0, 0.0], "encoder 2", "", 9)] == [1.0]
        assert [round(one.similarity, 5) for one in await patterns.find_similar([1.0, 0.0], ENCODER, "", 9)] == [0.0]

    async def test_what_is_removed_is_gone_and_may_come_again(self, patterns: PatternIndex) -> None:
        for encoder in (ENCODER, "encoder 2"):
            await patterns.put(encoder, "", "x", [[1.0, 0.0], [0.0, 1.0]])
            await patterns.put(encoder, "", "y", [[1.0, 0.0]])
            await patterns.find_similar([1.0, 0.0], encoder, "", 5)
        await patterns.remove(["x", "unknown"])
        await patterns.remove([])
        for encoder in (ENCODER, "encoder 2"):
            assert [one.solution for one in await patterns.find_similar([1.0, 0.0], encoder, "", 5)] == ["y"]
        assert await patterns.count_patterns(["x"], ENCODER) == {}
        await patterns.put(ENCODER, "", "x", [[1.0, 0.0]])
        assert [one.solution for one in await patterns.find_similar([1.0, 0.0], ENCODER, "", 5)] == ["x", "y"]

    async def test_the_index_is_set_up_and_closed_twice(self, patterns: PatternIndex) -> None:
        await patterns.setup()
        await patterns.close()
        await patterns.close()
