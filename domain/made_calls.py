"""How often a run called which tool, counted as its events come: once for the server that lists runs and for the page that tells of them."""

from collections import Counter

from domain.event import CallFinished, CallStarted, Event
from domain.plan import StepResult


class MadeCalls:
    """Calls that were really made. One that its user did not allow, that lacked a value, or that was kept from its host is none, nor is one whose
    end was not told; one that was made again with other values counts as often as it was made.
    """

    def __init__(self) -> None:
        self.by_tool = Counter[str]()
        self._begun = Counter[tuple[int, int]]()

    @property
    def count(self) -> int:
        """All of them."""
        return self.by_tool.total()

    def take(self, event: Event, subtask: int) -> None:
        """One more event of the run, in their order."""
        match event:
            case CallStarted(step=step):
                self._begun[subtask, step] += 1
            case CallFinished(step=step, result=result):
                begun = self._begun.pop((subtask, step), 0)
                made = max(begun, 1) if is_made(result) else begun - 1
                if made > 0:
                    self.by_tool[result.tool] += made
            case _:
                return


def is_made(result: StepResult) -> bool:
    """Whether a call that was begun came as far as its tool, whatever that answered."""
    return result.status not in ("skipped", "missing") and (result.outcome is None or result.attempts > 0)
