"""A chat model at any OpenAI-compatible URL, through LangChain; the SDK's retries, proxies and tracing are off."""

import asyncio
import json
import math
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agent.llm.client.chat import AnswerForm, ChatMessage, ModelReply, ModelTokenUsage, estimate_usage
from agent.llm.client.dialect import AnswerFormat, EndpointDialect
from agent.llm.client.failures import ModelEndpoint, build_unreadable_error, translate_error
from agent.llm.client.retrying import retry_call
from agent.llm.client.sdk import call_guarded, extract_message

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_openai import ChatOpenAI

    from agent.llm.client.transport import AddressResolver

T = TypeVar("T")
_MAX_CONCESSIONS = 6
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
    structured: AnswerFormat = "auto"
    use_environment: bool = False
    """Use the proxies and certificates that environment variables name."""
    top_p: float | None = None
    top_k: int | None = None
    addresses: "AddressResolver | None" = None
    """Resolves the host to the addresses that may be connected to.

    None for a model from the settings, which is connected to wherever it is.
    """

    @property
    def error_endpoint(self) -> ModelEndpoint:
        """The endpoint as errors name it."""
        settings = "FOOTPATH_MODEL" if self.addresses is None else ""
        return ModelEndpoint(self.url, self.name, self.api_key, settings=settings)


class LangchainModel:
    """Client shared by the runs of a process; it is built at the first call, as the import takes seconds."""

    def __init__(self, parameters: ModelParameters, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self.name = parameters.name
        self.endpoint = parameters.url
        self._parameters = parameters
        self._sleep = sleep
        self._error_endpoint = parameters.error_endpoint
        self.dialect = EndpointDialect(
            structured=parameters.structured,
            temperature=parameters.temperature,
            max_tokens=parameters.max_tokens,
            sampling={"top_p": parameters.top_p, "top_k": parameters.top_k},
            token_name="max_completion_tokens" if "//api.openai.com" in parameters.url else "max_tokens",
        )
        self._client: ChatOpenAI | None = None
        self._opening = asyncio.Lock()

    async def complete(
        self, messages: Sequence[ChatMessage], form: AnswerForm | None = None, *, seconds: float | None = None
    ) -> ModelReply:
        """Return the whole reply; see ``ChatModel``."""
        time_limit = math.inf if seconds is None else seconds

        async def call_once() -> ModelReply:
            limit = min(self._parameters.timeout, time_limit)
            return await call_guarded(self._error_endpoint, lambda: self._complete(messages, form), limit)

        try:
            async with asyncio.timeout(seconds):
                await self._get_client()
                return await retry_call(call_once, self._parameters.attempts, time_limit, self._sleep)
        except TimeoutError as error:
            raise translate_error(self._error_endpoint, error) from error

    async def stream(
        self, messages: Sequence[ChatMessage], *, seconds: float | None = None
    ) -> AsyncIterator[str | ModelReply]:
        """Yield the reply in pieces; see ``ChatModel``."""
        loop = asyncio.get_running_loop()
        end = math.inf if seconds is None else loop.time() + seconds

        def get_time_limit() -> float:
            return max(0.0, min(self._parameters.timeout, end - loop.time()))

        async def open_stream() -> "tuple[AsyncIterator[AIMessageChunk], AIMessageChunk]":
            return await call_guarded(self._error_endpoint, lambda: self._open_stream(messages), get_time_limit())

        await self._get_client()
        source, first = await retry_call(
            open_stream, self._parameters.attempts, max(0.0, end - loop.time()), self._sleep
        )
        combined = first
        async with aclosing(cast("Any", source)):
            chunk: AIMessageChunk | None = first
            while chunk is not None:
                if chunk.text:
                    yield str(chunk.text)
                chunk = await call_guarded(self._error_endpoint, lambda: anext(source, None), get_time_limit())
                combined = combined if chunk is None else combined + chunk
        yield self._build_reply(messages, cast("AIMessage", combined))

    async def close(self) -> None:
        """Close the connections; the model may be used again."""
        client, self._client = self._client, None
        if client is not None:
            await cast("Any", client).http_async_client.aclose()

    async def _complete(self, messages: Sequence[ChatMessage], form: AnswerForm | None) -> ModelReply:
        client = await self._get_client()

        async def ask(body: dict[str, Any]) -> "AIMessage":
            with _disable_tracing():
                return await client.ainvoke(_to_turns(messages), extra_body=body)

        message = await self._ask_with_concessions(ask, form, stream=False)
        self.dialect.record_success(form)
        return self._build_reply(messages, message)

    async def _open_stream(
        self, messages: Sequence[ChatMessage]
    ) -> "tuple[AsyncIterator[AIMessageChunk], AIMessageChunk]":
        """Open a stream and return it with its first piece."""
        client = await self._get_client()

        async def ask(body: dict[str, Any]) -> "tuple[AsyncIterator[AIMessageChunk], AIMessageChunk]":
            with _disable_tracing():
                source = client.astream(_to_turns(messages), extra_body=body)
                # Read here, as a refusal shows only when the stream is read.
                first = await anext(source, None)
            if first is None:
                raise build_unreadable_error(self._error_endpoint, "the stream was empty")
            return source, first

        return await self._ask_with_concessions(ask, None, stream=True)

    async def _ask_with_concessions(
        self, ask: Callable[[dict[str, Any]], Awaitable[T]], form: AnswerForm | None, *, stream: bool
    ) -> T:
        """Ask; if the endpoint does not know a part of the request, ask again without it."""
        from openai import APIStatusError

        for _ in range(_MAX_CONCESSIONS):
            body = self.dialect.build_body(form, stream=stream)
            try:
                return await ask(body)
            except APIStatusError as error:
                may_concede = error.status_code in _FORM_REFUSALS
                if not may_concede or not self.dialect.concede(extract_message(error), body):
                    raise
        raise build_unreadable_error(self._error_endpoint, "it refused every form of the request")

    def _build_reply(self, messages: Sequence[ChatMessage], message: "AIMessage") -> ModelReply:
        text = str(message.text)
        finish = message.response_metadata.get("finish_reason")
        if finish is None:
            raise translate_error(self._error_endpoint, ConnectionResetError("the answer has no end"))
        used = message.usage_metadata
        usage = ModelTokenUsage(used["input_tokens"], used["output_tokens"]) if used else estimate_usage(messages, text)
        return ModelReply(text, usage, cut=finish == "length", tool_calls=_render_tool_calls(message))

    async def _get_client(self) -> "ChatOpenAI":
        """Return the client.

        Building it is not the endpoint's time, so callers do it before they measure that.
        """
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_build_client, self._parameters)
            return self._client


def _build_client(parameters: ModelParameters) -> "ChatOpenAI":
    from langchain_openai import ChatOpenAI

    from agent.llm.client.transport import build_http_client

    # LangChain's warning about a refused schema addresses its own users; the dialect handles the refusal.
    warnings.filterwarnings("ignore", message=r"(This model does not support|Invalid schema for) OpenAI's structured")
    http = build_http_client(
        parameters.api_key,
        parameters.timeout,
        use_environment=parameters.use_environment,
        addresses=parameters.addresses,
    )

    async def get_key() -> str:
        return parameters.api_key or "none"

    # A key from a coroutine keeps the SDK from building a blocking client as well.
    return ChatOpenAI(
        model=parameters.name,
        base_url=parameters.url,
        api_key=get_key,
        http_async_client=http,
        http_socket_options=(),
        openai_proxy=None,
        max_retries=0,
        stream_usage=False,
        stream_chunk_timeout=None,
        use_responses_api=False,
        cache=False,
    )


def _disable_tracing() -> AbstractContextManager[None]:
    """Turn tracing off whatever the environment says: a run's data goes to nobody but the endpoint."""
    from langsmith import run_helpers

    return run_helpers.tracing_context(enabled=False)  # pyright: ignore[reportUnknownMemberType]


def _render_tool_calls(message: "AIMessage") -> str:
    """Render the tool calls as JSON, including those with invalid arguments.

    The model was offered no tools, but some models wrap what they write in a call.
    """
    calls = [
        {"name": call["name"], "arguments": call["args"]} for call in (*message.tool_calls, *message.invalid_tool_calls)
    ]
    return json.dumps(calls) if calls else ""


def _to_turns(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]
