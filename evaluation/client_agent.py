"""An agent like that of any tool server's client: its model sees the list of tools and requests calls."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from agent.llm.client.chat import ChatModel, Message
from agent.text import estimated_tokens
from domain.event import Outcome
from evaluation.client_words import ClientTools, Ended, Unreadable, Wanted, read, told

MOST_REPLIES = 20
"""Replies of the model for one request."""


class ToolSession(Protocol):
    """A client's session with a server."""

    async def listed(self) -> ClientTools:
        """Return the server's instructions and tools."""
        ...

    async def call(self, wanted: Wanted) -> str:
        """Return what a call answered, as text; for a failed call, the reason."""
        ...


@dataclass(slots=True)
class ClientRun:
    """One request served. Tokens are estimated at four characters each."""

    outcome: Outcome = "failed"
    answer: str = ""
    replies: int = 0
    unreadable: int = 0
    calls: list[str] = field(default_factory=list[str])
    """Tools in the order of their calls."""
    list_tokens: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The conversation after the system message."""


async def served(request: str, session: ToolSession, model: ChatModel, today: date) -> ClientRun:
    """Serve a request.

    Raises:
        ModelUnavailableError: the model does not answer.
    """
    begun = time.perf_counter()
    tools = await session.listed()
    run = ClientRun(list_tokens=estimated_tokens(tools.text))
    messages = [Message("system", told(tools, today)), Message("user", request)]
    run.outcome = "budget"
    while run.replies < MOST_REPLIES:
        reply = await _replied(messages, model, run)
        match read(reply):
            case Ended(text, served):
                run.outcome, run.answer = "answered" if served else "gave_up", text
                break
            case Unreadable(why):
                run.unreadable += 1
                heard = why
            case Wanted() as wanted:
                run.calls.append(wanted.tool)
                heard = f"{wanted.tool} answered:\n{await session.call(wanted)}"
        messages += [Message("assistant", reply), Message("user", heard)]
    run.said = [(one.role, one.text) for one in messages[1:]]
    run.seconds = time.perf_counter() - begun
    return run


async def _replied(messages: Sequence[Message], model: ChatModel, run: ClientRun) -> str:
    reply = (await model.complete(messages)).text
    run.replies += 1
    run.prompt_tokens += sum(estimated_tokens(one.text) for one in messages)
    run.completion_tokens += estimated_tokens(reply)
    return reply
