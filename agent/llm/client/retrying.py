"""Retries of a call to a model: exponential waits with jitter or as ``Retry-After`` asks, within the time left."""

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

from agent.llm.client.failures import RETRIED_FAILURES
from domain.errors import ModelUnavailableError

T = TypeVar("T")
MAX_WAIT = 30.0
"""Seconds; an endpoint that asks for a longer wait is not retried."""

_JITTERED = wait_random_exponential(multiplier=0.5, max=8.0)


async def retry_call(
    call: Callable[[], Awaitable[T]], max_attempts: int, seconds: float, sleep: Callable[[float], Awaitable[None]]
) -> T:
    """Return the first success, or raise the last error.

    No wait begins that would end later than ``seconds`` from now.
    """
    retrying = AsyncRetrying(
        stop=stop_any(stop_after_attempt(max_attempts), stop_before_delay(seconds), _StopOnLongWait()),
        wait=_compute_wait,
        retry=retry_if_exception(lambda e: isinstance(e, ModelUnavailableError) and _is_retryable(e)),
        sleep=sleep,
        reraise=True,
    )
    return await retrying(call)


def _is_retryable(error: ModelUnavailableError) -> bool:
    return error.kind in RETRIED_FAILURES and not error.lasting


def _get_retry_after(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return (error.retry_after or 0.0) if isinstance(error, ModelUnavailableError) else 0.0


class _StopOnLongWait(stop_base):
    """Stops when the endpoint asks for a longer wait than ``MAX_WAIT``."""

    def __call__(self, retry_state: RetryCallState) -> bool:
        return _get_retry_after(retry_state) > MAX_WAIT


def _compute_wait(state: RetryCallState) -> float:
    return max(_JITTERED(state), _get_retry_after(state))
