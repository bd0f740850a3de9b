"""A stand-in for the server's routes about sources and keys: answers what it was given, and remembers what it was asked."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from pydantic import JsonValue, SecretStr

from domain.model import JsonObject
from ui.account import Account
from ui.client import Client
from ui.replies import LoggedIn, User

HOSTILE = "<img src=x onerror=alert(1)> **loud** [here](http://evil.example) :red[red] \u202egnp.exe"
DOCUMENT: JsonObject = {
    "id": "Custom/Harbour/find_ship",
    "api": "find_ship",
    "function": "find_ship",
    "method": "GET",
    "url": "http://127.0.0.1:9/ships",
    "description": "Find a ship by its name.",
    "parameters": [{"name": "name", "required": True}],
    "credentials": [{"secret": "harbour", "name": "X-Harbour-Key"}],
}
SOURCE: JsonObject = {
    "id": "s1",
    "name": "Harbour",
    "kind": "openapi",
    "address": "http://127.0.0.1:9/openapi.json",
    "author": "ada",
}


def tool(**changed: Any) -> JsonObject:
    """A tool of a source, with what is other than usual."""
    same: JsonObject = {
        "tool": "Custom/Harbour/find_ship",
        "function": "find_ship",
        "document": DOCUMENT,
        "original": DOCUMENT,
    }
    return same | changed


class Served:
    """``answers``: by method and path, the JSON or a function of what was sent. Everything else is answered with 404. ``answer``: answers all in
    their place.
    """

    def __init__(
        self,
        answers: Mapping[str, Any],
        role: str = "author",
        answer: Callable[[httpx.Request], httpx.Response] | None = None,
    ) -> None:
        self.asked: list[tuple[str, JsonValue]] = []
        self.answers = dict(answers)
        http = httpx.Client(base_url="http://server/api/v1", transport=httpx.MockTransport(answer or self._answer))
        ends = datetime.now(UTC) + timedelta(hours=1)
        user = User(id="u", name="ada", role=role)
        tokens = LoggedIn(access_token=SecretStr("a"), refresh_token=SecretStr("r"), access_expires_at=ends, user=user)
        self.client = Client(http, Account(http, tokens))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        key = f"{request.method} {request.url.path.removeprefix('/api/v1')}"
        sent = json.loads(request.content) if request.headers.get("content-type") == "application/json" else None
        if request.method != "GET":
            self.asked.append((key, sent))
        if key not in self.answers:
            return httpx.Response(404, json={"code": "not_found", "detail": f"nothing is at {key}"})
        answer: Any = self.answers[key]
        if callable(answer):
            answer = answer(sent)
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)
