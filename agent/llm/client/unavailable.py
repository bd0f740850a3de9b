"""Stands in for a model that was chosen and may not be asked any more; no other model is asked in its place."""

from collections.abc import AsyncIterator, Sequence

from agent.llm.client.chat import AnswerForm, ChatMessage, ModelReply
from domain.errors import ModelUnavailableError


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
