"""Stands in for a model that was chosen and may not be asked any more; no other model is asked in its place."""

from collections.abc import AsyncIterator, Sequence

from agent.llm.client.chat import AnswerForm, Message, Reply
from domain.errors import ModelUnavailableError


class GoneModel:
    """A model whose calls all fail; ``why`` is shown to the user whose run is decided by rules."""

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
        """Raise ``ModelUnavailableError``."""
        raise self._error()

    async def stream(
        self,
        messages: Sequence[Message],  # noqa: ARG002  the protocol's
        *,
        seconds: float | None = None,  # noqa: ARG002
    ) -> AsyncIterator[str | Reply]:
        """Raise ``ModelUnavailableError``."""
        raise self._error()
        yield ""  # never reached; it makes this an async generator

    async def close(self) -> None:
        """Do nothing."""

    def _error(self) -> ModelUnavailableError:
        return ModelUnavailableError(self._why, "model", lasting=True)
