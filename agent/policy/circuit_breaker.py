"""A circuit breaker: who keeps failing is left alone for a while. Shared by the runs of a process, one per endpoint."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Breaker:
    """Closed: all may ask. Open, after ``failures`` in a row or one that lasts: nobody for ``pause`` seconds. Then half open: one may
    ask per pause, whose success closes it.
    """

    failures: int = 3
    pause: float = 60.0
    clock: Callable[[], float] = time.monotonic
    reason: str = ""
    _in_a_row: int = field(default=0, init=False)
    _closed_until: float | None = field(default=None, init=False)

    @property
    def is_open(self) -> bool:
        """Whether it has opened and no success has closed it since."""
        return self._closed_until is not None

    def admits(self) -> bool:
        """Whether one may ask now. In the half-open state this takes the one place there is."""
        if self._closed_until is None:
            return True
        if self.clock() < self._closed_until:
            return False
        self._closed_until = self.clock() + self.pause
        return True

    def succeeded(self) -> None:
        """Who asked was answered."""
        self._in_a_row, self._closed_until, self.reason = 0, None, ""

    def failed(self, reason: str, *, at_once: bool) -> None:
        """Who asked was not answered. ``at_once``: asking again is no use, or costs too much, to wait for more failures."""
        self._in_a_row += 1
        self.reason = reason
        if at_once or self.is_open or self._in_a_row >= self.failures:
            self._closed_until = self.clock() + self.pause
