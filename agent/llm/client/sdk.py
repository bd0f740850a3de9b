"""One attempt at a call through OpenAI's SDK: bounded in time, with every failure translated."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from agent.llm.client.failures import Endpoint, of_error, of_status
from domain.errors import ModelUnavailableError

T = TypeVar("T")


async def guarded(endpoint: Endpoint, call: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Return the result of ``call``.

    Raises:
        ModelUnavailableError: the call failed, or took longer than ``seconds``.
    """
    try:
        async with asyncio.timeout(seconds):
            return await call()
    except ModelUnavailableError:
        raise
    except Exception as error:
        raise _failure(endpoint, error) from error


def said(error: Any) -> str:
    """Return the endpoint's own message from the usual places; ``error`` is the SDK's ``APIStatusError``."""
    body = error.body
    if isinstance(body, dict):
        held = cast("dict[str, Any]", body)
        told = held.get("message") or held.get("detail") or held.get("error")
        return " ".join(str(part) for part in (told, held.get("code")) if part)
    return str(body or error.message)


def _failure(endpoint: Endpoint, error: Exception) -> ModelUnavailableError:
    from openai import APIStatusError

    if isinstance(error, APIStatusError) and error.status_code != 200:
        return of_status(endpoint, error.status_code, said(error), error.response.headers)
    return of_error(endpoint, error)
