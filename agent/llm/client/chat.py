"""The protocol of a chat model, independent of any vendor, and the stand-in for a model that may not be asked."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent.text import estimate_tokens
from domain.errors import ModelUnavailableError
from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class ModelTokenUsage:
    """Tokens of one exchange."""

    prompt: int
    completion: int
    is_counted: bool = True
    """False if the endpoint reported none: then they are estimated at four characters each."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's reply."""

    text: str
    usage: ModelTokenUsage
    cut: bool = False
    """The reply was stopped by the limit on its length."""
    tool_calls: str = ""
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
    """Name of the model, as the endpoint calls it."""
    endpoint: str
    """URL of the endpoint."""

    async def complete(
        self, messages: Sequence[ChatMessage], form: AnswerForm | None = None, *, seconds: float | None = None
    ) -> ModelReply:
        """Return the whole reply within ``seconds``, retries and waits included."""
        ...

    def stream(
        self, messages: Sequence[ChatMessage], *, seconds: float | None = None
    ) -> AsyncIterator[str | ModelReply]:
        """Yield the reply in pieces as they come; the last item is the whole ``ModelReply``.

        Nothing is retried after the first piece.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def estimate_usage(messages: Sequence[ChatMessage], answer: str) -> ModelTokenUsage:
    """Estimate the usage at four characters a token, for endpoints that report none."""
    return ModelTokenUsage(sum(len(m.text) for m in messages) // 4 + 1, estimate_tokens(answer), is_counted=False)


class UnavailableModel:
    """Stand-in for a model that was chosen and may not be asked any more: all its calls fail.

    No other model is asked in its place; ``reason`` is shown to the user, whose run is decided by rules.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.endpoint = ""
        self._reason = reason

    async def complete(
        self,
        messages: Sequence[ChatMessage],  # noqa: ARG002  the protocol's
        form: AnswerForm | None = None,  # noqa: ARG002
        *,
        seconds: float | None = None,  # noqa: ARG002
    ) -> ModelReply:
        """Raise ``ModelUnavailableError``."""
        raise self._build_error()

    async def stream(
        self,
        messages: Sequence[ChatMessage],  # noqa: ARG002  the protocol's
        *,
        seconds: float | None = None,  # noqa: ARG002
    ) -> AsyncIterator[str | ModelReply]:
        """Raise ``ModelUnavailableError``."""
        raise self._build_error()
        yield ""  # never reached; it makes this an async generator

    async def close(self) -> None:
        """Do nothing."""

    def _build_error(self) -> ModelUnavailableError:
        return ModelUnavailableError(self._reason, "model", lasting=True)
