"""Attempts at one call to a model: exponential waits with jitter, ``Retry-After`` obeyed, all within the time that is left."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_any,
    stop_before_delay,
)
from tenacity.stop import stop_base
from tenacity.wait import wait_random_exponential

from agent.llm.client.failures import RETRIED
from domain.errors import ModelUnavailableError

T = TypeVar("T")
LONGEST_WAIT = 30.0
"""Seconds; an endpoint that asks for more is not waited for."""

_JITTERED = wait_random_exponential(multiplier=0.5, max=8.0)


async def attempts(
    call: Callable[[], Awaitable[T]], most: int, seconds: float, sleep: Callable[[float], Awaitable[None]]
) -> T:
    """The first success; else the last error. No wait is begun that ends after ``seconds`` from now."""
    retrying = AsyncRetrying(
        stop=stop_any(stop_after_attempt(most), stop_before_delay(seconds), _AskedTooMuch()),
        wait=_wait,
        retry=retry_if_exception(lambda e: isinstance(e, ModelUnavailableError) and _curable(e)),
        sleep=sleep,
        reraise=True,
    )
    return await retrying(call)


def _curable(error: ModelUnavailableError) -> bool:
    return error.kind in RETRIED and not error.lasting


def _asked(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return (error.retry_after or 0.0) if isinstance(error, ModelUnavailableError) else 0.0


class _AskedTooMuch(stop_base):
    def __call__(self, retry_state: RetryCallState) -> bool:
        return _asked(retry_state) > LONGEST_WAIT


def _wait(state: RetryCallState) -> float:
    return max(_JITTERED(state), _asked(state))
