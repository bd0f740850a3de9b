"""The protocol of a language model: messages to a reply, whole or streamed. No vendor's words in it."""

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
    """Tokens of one exchange. ``counted`` False: the endpoint gave none, and they are estimated at four characters each."""

    prompt: int
    completion: int
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. ``cut``: it was stopped by the bound on its length. ``called``: the calls of tools that it made instead of or besides
    saying something, as JSON ``[{"name": …, "arguments": …}]``; empty: none.
    """

    text: str
    usage: TokenUsage
    cut: bool = False
    called: str = ""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The JSON Schema of an answer, with a name that the endpoint sees. The prompt must describe it in words as well: not every
    endpoint takes schemas.
    """

    name: str
    json_schema: JsonObject


class ChatModel(Protocol):
    """A model at an endpoint. Retries are its own; what is raised is ``ModelUnavailableError`` only."""

    name: str
    endpoint: str

    async def complete(
        self, messages: Sequence[Message], form: AnswerForm | None = None, *, seconds: float | None = None
    ) -> Reply:
        """The whole reply, within ``seconds``, retries and waits included."""
        ...

    def stream(self, messages: Sequence[Message], *, seconds: float | None = None) -> AsyncIterator[str | Reply]:
        """The reply in pieces as they come; the last item is the whole ``Reply``. Nothing is retried after the first piece."""
        ...

    async def close(self) -> None: ...


def estimated(messages: Sequence[Message], answer: str) -> TokenUsage:
    """Four characters a token: what endpoints that report no usage are charged with."""
    return TokenUsage(sum(len(m.text) for m in messages) // 4 + 1, estimated_tokens(answer), counted=False)
