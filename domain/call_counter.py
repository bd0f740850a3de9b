"""Counts how often a run called each tool, for the server's list of runs and for the page."""

from collections import Counter

from domain.event import CallFinished, CallStarted, Event
from domain.plan import StepResult


class CallCounter:
    """Counts the calls that were really made, from a run's events.

    Calls that the user did not allow, that lacked a value, that were kept from their host, or whose end was never emitted do not count. A call
    that was repeated with other values counts each time.
    """

    def __init__(self) -> None:
        self.by_tool = Counter[str]()
        self._started = Counter[tuple[int, int]]()

    @property
    def count(self) -> int:
        """Number of calls of all tools."""
        return self.by_tool.total()

    def count_event(self, event: Event, subtask: int) -> None:
        """Count the next event of the run; events must come in order."""
        match event:
            case CallStarted(step=step):
                self._started[subtask, step] += 1
            case CallFinished(step=step, result=result):
                begun = self._started.pop((subtask, step), 0)
                calls_made = max(begun, 1) if is_made(result) else begun - 1
                if calls_made > 0:
                    self.by_tool[result.tool] += calls_made
            case _:
                return


def is_made(result: StepResult) -> bool:
    """Return whether a call that began reached its tool, whatever the tool answered."""
    return result.status not in ("skipped", "missing") and (result.outcome is None or result.attempts > 0)
