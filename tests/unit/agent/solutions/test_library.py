"""The library finds what serves a request, and counts what became of it."""

from collections.abc import Sequence
from typing import Literal

import pytest

from agent.solutions.evidence import MAX_NET_FAILURES, MAX_WRONG_REQUESTS
from agent.solutions.library import SolutionLibrary
from domain.errors import UnavailableError
from domain.program import ProgramPlan
from domain.solution import Solution
from graph.backends.in_memory import InMemoryPatterns, InMemorySolutions
from retriever.embedders.onnx_embedder import OnnxEmbedder
from retriever.index import Vectors
from tests.support.scholar_tools import COLLEAGUES, COUNT, PERSON, Catalogue, plan, solution
from wiring.optional_stores import UnavailableStore

ASKED = "Who are the colleagues of Tom Riddle?"
WHO, MANY = "Who are the colleagues of {name}?", "How many papers has {name} written?"


class Shelf:
    """A store of solutions, and the libraries of its owners."""

    def __init__(self) -> None:
        self.store = InMemorySolutions()
        self.index = InMemoryPatterns()
        self.catalogue = Catalogue()
        self.embedder = OnnxEmbedder()

    def of(self, owner: str = "") -> SolutionLibrary:
        """One owner's library."""
        return SolutionLibrary(self.store, self.index, self.embedder, owner, self.catalogue)

    async def near(self, owner: str) -> set[str]:
        """What an owner finds for two requests."""
        return {one.solution.id for text in (ASKED, MANY) for one in await self.of(owner).find_near(text, 5)}

    async def one(self, name: str) -> Solution:
        """A solution, whosever it is."""
        return (await self.store.get([name]))[name]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


async def test_the_nearest_comes_first_with_its_pattern(shelf: Shelf) -> None:
    colleagues, count = await shelf.of().add([solution(COLLEAGUES, WHO), solution(COUNT, MANY)])
    found = await shelf.of().find_near(ASKED, 5)
    assert (found[0].solution.id, found[0].pattern) == (colleagues, WHO)
    assert found[0].likeness > 0.95
    (first, *_) = await shelf.of().find_near("how many papers did Ann Lee write", 5)
    assert (first.solution.id, first.pattern) == (count, MANY)
    assert await shelf.of().find_near("Tom Riddle", 5) == []
    assert await shelf.of().find_near(ASKED, 0) == []


async def test_values_need_no_capitals_where_the_words_are_those_of_the_pattern(shelf: Shelf) -> None:
    await shelf.of().add([solution(COLLEAGUES, WHO)])
    (near,) = await shelf.of().find_near("who are the colleagues of tom riddle", 5)
    assert near.likeness > 0.5


async def test_what_is_kept_has_neither_values_nor_stubs(shelf: Shelf) -> None:
    given = solution(COLLEAGUES, WHO)
    program = given.plan.program.model_copy(update={"stubs": "async def searchPerson(): ..."})
    whole = ProgramPlan(program=program, inputs=given.plan.inputs, values={"name": "Tom Riddle"})
    (name,) = await shelf.of().add([given.model_copy(update={"plan": whole, "id": "mine"})])
    kept = await shelf.one(name)
    assert (kept.plan.values, kept.plan.program.stubs) == ({}, "")
    assert kept.fingerprints.keys() == set(kept.path)


async def test_the_same_program_under_other_names_is_a_further_pattern(shelf: Shelf) -> None:
    other = (
        COLLEAGUES.replace("people", "found").replace("one[", "x[").replace("for one", "for x").replace("=name", "=who")
    )
    (first,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    (second,) = await shelf.of().add([solution(other, "Name those who work with {who}", inputs=("who",), runs=("r2",))])
    assert first == second
    kept = await shelf.one(first)
    assert kept.patterns == (WHO, "Name those who work with {name}")
    assert kept.good == 1
    (near, *_) = await shelf.of().find_near("Name those who work with Tom Riddle", 5)
    assert near.pattern == "Name those who work with {name}"
    assert await shelf.store.count() == 1


async def test_an_owner_sees_the_shared_ones_and_the_own(shelf: Shelf) -> None:
    (shared,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    (own,) = await shelf.of("ann").add([solution(COUNT, MANY, owner="ann")])
    assert await shelf.near("ann") == {shared, own}
    assert await shelf.near("bob") == await shelf.near("") == {shared}
    assert await shelf.of("bob").get([own]) == {}
    assert [one.id for one in await shelf.of("bob").find_by_tools([PERSON])] == [shared]
    await shelf.of("bob").forget([own, shared])
    assert [one.id async for one in shelf.of("ann").iterate_all()] == sorted([own, shared])
    await shelf.of("ann").forget([own])
    assert [one.id async for one in shelf.of("ann").iterate_all()] == [shared]
    assert await shelf.near("ann") == {shared}


async def test_of_the_same_program_one_is_told(shelf: Shelf) -> None:
    await shelf.of().add([solution(COLLEAGUES, WHO)])
    (own,) = await shelf.of("ann").add([solution(COLLEAGUES, WHO, owner="ann")])
    assert [one.solution.id for one in await shelf.of("ann").find_near(ASKED, 5)] == [own]


async def test_a_run_counts_once_and_its_last_word_stands(shelf: Shelf) -> None:
    (name,) = await shelf.of("ann").add([solution(COLLEAGUES, WHO, owner="ann")])
    for good in (True, True):
        await shelf.of("ann").record_outcome(name, good=good, run="r1")
    assert ((await shelf.one(name)).good, (await shelf.one(name)).bad) == (1, 0)
    await shelf.of("ann").record_outcome(name, good=False, run="r1", wrong=ASKED)
    kept = await shelf.one(name)
    assert (kept.good, kept.bad, kept.wrong) == (0, 1, (ASKED,))
    await shelf.of("ann").record_outcome(name, good=True, run="r1", right=ASKED)
    kept = await shelf.one(name)
    assert (kept.good, kept.bad, kept.wrong) == (1, 0, ())
    await shelf.of("ann").record_outcome("unknown", good=True)


async def test_what_has_done_better_comes_first(shelf: Shelf) -> None:
    first, second = await shelf.of().add([solution(COLLEAGUES, WHO), solution(COUNT, WHO)])
    await shelf.of().record_outcome(first, good=False)
    assert [one.solution.id for one in await shelf.of().find_near(ASKED, 5)] == [second, first]


async def test_what_keeps_failing_is_suspended(shelf: Shelf) -> None:
    (name,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    for _ in range(MAX_NET_FAILURES):
        assert await shelf.of().find_near(ASKED, 5)
        await shelf.of().record_outcome(name, good=False)
    assert await shelf.of().find_near(ASKED, 5) == []
    assert (await shelf.one(name)).suspended == "it has failed 3 times, and served 0 times"


async def test_an_answer_that_was_wrong_is_not_given_again(shelf: Shelf) -> None:
    (name,) = await shelf.of("ann").add([solution(COLLEAGUES, WHO, MANY, owner="ann")])
    await shelf.of("ann").record_outcome(name, good=False, wrong=ASKED)
    assert await shelf.of("ann").find_near(ASKED, 5) == []
    assert await shelf.of("ann").find_near("who are the colleagues of Ann Lee", 5) == []
    assert [one.pattern for one in await shelf.of("ann").find_near("How many papers has Ann Lee written?", 5)] == [MANY]


async def test_what_is_wrong_for_too_many_requests_is_suspended(shelf: Shelf) -> None:
    (name,) = await shelf.of("ann").add([solution(COLLEAGUES, WHO)])
    for number in range(MAX_WRONG_REQUESTS):
        await shelf.of("ann").record_outcome(name, good=False, wrong=f"request {number}")
    await shelf.of("ann").reinstate(name)
    assert len((await shelf.one(name)).wrong) == MAX_WRONG_REQUESTS
    await shelf.of("ann").record_outcome(name, good=False, wrong="one more")
    kept = await shelf.one(name)
    assert (len(kept.wrong), kept.suspended) == (
        MAX_WRONG_REQUESTS,
        f"its answers to {MAX_WRONG_REQUESTS} requests were wrong",
    )


async def test_what_is_forgotten_while_it_is_embedded_leaves_no_vector(shelf: Shelf) -> None:
    (name,) = await shelf.of("ann").add_unembedded([solution(COLLEAGUES, WHO)])
    embed = shelf.embedder.embed

    async def forgotten_meanwhile(texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        await shelf.of("ann").forget([name])
        return await embed(texts, role)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shelf.embedder, "embed", forgotten_meanwhile)
        await shelf.of().embed()
    assert await shelf.index.count_patterns([name], shelf.embedder.identity) == {}


async def test_what_one_owner_says_is_wrong_of_a_shared_one_is_that_owners_alone(shelf: Shelf) -> None:
    (name,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    await shelf.of("ann").record_outcome(name, good=True, run="r1")
    await shelf.of("ann").record_outcome(name, good=False, run="r1", wrong=ASKED)
    assert await shelf.of("ann").find_near(ASKED, 5) == []
    assert [one.solution.id for one in await shelf.of("bob").find_near(ASKED, 5)] == [name]
    shared = await shelf.one(name)
    assert (shared.good, shared.bad, shared.wrong) == (0, 0, ())  # it has not served, and is not spoiled for all
    assert "r1" not in shared.model_dump_json()
    await shelf.of("ann").record_outcome(name, good=True, run="r1", right=ASKED)
    assert len(await shelf.of("ann").find_near(ASKED, 5)) == 1
    assert ((await shelf.one(name)).good, (await shelf.one(name)).bad) == (1, 0)


async def test_a_solution_whose_tool_is_gone_is_passed_over(shelf: Shelf) -> None:
    await shelf.of().add([solution(COLLEAGUES, WHO)])
    doc = shelf.catalogue.docs.pop(PERSON)
    assert await shelf.of().find_near(ASKED, 5) == []
    shelf.catalogue.docs[PERSON] = doc
    assert len(await shelf.of().find_near(ASKED, 5)) == 1


async def test_a_solution_whose_tool_has_drifted_waits_until_it_is_made_again(shelf: Shelf) -> None:
    (name,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    shelf.catalogue.docs[PERSON] = shelf.catalogue.docs[PERSON].model_copy(update={"method": "POST"})
    assert await shelf.of().find_near(ASKED, 5) == []
    assert (await shelf.one(name)).suspended == f"changed since it was checked: {PERSON}"
    await shelf.of().add([solution(COLLEAGUES, WHO)])
    assert len(await shelf.of().find_near(ASKED, 5)) == 1


async def test_what_was_never_tried_may_be_taken_once_a_run_was_served_by_it(shelf: Shelf) -> None:
    (name,) = await shelf.of().add([solution(COLLEAGUES, WHO, origin="mined", suspended="never tried")])
    assert await shelf.of().find_near(ASKED, 5) == []
    await shelf.of().add([solution(COLLEAGUES, WHO, origin="mined", suspended="never tried")])
    assert await shelf.of().find_near(ASKED, 5) == []
    await shelf.of().add([solution(COLLEAGUES, WHO, runs=("r1",))])
    assert [one.solution.id for one in await shelf.of().find_near(ASKED, 5)] == [name]


async def test_what_has_failed_too_often_stays_suspended_whoever_writes_it_again(shelf: Shelf) -> None:
    (name,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    for _ in range(MAX_NET_FAILURES + 1):
        await shelf.of().record_outcome(name, good=False)
    await shelf.of().add([solution(COLLEAGUES, WHO, runs=("r1",))])
    assert await shelf.of().find_near(ASKED, 5) == []


async def test_what_another_encoder_has_not_seen_is_embedded(shelf: Shelf) -> None:
    await shelf.store.put([solution(COLLEAGUES, WHO).model_copy(update={"id": "x"})])
    assert await shelf.of().find_near(ASKED, 5) == []
    assert await shelf.of().embed() == 1
    assert await shelf.of().embed() == 0
    assert len(await shelf.of().find_near(ASKED, 5)) == 1


async def test_a_text_that_is_no_program_is_only_itself(shelf: Shelf) -> None:
    broken = solution("this is (", WHO).model_copy(update={"plan": plan("this is (", "name")})
    first, second = await shelf.of().add([broken, broken])
    assert first == second
    assert len(await shelf.of().find_near(ASKED, 5)) == 1


async def test_what_cannot_be_found_yet_is_told(shelf: Shelf) -> None:
    await shelf.of().add([solution(COLLEAGUES, WHO)])
    given = solution(COUNT, MANY, owner="ann")
    await shelf.store.put([given.model_copy(update={"id": "x"})])
    assert await shelf.of().find_unembedded() == (2, ["x"])
    await shelf.of().embed()
    assert await shelf.of().find_unembedded() == (2, [])


async def test_what_is_out_of_reach_says_so() -> None:
    nowhere = UnavailableStore(UnavailableError("the disk is gone"))
    library = SolutionLibrary(nowhere, nowhere, OnnxEmbedder(), "ann", Catalogue())
    with pytest.raises(UnavailableError, match="the disk is gone"):
        await library.find_near(ASKED, 3)
    with pytest.raises(UnavailableError, match="the disk is gone"):
        await library.add([solution(COLLEAGUES, WHO)])
    with pytest.raises(UnavailableError, match="the disk is gone"):
        await library.record_outcome("x", good=True)
