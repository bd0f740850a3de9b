"""The list of an endpoint's models, whose names the settings may use."""

import asyncio
from typing import TYPE_CHECKING, Any, cast

from agent.llm.client.failures import ModelEndpoint, build_unreadable_error, translate_error, translate_status
from agent.text import clean_text

if TYPE_CHECKING:
    from agent.llm.client.transport import AddressResolver

_MAX_MODELS = 500
"""Models of a list that are read."""


async def list_models(
    endpoint: ModelEndpoint,
    *,
    timeout: float,  # noqa: ASYNC109
    use_environment: bool,
    addresses: "AddressResolver | None" = None,
) -> tuple[str, ...]:
    """Return the names under ``GET /models`` of the endpoint, sorted and made harmless.

    Not every endpoint lists its models.

    Raises:
        ModelUnavailableError: there is no such list, or nothing is at the address.
    """
    from agent.llm.client.transport import build_http_client

    client = await asyncio.to_thread(
        build_http_client, endpoint.key, timeout, use_environment=use_environment, addresses=addresses
    )
    async with client:
        try:
            response = await client.get(f"{endpoint.url}/models")
        except Exception as error:
            raise translate_error(endpoint, error) from error
    if response.status_code != 200:
        raise translate_status(endpoint, response.status_code, response.text[:500], response.headers)
    try:
        data: Any = response.json()["data"]
        names = [str(cast("dict[str, Any]", entry)["id"]) for entry in data[:_MAX_MODELS]]
    except (ValueError, KeyError, TypeError) as error:
        raise build_unreadable_error(
            endpoint, f"the list of models is {endpoint.quote(response.text, 80)!r}"
        ) from error
    return tuple(sorted(clean_text(name, 120) for name in names))
