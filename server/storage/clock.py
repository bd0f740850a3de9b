"""The time, given from outside so that tests need not wait."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)
