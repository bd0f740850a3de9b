"""The protocol of a chat model: messages to a reply, whole or streamed, independent of any vendor."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent.text import estimated_tokens
from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one exchange."""

    prompt: int
    completion: int
    counted: bool = True
    """False if the endpoint reported none: then they are estimated at four characters each."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply."""

    text: str
    usage: TokenUsage
    cut: bool = False
    """The reply was stopped by the limit on its length."""
    called: str = ""
    """Tool calls that the model made instead of or besides writing text; empty if none.

    As JSON: ``[{"name": …, "arguments": …}]``.
    """


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The JSON Schema of an answer.

    The prompt must describe it in words as well, since not every endpoint takes schemas.
    """

    name: str
    """Name of the schema that the endpoint sees."""
    json_schema: JsonObject


class ChatModel(Protocol):
    """A model at an endpoint; it retries by itself and raises only ``ModelUnavailableError``."""

    name: str
    endpoint: str

    async def complete(
        self, messages: Sequence[Message], form: AnswerForm | None = None, *, seconds: float | None = None
    ) -> Reply:
        """Return the whole reply within ``seconds``, retries and waits included."""
        ...

    def stream(self, messages: Sequence[Message], *, seconds: float | None = None) -> AsyncIterator[str | Reply]:
        """Yield the reply in pieces as they come; the last item is the whole ``Reply``.

        Nothing is retried after the first piece.
        """
        ...

    async def close(self) -> None: ...


def estimated(messages: Sequence[Message], answer: str) -> TokenUsage:
    """Estimate the usage at four characters a token, for endpoints that report none."""
    return TokenUsage(sum(len(m.text) for m in messages) // 4 + 1, estimated_tokens(answer), counted=False)
