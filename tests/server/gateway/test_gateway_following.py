"""A run is followed to its last event; what comes after it keeps nobody waiting, and is waited for where all is to be over."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest

from domain.errors import UsageError
from domain.event import EventRecord, RunFinished, RunStarted
from server.gateway.following import Followed

END = RunFinished.model_validate({"outcome": "answered", "answer": "8", "usage": {}})


def record(seq: int, event: RunStarted | RunFinished) -> EventRecord:
    return EventRecord(run="a run", seq=seq, at=datetime.now(UTC), subtask=0, event=event)


async def unheard(_: int, words: str) -> None:
    raise AssertionError(words)


async def test_an_answer_waits_for_nothing_that_comes_after_it() -> None:
    tidied, may_end = asyncio.Event(), asyncio.Event()

    async def run() -> AsyncGenerator[EventRecord]:
        yield record(1, RunStarted(request="Where?", planner="program", policy="offline"))
        yield record(2, END)
        await may_end.wait()
        tidied.set()

    followed = Followed()
    name, transcript = await followed.to_its_end(run(), unheard)
    assert (name, transcript.end, tidied.is_set()) == ("a run", END, False)
    may_end.set()
    await followed.settled()
    assert tidied.is_set()


async def test_one_that_cannot_be_begun_says_why() -> None:
    async def run() -> AsyncGenerator[EventRecord]:
        raise UsageError("there is no such planner")
        yield record(1, END)

    with pytest.raises(UsageError, match="no such planner"):
        await Followed().to_its_end(run(), unheard)


async def test_one_that_is_given_up_is_ended_before_that_is_told() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def run() -> AsyncGenerator[EventRecord]:
        try:
            yield record(1, RunStarted(request="Where?", planner="program", policy="offline"))
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    following = asyncio.create_task(Followed().to_its_end(run(), unheard))
    await begun.wait()
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
    assert ended.is_set()
