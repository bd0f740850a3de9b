"""Whoever uses a client, asked through it: the protocol's elicitation, where the client has it."""

from collections.abc import Sequence
from typing import Any

from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError
from mcp.types import ClientCapabilities, ElicitationCapability, ElicitResult, RequestId

from agent.user_questions import MAX_ANSWER_CHARS

_YES_OR_NO: dict[str, Any] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow it"}},
    "required": ["allow"],
}


class ClientPerson:
    """The person at one session's client, for one of its requests. What a client cannot ask, or answers with an error, is not answered."""

    def __init__(self, session: ServerSession, request: RequestId) -> None:
        self._session = session
        self._request = request
        self.notes: list[str] = []

    @property
    def there(self) -> bool:
        """Whether the client said that it can ask."""
        return self._session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability()))

    async def allows(self, told: str) -> bool:
        """Only an accepted form with a yes in it is a yes."""
        result = await self._asked(told, _YES_OR_NO)
        return result is not None and (result.content or {}).get("allow") is True

    async def answers(self, told: str, choices: Sequence[str] = ()) -> str | None:
        """What stands in the form that they sent, if anything."""
        proposed = "".join(f"\n{number}. {choice}" for number, choice in enumerate(choices, start=1))
        answer: dict[str, Any] = {"type": "string", "title": "Answer", "maxLength": MAX_ANSWER_CHARS}
        form: dict[str, Any] = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        result = await self._asked(told + proposed, form)
        words = str((result.content or {}).get("answer") or "").strip() if result is not None else ""
        if words.isdecimal() and 1 <= int(words) <= len(choices):
            return choices[int(words) - 1]
        return words[:MAX_ANSWER_CHARS] or None

    async def _asked(self, told: str, form: dict[str, Any]) -> ElicitResult | None:
        """The form as it was accepted; None where it was not."""
        if not self.there:
            return None
        try:
            result = await self._session.elicit_form(told, form, self._request)
        except McpError:
            return None
        return result if result.action == "accept" else None
