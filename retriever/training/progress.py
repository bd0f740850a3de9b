"""What a training tells while it goes on."""

from typing import Protocol


class Progress(Protocol):
    """``step`` after each step, ``tell`` for what happens between."""

    def step(self, done: int, total: int, loss: float) -> None: ...

    def tell(self, text: str) -> None: ...
