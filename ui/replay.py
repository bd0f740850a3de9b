"""A run that has ended, as it stood after each of its events."""

from collections.abc import Iterable
from datetime import datetime

from ui.run_state import ReadEvent, RunState, read_event
from ui.stream import Told


class Replay:
    """Each event is read once. A step forward folds one more of them; a step back folds all before it anew, which for a thousand takes some
    hundredths of a second.
    """

    def __init__(self, events: Iterable[Told]) -> None:
        self.events = [read_event(one) for one in events]
        self._story, self._folded = RunState(), 0

    def __len__(self) -> int:
        return len(self.events)

    def at(self, number: int) -> RunState:
        """The run after so many of its events; what was given before may have changed since."""
        if number < self._folded:
            self._story, self._folded = RunState(), 0
        for one in self.events[self._folded : number]:
            self._story.take(one)
        self._folded = number
        return self._story

    def event(self, number: int) -> ReadEvent:
        """The one that came last, of so many."""
        return self.events[number - 1]

    def seconds(self, number: int) -> float:
        """How long after the first it came."""
        began, now = self._time(range(len(self.events))), self._time(range(number - 1, -1, -1))
        return (now - began).total_seconds() if began and now else 0.0

    def _time(self, numbers: Iterable[int]) -> datetime | None:
        return next((at for one in numbers if (at := self.events[one].at)), None)
