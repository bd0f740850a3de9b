"""What a training tells while it goes on."""

from typing import Protocol


class Progress(Protocol):
    """``begin`` says where it stands at first, ``step`` comes after each step, ``tell`` is for what happens between."""

    def begin(self, done: int, total: int) -> None: ...

    def step(self, done: int, total: int, loss: float) -> None: ...

    def tell(self, text: str) -> None: ...
