"""An agent like that of any tool server's client: its model sees the list of tools and requests calls."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from pydantic.types import JsonValue

from agent.llm.client.chat import ChatMessage, ChatModel
from agent.text import estimate_tokens
from domain.event import RunOutcome
from domain.model import JsonObject

_SYSTEM_PROMPT = """You serve a user's request with the tools below. Today is {today}.
Reply with one JSON object and nothing else, in one of three forms:
{{"tool": NAME, "arguments": {{…}}}} calls one tool. You are then told what it answered.
{{"answer": TEXT}} ends with the answer: short, stating each value that was asked for, as the tools gave it.
{{"cannot": WHY}} ends where what was asked for does not exist or no tool can tell it.
Every value must come from what tools answered, none from memory. Do sums only where no tool does them.

Tools, each as JSON:
{tools}
"""


@dataclass(frozen=True, slots=True)
class ClientTools:
    """Instructions and tools that a client receives from a server when it connects."""

    tools: tuple[JsonObject, ...]
    """The tools, each as the protocol lists it."""
    instructions: str = ""

    @property
    def text(self) -> str:
        """The text that goes into a model's context."""
        listed = "\n".join(json.dumps(one, ensure_ascii=False) for one in self.tools)
        return f"{listed}\n\n{self.instructions}" if self.instructions else listed


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A tool call that the model requests."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class FinalReply:
    """The model's final reply."""

    text: str
    served: bool
    """False if the model says that it cannot serve the request."""


@dataclass(frozen=True, slots=True)
class UnreadableReply:
    """A reply in none of the three forms."""

    why: str
    """The message to send back to the model."""


def build_system_prompt(tools: ClientTools, today: date) -> str:
    """Return the system message; it is the same for every conversation, so that a server can cache its prefix."""
    return _SYSTEM_PROMPT.format(today=f"{today:%A}, {today.isoformat()}", tools=tools.text)


def parse_reply(reply: str) -> RequestedCall | FinalReply | UnreadableReply:
    """Parse a model's reply; a Markdown fence around it is removed."""
    parsed = _parse_object(reply)
    if parsed is None:
        return UnreadableReply("That was not one JSON object. Reply with one, in one of the three forms.")
    match parsed:
        case {"tool": str(tool), **rest}:
            arguments = rest.get("arguments") or {}
            if isinstance(arguments, Mapping):
                return RequestedCall(tool, dict(arguments))
            return UnreadableReply('"arguments" must be an object.')
        case {"answer": (str() | int() | float() | list() | dict()) as answer}:
            return FinalReply(_to_text(answer), served=True)
        case {"cannot": str(why)}:
            return FinalReply(why, served=False)
        case _:
            return UnreadableReply('The object has none of "tool", "answer" and "cannot".')


def _parse_object(reply: str) -> dict[str, JsonValue] | None:
    text = reply.strip()
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _to_text(answer: str | float | Sequence[JsonValue] | Mapping[str, JsonValue]) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


MAX_REPLIES = 20
"""Replies of the model for one request."""


class ToolSession(Protocol):
    """A client's session with a server."""

    async def list_tools(self) -> ClientTools:
        """Return the server's instructions and tools."""
        ...

    async def call(self, wanted: RequestedCall) -> str:
        """Return what a call answered, as text; for a failed call, the reason."""
        ...


@dataclass(slots=True)
class ClientRun:
    """The run of one request; tokens are estimated at four characters each."""

    outcome: RunOutcome = "failed"
    answer: str = ""
    replies: int = 0
    """Replies of the model."""
    unreadable: int = 0
    """Replies in none of the three forms."""
    calls: list[str] = field(default_factory=list[str])
    """Tools in the order of their calls."""
    list_tokens: int = 0
    """Tokens of the server's tools and instructions."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    """Wall time."""
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Role and text of each message after the system message."""


async def serve_request(request: str, session: ToolSession, model: ChatModel, today: date) -> ClientRun:
    """Serve a request: let the model call tools until it answers, gives up or has used all its replies.

    Raises:
        ModelUnavailableError: the model does not answer.
    """
    started_at = time.perf_counter()
    tools = await session.list_tools()
    run = ClientRun(list_tokens=estimate_tokens(tools.text))
    messages = [ChatMessage("system", build_system_prompt(tools, today)), ChatMessage("user", request)]
    run.outcome = "budget"
    while run.replies < MAX_REPLIES:
        reply = await _ask_model(messages, model, run)
        match parse_reply(reply):
            case FinalReply(text, completed):
                run.outcome, run.answer = "answered" if completed else "gave_up", text
                break
            case UnreadableReply(why):
                run.unreadable += 1
                feedback = why
            case RequestedCall() as call:
                run.calls.append(call.tool)
                feedback = f"{call.tool} answered:\n{await session.call(call)}"
        messages += [ChatMessage("assistant", reply), ChatMessage("user", feedback)]
    run.said = [(one.role, one.text) for one in messages[1:]]
    run.seconds = time.perf_counter() - started_at
    return run


async def _ask_model(messages: Sequence[ChatMessage], model: ChatModel, run: ClientRun) -> str:
    reply = (await model.complete(messages)).text
    run.replies += 1
    run.prompt_tokens += sum(estimate_tokens(one.text) for one in messages)
    run.completion_tokens += estimate_tokens(reply)
    return reply
