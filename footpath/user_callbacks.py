"""Callbacks that stand in for the user of a run: approval of changes, and answers to questions."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Literal, TypeVar, cast

from agent.execution.approval import (
    AllowChangesApprover,
    Approver,
    DenyChangesApprover,
    IntendedCall,
    describe_side_effect,
)
from agent.user_questions import NoUser, UserChannel, UserQuestion
from domain.errors import NotAllowedError, UsageError
from domain.model import JsonObject
from domain.provenance import describe_origin

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Change:
    """A call with possible side effects that waits for approval."""

    tool: str
    """Id of the tool."""
    arguments: JsonObject
    summary: str
    """What the call will do, in words."""
    why: str
    """Why it is taken to have side effects."""
    undo: str
    """How the change can be undone."""
    origins: dict[str, str]
    """Where the values come from, by parameter."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a run to its user."""

    text: str
    choices: tuple[str, ...]
    """Proposed answers; any other text is accepted too."""


Approve = Callable[[Change], bool | Awaitable[bool]]
"""Returns whether a change may be made."""
Reply = Callable[[Question], str | Awaitable[str | None] | None]
"""Returns the answer to a question, or None to leave it unanswered."""
Changes = Literal["deny", "allow"] | Approve
"""Treatment of calls that may have side effects: all refused, all made, or each decided by a function."""

_CHANGES_ADVICE = "changes='allow' allows all changes of a run, and a function is asked about each."


def create_callback_approver(changes: Changes) -> Approver:
    """Return the approver for an argument ``changes``. ``UsageError`` if it is no known word and no function."""
    if changes == "allow":
        return AllowChangesApprover()
    if changes == "deny":
        return DenyChangesApprover(_CHANGES_ADVICE)
    if not callable(changes):
        raise UsageError(f'changes must be "allow", "deny" or a function, not {changes!r}')
    return CallbackApprover(changes)


def create_callback_channel(reply: Reply | None) -> UserChannel:
    """Return the channel to the user; without ``reply``, nobody can be asked."""
    return CallbackUserChannel(reply) if reply is not None else NoUser()


class CallbackApprover:
    """Approver that asks a function about each change, one at a time."""

    def __init__(self, approve: Approve) -> None:
        self._approve = approve
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[None]:
        """Ask about a call unless it is safe. Raises ``NotAllowedError`` if it is refused."""
        if not call.tool.safe:
            origins = {origin.parameter: describe_origin(origin) for origin in call.provenance.origins}
            change = Change(
                call.tool.id, call.arguments, call.summary, describe_side_effect(call.tool), call.undo, origins
            )
            async with self._lock:
                allowed = await _call_in_thread(self._approve, change)
            if not allowed:
                raise NotAllowedError("You did not allow this call, so it was not made.")
        yield


class CallbackUserChannel:
    """Channel that asks a function."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    async def answer(self, question: UserQuestion) -> str | None:
        """Return the answer of the function; None if it gives none."""
        return await _call_in_thread(self._reply, Question(question.display_text, question.choices))


async def _call_in_thread(function: Callable[[T], R | Awaitable[R]], argument: T) -> R:
    """Call a function in a thread, since it may wait for a person, and await its result if it is awaitable."""
    result = await asyncio.to_thread(function, argument)
    if isawaitable(result):
        return await cast("Awaitable[R]", result)
    return cast("R", result)
