"""A server that keeps one plan as a program, over the client's own road."""

from datetime import UTC, datetime, timedelta

import httpx

from domain.model import JsonObject
from ui.account import Account
from ui.client import Client
from ui.replies import LoggedIn
from ui.screens.draft import Draft


class KeptPlan:
    """``refuses``: the status that writing is answered with; 0: it does not answer at all."""

    def __init__(
        self, text: str, inputs: dict[str, JsonObject] | None = None, values: JsonObject | None = None
    ) -> None:
        self.version = 1
        self.program: JsonObject = {"text": text, "inputs": dict(inputs or {}), "values": values or {}}
        self.refuses: int | None = None
        self.written: list[JsonObject] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.refuses == 0:
            raise httpx.ConnectError("down", request=request)
        if request.method == "PUT":
            body = httpx.Response(200, content=request.content).json()
            self.written.append(body)
            if self.refuses or body["version"] != self.version:
                problem = {"title": "no", "status": self.refuses or 409, "detail": "it cannot be", "code": "refused"}
                return httpx.Response(self.refuses or 409, json=problem)
            self.program, self.version = body["program"], self.version + 1
        return httpx.Response(200, json={"version": self.version, "input": "q", "program": self.program})

    def draft(self) -> Draft:
        """A visit to it."""
        http = httpx.Client(transport=httpx.MockTransport(self), base_url="http://server/api/v1")
        until = datetime.now(UTC) + timedelta(hours=1)
        tokens = {"access_token": "a", "refresh_token": "r", "access_expires_at": until}
        logged_in = LoggedIn.model_validate(tokens | {"user": {"id": "u", "name": "ann"}})
        return Draft(Client(http, Account(http, logged_in)), "r")
