"""Protocol of a small HTTP client for JSON, for requests other than tool calls, such as those of OAuth.

It is apart from its implementation because only ``wiring`` may import ``agent.execution.http``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class JsonHttpResponse:
    """Response to one request."""

    status: int
    body: JsonObject | None
    """None if the body is not a JSON object."""
    challenge: str = ""
    """Header ``WWW-Authenticate``."""


class JsonHttpClient(Protocol):
    """Sends one request without retries.

    Each method raises ``NoAnswerError`` if no usable answer comes, and ``ForbiddenAddressError`` before anything is
    sent if the address may not be called.
    """

    async def get(self, url: str) -> JsonHttpResponse:
        """Return the response to a GET."""
        ...

    async def post_form(self, url: str, form: Mapping[str, str], headers: Mapping[str, str], secrets: Iterable[str]) -> JsonHttpResponse:  # fmt: skip
        """Send a form; ``secrets`` are values that no log and no error may show."""
        ...

    async def post_json(self, url: str, body: JsonObject, headers: Mapping[str, str] | None = None) -> JsonHttpResponse:
        """Send JSON, with further ``headers`` that hold no secrets."""
        ...
