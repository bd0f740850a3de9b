"""Small questions and answers of protocols beside calls: how a key is obtained. Who asks does not know how it is sent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class Answer:
    """``body``: the JSON object that was answered; None where it is none. ``challenge``: its ``WWW-Authenticate``."""

    status: int
    body: JsonObject | None
    challenge: str = ""


class Exchange(Protocol):
    """Asks once. Each raises ``NoAnswerError``, and ``ForbiddenAddressError`` before anything is sent."""

    async def get(self, url: str) -> Answer:
        """What is at an address."""
        ...

    async def post_form(self, url: str, form: Mapping[str, str], headers: Mapping[str, str], secrets: Iterable[str]) -> Answer:  # fmt: skip
        """Send a form. ``secrets``: what neither a log nor an error shows of it."""
        ...

    async def post_json(self, url: str, body: JsonObject, headers: Mapping[str, str] | None = None) -> Answer:
        """Send JSON. ``headers``: further ones, without secrets."""
        ...
