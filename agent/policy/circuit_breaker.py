"""A circuit breaker, which stops calls to an endpoint that keeps failing. There is one per endpoint and process."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class CircuitBreaker:
    """Circuit breaker with the usual three states.

    Closed: every call is allowed. Open: none, until the pause is over. Half open: one call per pause, whose success
    closes the breaker.
    """

    failures: int = 3
    """Failures in a row that open it."""
    pause: float = 60.0
    """Seconds for which it stays open."""
    clock: Callable[[], float] = time.monotonic
    """Returns the time in seconds."""
    reason: str = ""
    """The last failure, in words; empty after a success."""
    _consecutive_failures: int = field(default=0, init=False)
    _open_until: float | None = field(default=None, init=False)
    """Time at which it becomes half open; None while it is closed."""

    @property
    def is_open(self) -> bool:
        """Return whether it has opened and no success has closed it since."""
        return self._open_until is not None

    def allow_request(self) -> bool:
        """Return whether a call may be made now; in the half-open state only the first caller is allowed."""
        if self._open_until is None:
            return True
        if self.clock() < self._open_until:
            return False
        # Half open: push the time on, so that other calls wait for the outcome of this one.
        self._open_until = self.clock() + self.pause
        return True

    def record_success(self) -> None:
        """Record a success, which closes the breaker."""
        self._consecutive_failures, self._open_until, self.reason = 0, None, ""

    def record_failure(self, reason: str, *, at_once: bool) -> None:
        """Record a failure.

        ``at_once`` opens the breaker without waiting for more failures: a further call would be useless or too costly.
        """
        self._consecutive_failures += 1
        self.reason = reason
        if at_once or self.is_open or self._consecutive_failures >= self.failures:
            self._open_until = self.clock() + self.pause
