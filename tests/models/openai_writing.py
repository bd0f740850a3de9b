"""The bytes of OpenAI's chat protocol: a whole completion, and the chunks of a stream."""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from tests.models.openai_replies import ChatRequest, Says, pieces

_SOME = {"id": "chatcmpl-local", "created": 1_700_000_000, "system_fingerprint": None}


def head(status: int, content_type: str, length: int | None, headers: Mapping[str, str] | None = None) -> bytes:
    """A response's head; without a length, the body ends with the connection."""
    named = {"content-type": content_type, **(headers or {}), "connection": "close"}
    if length is not None:
        named["content-length"] = str(length)
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode()


def event(chunk: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def answer_body(reply: Says, request: ChatRequest) -> bytes:
    """A whole completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(reply.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
    whole = {**_SOME, "object": "chat.completion", "model": request.body.get("model"), "choices": [choice]}
    usage = _usage(reply, request)
    return json.dumps({**whole, "usage": usage} if usage else whole).encode()


def stream_events(reply: Says, request: ChatRequest) -> Iterator[dict[str, Any]]:
    """The chunks of a stream: the role, the pieces, the end, and the usage where the client asked for it."""
    base = {**_SOME, "object": "chat.completion.chunk", "model": request.body.get("model")}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.text, reply.piece):
        yield chunk({"content": piece})
    yield chunk({}, reply.finish)
    usage = _usage(reply, request)
    options: dict[str, bool] = request.body.get("stream_options", {})
    if usage and options.get("include_usage"):
        yield {**base, "choices": [], "usage": usage}


def _usage(reply: Says, request: ChatRequest) -> dict[str, int] | None:
    if reply.usage is None:
        return None
    prompt, completion = reply.usage or (max(1, len(request.prompt) // 4), max(1, len(reply.text) // 4))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
