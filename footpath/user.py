"""A run's user, as whoever calls the library stands in for them: who allows changes, and who answers questions."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Literal, TypeVar, cast

from agent.execution.approval import Approver, IntendedCall, describe_side_effect
from agent.execution.approvers import AllowChangesApprover, DenyChangesApprover
from agent.user_questions import NoUser, UserChannel, UserQuestion
from domain.errors import NotAllowedError, UsageError
from domain.model import JsonObject
from domain.provenance import describe_origin

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Change:
    """A call that may change something, about to be made. ``summary``: what it will do; ``why``: who says that it changes something; ``undo``:
    how that is taken back. ``origins``: by parameter, where its values come from.
    """

    tool: str
    arguments: JsonObject
    summary: str
    why: str
    undo: str
    origins: dict[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """What a run asks its user. ``choices``: answers that it proposes; other words are an answer, too."""

    text: str
    choices: tuple[str, ...]


Approve = Callable[[Change], bool | Awaitable[bool]]
"""Says whether a change may be made."""
Reply = Callable[[Question], str | Awaitable[str | None] | None]
"""Answers a question; None: not at all."""
Changes = Literal["deny", "allow"] | Approve
"""What becomes of calls that may change something."""

_HOW = "changes='allow' allows all changes of a run, and a function is asked about each."


def approver_of(changes: Changes) -> Approver:
    """The approver that stands for what a caller says. Raises ``UsageError`` where that is neither a word that is known nor a function."""
    if changes == "allow":
        return AllowChangesApprover()
    if changes == "deny":
        return DenyChangesApprover(_HOW)
    if not callable(changes):
        raise UsageError(f'changes must be "allow", "deny" or a function, not {changes!r}')
    return AskedChanges(changes)


def asker_of(reply: Reply | None) -> UserChannel:
    """Who is asked what a request leaves open."""
    return AskedQuestions(reply) if reply is not None else NoUser()


class AskedChanges:
    """Asks a function about each change, one after the other."""

    def __init__(self, approve: Approve) -> None:
        self._approve = approve
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def approval(self, call: IntendedCall) -> AsyncGenerator[None]:
        """``NotAllowedError`` where the answer is no."""
        if not call.tool.safe:
            origins = {one.parameter: describe_origin(one) for one in call.provenance.origins}
            change = Change(
                call.tool.id, call.arguments, call.summary, describe_side_effect(call.tool), call.undo, origins
            )
            async with self._turn:
                allowed = await _called(self._approve, change)
            if not allowed:
                raise NotAllowedError("You did not allow this call, so it was not made.")
        yield


class AskedQuestions:
    """Asks a function."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    async def answer(self, question: UserQuestion) -> str | None:
        """What it says."""
        return await _called(self._reply, Question(question.framed, question.choices))


async def _called(function: Callable[[T], R | Awaitable[R]], given: T) -> R:
    """In a thread, since it may wait for a person; what it returns is awaited where it is to be."""
    told = await asyncio.to_thread(function, given)
    if isawaitable(told):
        return await cast("Awaitable[R]", told)
    return cast("R", told)
