"""What the running application answered, call by call: an agent that is measured from outside is judged by what it heard."""

from dataclasses import dataclass

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

KEPT = 1_000
"""Answers, the latest; older ones are forgotten."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of an operation. ``body``: its text."""

    operation: str
    status: int
    body: str


class AnswersKept:
    """Around an application: each answer of an operation is in its state before the caller has the end of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, body = 0, bytearray()

        async def sent(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            body.extend(message.get("body", b""))
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                _keep(scope, status, body.decode(errors="replace"))
            await send(message)

        await self._app(scope, receive, sent)


def _keep(scope: Scope, status: int, body: str) -> None:
    """Switches are no operations: they have no ``operationId``."""
    operation = getattr(scope.get("route"), "operation_id", None)
    app: FastAPI = scope["app"]
    if operation:
        answers: list[Answered] = app.state.kept.answers
        answers.append(Answered(str(operation), status, body))
        del answers[:-KEPT]
