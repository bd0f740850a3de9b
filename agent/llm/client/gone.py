"""In place of a model that was chosen and may not be asked any more: it says why, and nobody else is asked in its stead."""

from collections.abc import AsyncIterator, Sequence

from agent.llm.client.chat import AnswerForm, Message, Reply
from domain.errors import ModelUnavailableError


class GoneModel:
    """``why``: in words, for who reads why rules decide."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.endpoint = ""
        self._why = why

    async def complete(
        self,
        messages: Sequence[Message],  # noqa: ARG002  the protocol's
        form: AnswerForm | None = None,  # noqa: ARG002
        *,
        seconds: float | None = None,  # noqa: ARG002
    ) -> Reply:
        """Nothing is asked."""
        raise self._error()

    async def stream(
        self,
        messages: Sequence[Message],  # noqa: ARG002  the protocol's
        *,
        seconds: float | None = None,  # noqa: ARG002
    ) -> AsyncIterator[str | Reply]:
        """Nothing is asked."""
        raise self._error()
        yield ""  # what makes it a stream

    async def close(self) -> None:
        """There is nothing to close."""

    def _error(self) -> ModelUnavailableError:
        return ModelUnavailableError(self._why, "model", lasting=True)
