"""A model client against the local server, waits noted and not waited."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.llm.client.chat import AnswerForm, ChatMessage, ModelReply
from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from tests.models.openai_replies import Respond
from tests.models.openai_server import EVERYTHING, ModelServer, model_server

HELLO = (ChatMessage("system", "Be brief."), ChatMessage("user", "Hello?"))
FORM = AnswerForm(
    "choice",
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
)
KEY = "sk-local-1234567890"
WAITS: list[float] = []


async def no_wait(seconds: float) -> None:
    WAITS.append(seconds)


@asynccontextmanager
async def talking(
    respond: Respond,
    *,
    supports: frozenset[str] = EVERYTHING,
    timeout: float = 5.0,  # noqa: ASYNC109  # the setting under test
    attempts: int = 3,
    url: str = "",
    name: str = "rules",
) -> AsyncGenerator[tuple[LangchainModel, ModelServer], None]:
    """The client and the server; everything is closed at the end."""
    WAITS.clear()
    async with model_server(respond, supports=supports, api_key=KEY) as server:
        parameters = ModelParameters(url or server.url, name, KEY, timeout=timeout, attempts=attempts)
        model = LangchainModel(parameters, sleep=no_wait)
        try:
            yield model, server
        finally:
            await model.close()


async def streamed(model: LangchainModel, seconds: float | None = None) -> tuple[str, ModelReply]:
    """The pieces of a stream as one text, and the reply at its end."""
    pieces = [piece async for piece in model.stream(HELLO, seconds=seconds)]
    end = pieces.pop()
    assert isinstance(end, ModelReply)
    return "".join(piece for piece in pieces if isinstance(piece, str)), end
