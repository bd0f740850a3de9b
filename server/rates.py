"""How fast a user may ask: a token bucket for each, in this process."""

import time
from collections.abc import Callable

from domain.errors import OverLimitError

_MOST = 10_000
"""Users that are remembered; beyond that, who has not asked for a while is forgotten."""


class Rates:
    """So many requests ``per_minute``, all of them at once if need be; 0: any number."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    @property
    def remembered(self) -> int:
        """Of how many users it knows that they have asked."""
        return len(self._buckets)

    def left(self, user_id: str) -> float:
        """How many requests this user may make now."""
        at = self._clock()
        count, since = self._buckets.get(user_id, (self.per_minute, at))
        return min(float(self.per_minute), count + (at - since) * self.per_minute / 60)

    def take(self, user_id: str) -> None:
        """Count a request. ``OverLimitError``: too many."""
        if not self.per_minute:
            return
        left = self.left(user_id)
        if left < 1:
            wait = (1 - left) * 60 / self.per_minute
            raise OverLimitError(f"more than {self.per_minute:,} requests a minute; wait, and ask more slowly", wait)
        if user_id not in self._buckets and len(self._buckets) >= _MOST:
            self._buckets = {one: bucket for one, bucket in self._buckets.items() if self.left(one) < self.per_minute}
        self._buckets[user_id] = (left - 1, self._clock())
