"""The executor that makes calls, put together from the settings."""

from typing import TYPE_CHECKING

from agent.execution.secrets import Secrets
from wiring.settings import Settings

if TYPE_CHECKING:
    from agent.execution.http import HttpExecutor


def http_executor(settings: Settings, secrets: Secrets) -> "HttpExecutor":
    """A new one, with whose secrets it is given; who makes it closes it."""
    from agent.execution.http import HttpExecutor, HttpParameters

    parameters = HttpParameters(
        timeout=settings.call_timeout,
        response_limit=settings.response_limit,
        attempts=settings.call_attempts,
        allow_hosts=settings.allow_hosts,
        host_concurrency=settings.host_concurrency,
        host_rate=settings.host_rate,
        host_pause=settings.host_pause,
    )
    return HttpExecutor(parameters, secrets=secrets)
