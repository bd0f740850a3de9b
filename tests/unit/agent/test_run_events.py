"""What a run tells and what its follower is given: in order, one at a time, and to the end whatever ends it."""

import asyncio

import pytest

from agent.run_events import RunEventStream, Work
from agent.scheduler import closing
from domain.event import AnswerDelta, EventRecord


def said(records: list[EventRecord]) -> list[str]:
    return [record.event.text for record in records if isinstance(record.event, AnswerDelta)]


async def test_events_are_numbered_and_kept_in_order() -> None:
    events = RunEventStream("r")

    async def work() -> None:
        for text in "abc":
            await events.emit(1, AnswerDelta(text=text))

    followed = [record async for record in events.follow(work)]
    assert [record.seq for record in followed] == [1, 2, 3]
    assert said(followed) == ["a", "b", "c"]
    assert events.records == followed
    going_on = RunEventStream("r", followed)
    assert [record.seq async for record in going_on.follow(lambda: going_on.emit(0, AnswerDelta(text="d")))] == [4]


async def test_the_run_goes_on_when_the_follower_asks_for_the_next_event() -> None:
    events, done = RunEventStream("r"), list[str]()

    async def work() -> None:
        await events.emit(1, AnswerDelta(text="a call is about to be made"))
        done.append("the call")

    async with closing(events.follow(work)) as records:
        await anext(records)
        for _ in range(5):
            await asyncio.sleep(0)
        assert done == []
        assert await anext(records, None) is None
    assert done == ["the call"]


async def test_an_error_comes_after_what_was_told() -> None:
    events = RunEventStream("r")

    async def work() -> None:
        await events.emit(0, AnswerDelta(text="a"))
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        _ = [record async for record in events.follow(work)]
    assert said(events.records) == ["a"]


@pytest.mark.parametrize("rounds", range(1, 9))
async def test_a_follower_that_is_cancelled_hears_how_the_run_ends(rounds: int) -> None:
    events, heard = RunEventStream("r"), list[str]()

    async def work() -> None:
        try:
            while True:
                await asyncio.sleep(0)
                await events.emit(0, AnswerDelta(text="going on"))
        except asyncio.CancelledError:
            await events.emit(0, AnswerDelta(text="ended in order"))
            heard.append("cancelled")
            raise

    async def follow() -> None:
        async with closing(events.follow(work)) as records:
            async for record in records:
                heard.extend(said([record]))

    task = asyncio.create_task(follow())
    for _ in range(rounds):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    if rounds > 2:
        assert heard[-2:] == ["ended in order", "cancelled"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_follower_that_leaves_ends_the_run() -> None:
    events, ended = RunEventStream("r"), list[str]()

    async def work() -> None:
        try:
            await events.emit(0, AnswerDelta(text="a"))
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            ended.append("in order")
            await events.emit(0, AnswerDelta(text="which nobody hears"))

    async with closing(events.follow(work)) as records:
        await anext(records)
    assert ended == ["in order"]


async def test_the_work_is_done_as_its_process_wants_it() -> None:
    events, doing = RunEventStream("r"), list[str]()

    async def in_turn(work: Work) -> None:
        doing.append("begins")
        await work()
        doing.append("has ended")

    followed = [record async for record in events.follow(lambda: events.emit(0, AnswerDelta(text="a")), in_turn)]
    assert said(followed) == ["a"]
    assert doing == ["begins", "has ended"]
