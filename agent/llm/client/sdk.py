"""One attempt at a call through OpenAI's SDK: bounded in time, with every failure translated."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from agent.llm.client.failures import ModelEndpoint, translate_error, translate_status
from domain.errors import ModelUnavailableError

T = TypeVar("T")


async def call_guarded(endpoint: ModelEndpoint, call: Callable[[], Awaitable[T]], seconds: float) -> T:
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
        raise _translate_failure(endpoint, error) from error


def extract_message(error: Any) -> str:
    """Return the endpoint's own message from the usual places; ``error`` is the SDK's ``APIStatusError``."""
    body = error.body
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        message = fields.get("message") or fields.get("detail") or fields.get("error")
        return " ".join(str(part) for part in (message, fields.get("code")) if part)
    return str(body or error.message)


def _translate_failure(endpoint: ModelEndpoint, error: Exception) -> ModelUnavailableError:
    from openai import APIStatusError

    if isinstance(error, APIStatusError) and error.status_code != 200:
        return translate_status(endpoint, error.status_code, extract_message(error), error.response.headers)
    return translate_error(endpoint, error)
