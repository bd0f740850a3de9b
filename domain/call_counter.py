"""Counter of a run's calls by tool, for the server's list of runs and for the page."""

from collections import Counter

from domain.event import CallFinished, CallStarted, Event
from domain.plan import StepResult


class CallCounter:
    """Counts the calls that were really made, from a run's events.

    A call does not count if the user did not allow it, if it lacked a value, if it never reached its host, or if its
    end was not emitted. A call that was repeated with other values counts each time.
    """

    def __init__(self) -> None:
        self.by_tool = Counter[str]()
        """Number of calls of each tool."""
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
                # A step whose call was repeated has several starts and one end: only the last call's result is known,
                # and each earlier one was made.
                started_count = self._started.pop((subtask, step), 0)
                calls_made = max(started_count, 1) if was_call_made(result) else started_count - 1
                if calls_made > 0:
                    self.by_tool[result.tool] += calls_made
            case _:
                return


def was_call_made(result: StepResult) -> bool:
    """Return whether a call that began reached its tool, whatever the tool answered."""
    return result.status not in ("skipped", "missing") and (result.outcome is None or result.attempts > 0)
