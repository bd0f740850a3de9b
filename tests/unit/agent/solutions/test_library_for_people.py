"""What people do with the library: shared by one, doubted by several, taken up again after a check."""

from agent.solutions.library import MIN_DOUBTING_OWNERS
from tests.support.scholar_tools import COLLEAGUES, PERSON, solution
from tests.unit.agent.solutions.test_library import ASKED, WHO, Shelf


async def test_what_is_shared_tells_nothing_of_its_owner() -> None:
    shelf = Shelf()
    (name,) = await shelf.of("ann").add([solution(COLLEAGUES, WHO, owner="ann")])
    await shelf.of("ann").record_outcome(name, good=True, run="r1")
    assert await shelf.of("bob").find_near(ASKED, 5) == []
    shared = await shelf.of("ann").share(name)
    one = await shelf.one(shared)
    assert (one.owner, one.runs, one.verdicts, one.good) == ("", (), {}, 1)
    assert await shelf.near("bob") == {shared} == await shelf.near("ann")
    assert await shelf.of("ann").share(shared) == shared


async def test_what_was_wrong_for_its_owner_stays_so_when_it_is_shared() -> None:
    shelf = Shelf()
    (name,) = await shelf.of("ann").add([solution(COLLEAGUES, WHO, owner="ann")])
    await shelf.of("ann").record_outcome(name, good=False, run="r1", wrong=ASKED)
    await shelf.of("ann").share(name)
    assert await shelf.of("ann").find_near(ASKED, 5) == []
    assert len(await shelf.of("bob").find_near(ASKED, 5)) == 1


async def test_a_shared_one_is_suspended_when_several_users_doubt_it_and_not_when_one_does_so_often() -> None:
    shelf = Shelf()
    (name,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    for number in range(2 * MIN_DOUBTING_OWNERS):
        await shelf.of("ann").record_outcome(name, good=False, run=f"r{number}", wrong=ASKED)
    assert len(await shelf.of("bob").find_near(ASKED, 5)) == 1
    for number in range(MIN_DOUBTING_OWNERS - 1):
        await shelf.of(f"user {number}").record_outcome(name, good=False, run=f"s{number}", wrong=ASKED)
    assert await shelf.of("bob").find_near(ASKED, 5) == []
    assert (await shelf.one(name)).suspended == f"{MIN_DOUBTING_OWNERS} users have said that an answer of it was wrong"


async def test_what_has_drifted_is_taken_up_with_its_tools_as_they_are() -> None:
    shelf = Shelf()
    (name,) = await shelf.of().add([solution(COLLEAGUES, WHO)])
    await shelf.of().record_outcome(name, good=False, run="r1")
    shelf.catalogue.docs[PERSON] = shelf.catalogue.docs[PERSON].model_copy(update={"method": "POST"})
    assert await shelf.of().find_near(ASKED, 5) == []
    await shelf.of().reinstate(name)
    one = await shelf.one(name)
    assert (one.suspended, one.good, one.bad) == ("", 0, 0)
    assert len(await shelf.of().find_near(ASKED, 5)) == 1
