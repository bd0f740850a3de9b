"""Runs without an agent: so many events, and an end. What a worker does with a run is the same whatever the run does."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime

from domain.event import AnswerDelta, Event, EventRecord, RunFinished, RunOutcome
from domain.usage import Usage
from server.runs.run_control import RunControl
from server.storage.runs import Run


def record(run_id: str, seq: int, event: Event) -> EventRecord:
    return EventRecord(run=run_id, seq=seq, at=datetime(2026, 3, 1, tzinfo=UTC), event=event)


def end(outcome: RunOutcome = "answered", answer: str = "done") -> RunFinished:
    return RunFinished(outcome=outcome, answer=answer, usage=Usage(decisions=3))


def delta(seq: int) -> Event:
    return AnswerDelta(text=str(seq))


class Scripted:
    """Each run tells ``deltas`` events, then its end. Before the event of number ``stop`` it waits until ``go`` is set."""

    def __init__(self, deltas: int = 5, stop: int = 0, tell: Callable[[int], Event] = delta) -> None:
        self.deltas = deltas
        self.tell = tell
        self.stop = stop
        self.go = asyncio.Event()
        self.begun: list[tuple[str, int]] = []
        self.most = self._now = 0

    async def begin(self, run: Run, past: Sequence[EventRecord], control: RunControl) -> AsyncGenerator[EventRecord]:
        assert control.is_owned()
        self.begun.append((run.id, len(past)))
        return self._events(run.id, past[-1].seq if past else 0)

    async def _events(self, run_id: str, last: int) -> AsyncGenerator[EventRecord]:
        seq = last + 1
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            for seq in range(last + 1, self.deltas + 1):
                if seq == self.stop:
                    await self.go.wait()
                yield record(run_id, seq, self.tell(seq))
        except asyncio.CancelledError:
            yield record(run_id, seq, end("cancelled", "so far"))
            raise
        finally:
            self._now -= 1
        yield record(run_id, self.deltas + 1, end())


async def until(holds: Callable[[], Awaitable[bool]], seconds: float = 10) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110  # rows of a database tell nobody that they have changed
            await asyncio.sleep(0.01)
