"""A chat model at any OpenAI-compatible URL, through LangChain; the SDK's retries, proxies and tracing are off."""

import asyncio
import json
import math
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agent.llm.client.chat import AnswerForm, Message, Reply, TokenUsage, estimated
from agent.llm.client.dialect import Dialect, Structured
from agent.llm.client.failures import Endpoint, of_error, unreadable
from agent.llm.client.retrying import attempts
from agent.llm.client.sdk import guarded, said

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_openai import ChatOpenAI

    from agent.llm.client.transport import Addresses

T = TypeVar("T")
_CONCESSIONS = 6
"""Times that one request may be rewritten because the endpoint does not know a part of it."""

_FORM_REFUSALS = frozenset({400, 422, 500, 501})
"""HTTP statuses with which endpoints refuse a part of a request that they do not know."""


@dataclass(frozen=True, slots=True)
class ModelParameters:
    """Address of a model and how to call it."""

    url: str
    name: str
    api_key: str = ""
    timeout: float = 60.0
    """Seconds for one attempt; while streaming, between two pieces."""
    attempts: int = 3
    """Attempts of one call, the first included."""
    temperature: float | None = 0.0
    """None for the endpoint's own; ``top_p`` and ``top_k`` likewise."""
    max_tokens: int | None = 1_024
    structured: Structured = "auto"
    use_environment: bool = False
    """Use the proxies and certificates that environment variables name."""
    top_p: float | None = None
    top_k: int | None = None
    addresses: "Addresses | None" = None
    """Resolves the host to the addresses that may be connected to.

    None for a model from the settings, which is connected to wherever it is.
    """

    @property
    def told(self) -> Endpoint:
        """The endpoint as errors name it."""
        settings = "FOOTPATH_MODEL" if self.addresses is None else ""
        return Endpoint(self.url, self.name, self.api_key, settings=settings)


class LangchainModel:
    """Client shared by the runs of a process; it is built at the first call, as the import takes seconds."""

    def __init__(self, parameters: ModelParameters, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.name = parameters.name
        self.endpoint = parameters.url
        self._parameters = parameters
        self._sleep = sleep
        self._told = parameters.told
        self.dialect = Dialect(
            structured=parameters.structured,
            temperature=parameters.temperature,
            max_tokens=parameters.max_tokens,
            sampling={"top_p": parameters.top_p, "top_k": parameters.top_k},
            token_name="max_completion_tokens" if "//api.openai.com" in parameters.url else "max_tokens",
        )
        self._client: ChatOpenAI | None = None
        self._opening = asyncio.Lock()

    async def complete(
        self, messages: Sequence[Message], form: AnswerForm | None = None, *, seconds: float | None = None
    ) -> Reply:
        """Return the whole reply; see ``ChatModel``."""
        bound = math.inf if seconds is None else seconds

        async def once() -> Reply:
            limit = min(self._parameters.timeout, bound)
            return await guarded(self._told, lambda: self._complete(messages, form), limit)

        try:
            async with asyncio.timeout(seconds):
                await self._opened()
                return await attempts(once, self._parameters.attempts, bound, self._sleep)
        except TimeoutError as error:
            raise of_error(self._told, error) from error

    async def stream(self, messages: Sequence[Message], *, seconds: float | None = None) -> AsyncIterator[str | Reply]:
        """Yield the reply in pieces; see ``ChatModel``."""
        loop = asyncio.get_running_loop()
        end = math.inf if seconds is None else loop.time() + seconds

        def limit() -> float:
            return max(0.0, min(self._parameters.timeout, end - loop.time()))

        async def opened() -> "tuple[AsyncIterator[AIMessageChunk], AIMessageChunk]":
            return await guarded(self._told, lambda: self._open(messages), limit())

        await self._opened()
        source, first = await attempts(opened, self._parameters.attempts, max(0.0, end - loop.time()), self._sleep)
        whole = first
        async with aclosing(cast("Any", source)):
            chunk: AIMessageChunk | None = first
            while chunk is not None:
                if chunk.text:
                    yield str(chunk.text)
                chunk = await guarded(self._told, lambda: anext(source, None), limit())
                whole = whole if chunk is None else whole + chunk
        yield self._reply(messages, cast("AIMessage", whole))

    async def close(self) -> None:
        """Close the connections; the model may be used again."""
        client, self._client = self._client, None
        if client is not None:
            await cast("Any", client).http_async_client.aclose()

    async def _complete(self, messages: Sequence[Message], form: AnswerForm | None) -> Reply:
        client = await self._opened()

        async def ask(body: dict[str, Any]) -> "AIMessage":
            with _untraced():
                return await client.ainvoke(_turns(messages), extra_body=body)

        message = await self._conceding(ask, form, stream=False)
        self.dialect.worked(form)
        return self._reply(messages, message)

    async def _open(self, messages: Sequence[Message]) -> "tuple[AsyncIterator[AIMessageChunk], AIMessageChunk]":
        """Open a stream and return it with its first piece."""
        client = await self._opened()

        async def ask(body: dict[str, Any]) -> "tuple[AsyncIterator[AIMessageChunk], AIMessageChunk]":
            with _untraced():
                source = client.astream(_turns(messages), extra_body=body)
                # Read here, as a refusal shows only when the stream is read.
                first = await anext(source, None)
            if first is None:
                raise unreadable(self._told, "the stream was empty")
            return source, first

        return await self._conceding(ask, None, stream=True)

    async def _conceding(
        self, ask: Callable[[dict[str, Any]], Awaitable[T]], form: AnswerForm | None, *, stream: bool
    ) -> T:
        """Ask; if the endpoint does not know a part of the request, ask again without it."""
        from openai import APIStatusError

        for _ in range(_CONCESSIONS):
            body = self.dialect.body(form, stream=stream)
            try:
                return await ask(body)
            except APIStatusError as error:
                of_form = error.status_code in _FORM_REFUSALS
                if not of_form or not self.dialect.concede(said(error), body):
                    raise
        raise unreadable(self._told, "it refused every form of the request")

    def _reply(self, messages: Sequence[Message], message: "AIMessage") -> Reply:
        text = str(message.text)
        finish = message.response_metadata.get("finish_reason")
        if finish is None:
            raise of_error(self._told, ConnectionResetError("the answer has no end"))
        used = message.usage_metadata
        usage = TokenUsage(used["input_tokens"], used["output_tokens"]) if used else estimated(messages, text)
        return Reply(text, usage, cut=finish == "length", called=_called(message))

    async def _opened(self) -> "ChatOpenAI":
        """Return the client.

        Building it is not the endpoint's time, so callers do it before they measure that.
        """
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_client, self._parameters)
            return self._client


def _client(parameters: ModelParameters) -> "ChatOpenAI":
    from langchain_openai import ChatOpenAI

    from agent.llm.client.transport import plain_client

    # LangChain's warning about a refused schema addresses its own users; the dialect handles the refusal.
    warnings.filterwarnings("ignore", message=r"(This model does not support|Invalid schema for) OpenAI's structured")
    http = plain_client(
        parameters.api_key,
        parameters.timeout,
        use_environment=parameters.use_environment,
        addresses=parameters.addresses,
    )

    async def key() -> str:
        return parameters.api_key or "none"

    # A key from a coroutine keeps the SDK from building a blocking client as well.
    return ChatOpenAI(
        model=parameters.name,
        base_url=parameters.url,
        api_key=key,
        http_async_client=http,
        http_socket_options=(),
        openai_proxy=None,
        max_retries=0,
        stream_usage=False,
        stream_chunk_timeout=None,
        use_responses_api=False,
        cache=False,
    )


def _untraced() -> AbstractContextManager[None]:
    """Turn tracing off whatever the environment says: a run's data goes to nobody but the endpoint."""
    from langsmith import run_helpers

    return run_helpers.tracing_context(enabled=False)  # pyright: ignore[reportUnknownMemberType]


def _called(message: "AIMessage") -> str:
    """Render the tool calls as JSON, including those with invalid arguments.

    The model was offered no tools, but some models wrap what they write in a call.
    """
    calls = [
        {"name": one["name"], "arguments": one["args"]} for one in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    return json.dumps(calls) if calls else ""


def _turns(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]
