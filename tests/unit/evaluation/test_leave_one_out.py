import pytest

from domain.tool import FINISH
from domain.trajectory import Trajectory
from evaluation.leave_one_out import LeaveOneOutWalks
from retriever.experience import TransitionCount
from tests.support.tool_samples import BagEmbedder
from tests.unit.evaluation.test_tuning import NAMES, trajectory

RAIN, WIND, RATES = (NAMES.resolve(name).id for name in ("rain_for_sky", "wind_for_sky", "rates_for_bank"))


@pytest.fixture
def walked() -> LeaveOneOutWalks:
    paths: list[Trajectory] = [
        trajectory("will it rain", "rain_for_sky", "wind_for_sky"),
        trajectory(" will it rain ", "rain_for_sky", "rates_for_bank"),
        trajectory("money and rain", "rain_for_sky", "rates_for_bank"),
        trajectory("given up", "wind_for_sky", finish="give_up"),
    ]
    return LeaveOneOutWalks(paths, NAMES)


async def test_all_accepted_paths_count(walked: LeaveOneOutWalks) -> None:
    found = await walked.find_transitions([RAIN])
    assert set(found) == {TransitionCount(RAIN, WIND, 1), TransitionCount(RAIN, RATES, 2)}
    assert await walked.find_transitions([WIND]) == [
        TransitionCount(source, target, 1) for source, target in sorted([(RAIN, WIND), (WIND, FINISH)])
    ]


async def test_the_paths_of_the_request_itself_do_not(walked: LeaveOneOutWalks) -> None:
    walked.exclude_request("will it rain")
    assert await walked.find_transitions([RAIN]) == [TransitionCount(RAIN, RATES, 1)]
    assert await walked.find_transitions([WIND]) == []
    walked.exclude_request("Will it rain?!")
    assert await walked.find_transitions([WIND]) == [], "nearly the request"
    walked.exclude_request("something else altogether")
    assert len(await walked.find_transitions([WIND])) == 2


async def test_precedents_are_others_requests_best_first(walked: LeaveOneOutWalks) -> None:
    embedder = BagEmbedder()
    (asked,) = await embedder.embed(["will it rain"], "query")
    assert not await walked.find_precedents(asked, 5), "not embedded"
    await walked.embed(embedder)
    best, second, third = await walked.find_precedents(asked, 5)
    assert {best.tools, second.tools} == {(RAIN, WIND), (RAIN, RATES)}
    assert best.similarity == pytest.approx(1.0)
    assert third.tools == (RAIN, RATES)
    assert third.similarity < second.similarity
    walked.exclude_request("will it rain")
    assert await walked.find_precedents(asked, 5) == [third]
    assert len(await walked.find_precedents(asked, 0)) == 0


async def test_nothing_is_beside_the_end(walked: LeaveOneOutWalks) -> None:
    assert await walked.find_transitions([FINISH]) == []
