"""The list of an endpoint's models, whose names the settings may use."""

import asyncio
from typing import TYPE_CHECKING, Any, cast

from agent.llm.client.failures import Endpoint, of_error, of_status, unreadable
from agent.text import clean

if TYPE_CHECKING:
    from agent.llm.client.transport import Addresses

_MOST = 500
"""Models of a list that are read."""


async def listed_models(
    endpoint: Endpoint,
    *,
    timeout: float,  # noqa: ASYNC109
    use_environment: bool,
    addresses: "Addresses | None" = None,
) -> tuple[str, ...]:
    """Return the names under ``GET /models`` of the endpoint, sorted and made harmless.

    Not every endpoint lists its models.

    Raises:
        ModelUnavailableError: there is no such list, or nothing is at the address.
    """
    from agent.llm.client.transport import plain_client

    client = await asyncio.to_thread(
        plain_client, endpoint.key, timeout, use_environment=use_environment, addresses=addresses
    )
    async with client:
        try:
            answer = await client.get(f"{endpoint.url}/models")
        except Exception as error:
            raise of_error(endpoint, error) from error
    if answer.status_code != 200:
        raise of_status(endpoint, answer.status_code, answer.text[:500], answer.headers)
    try:
        data: Any = answer.json()["data"]
        names = [str(cast("dict[str, Any]", entry)["id"]) for entry in data[:_MOST]]
    except (ValueError, KeyError, TypeError) as error:
        raise unreadable(endpoint, f"the list of models is {endpoint.told(answer.text, 80)!r}") from error
    return tuple(sorted(clean(name, 120) for name in names))
