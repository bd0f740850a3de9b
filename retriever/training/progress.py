"""Progress reports of a training."""

from typing import Protocol


class TrainingProgress(Protocol):
    """Receives the progress of a training, for example to show it."""

    def begin(self, done: int, total: int) -> None:
        """Report the steps done before this run, and the total."""
        ...

    def step(self, done: int, total: int, loss: float) -> None:
        """Report a step."""
        ...

    def report(self, text: str) -> None:
        """Report an event between steps."""
        ...
