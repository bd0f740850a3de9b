"""The events of several runs in one write: what fails of one run is that run's alone."""

import asyncio
from collections.abc import Sequence

import pytest

from domain.errors import ConflictError
from server.runs.event_journal import EventBatcher
from server.storage.run_records import StoredEvent


class Rows:
    """``taken``: runs whose events are refused."""

    def __init__(self, *taken: str) -> None:
        self.taken = taken
        self.writes: list[list[str]] = []

    async def append(self, events: Sequence[StoredEvent]) -> None:
        await asyncio.sleep(0.001)
        if any(event.run_id in self.taken for event in events):
            raise ConflictError("it is another worker's")
        self.writes.append([f"{event.run_id}{event.seq}" for event in events])


def events(run: str, *numbers: int) -> list[StoredEvent]:
    return [StoredEvent(run_id=run, seq=number, kind="answer.delta", body="{}") for number in numbers]


async def test_what_comes_while_one_is_written_is_written_together() -> None:
    rows = Rows()
    gathering = EventBatcher(rows)
    first = asyncio.create_task(gathering.append(events("a", 1)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.gather(first, *(gathering.append(events(run, 1, 2)) for run in "bcd"))
    assert rows.writes == [["a1"], ["b1", "b2", "c1", "c2", "d1", "d2"]]


async def test_a_run_that_is_refused_takes_no_other_with_it() -> None:
    rows = Rows("b")
    gathering = EventBatcher(rows)
    found = await asyncio.gather(*(gathering.append(events(run, 1)) for run in "abc"), return_exceptions=True)
    assert [type(one) for one in found] == [type(None), ConflictError, type(None)]
    assert sorted(rows.writes) == [["a1"], ["c1"]]
    with pytest.raises(ConflictError):
        await gathering.append(events("b", 2))
    await gathering.append(events("a", 2))  # it goes on


async def test_who_waits_may_be_cancelled_and_it_is_written_all_the_same() -> None:
    rows = Rows()
    gathering = EventBatcher(rows)
    task = asyncio.create_task(gathering.append(events("a", 1)))
    await asyncio.sleep(0)
    task.cancel()
    await gathering.append(events("a", 2))
    assert rows.writes == [["a1", "a2"]] or rows.writes == [["a1"], ["a2"]]
