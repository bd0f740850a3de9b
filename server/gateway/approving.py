"""A run's changes and questions, put to the person at the client of the process that makes the run."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.execution.approval import (
    POSSIBLE_REPEAT_NOTE,
    TAINTED_NOTE,
    IntendedCall,
    describe_approval_scope,
    describe_side_effect,
)
from agent.text import clean_text
from agent.user_questions import UserQuestion
from domain.errors import NotAllowedError
from domain.model import JsonObject
from domain.provenance import describe_origin
from server.gateway.backend import Person

_VALUE = 600
"""Characters of one value that are shown, and of where it comes from."""


class PersonApprover:
    """One run's. Each change is asked about, those that wait together once; ``how_else``: what to do where nobody can be asked."""

    def __init__(self, person: Person, how_else: str) -> None:
        self._person = person
        self._how_else = how_else
        self._turn = asyncio.Lock()
        self._allowed = set[tuple[str, str]]()

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        """``NotAllowedError`` where the answer is no, or nobody can be asked."""
        if not call.tool.safe:
            async with self._turn:
                if not (call.identity and _named(call) in self._allowed):
                    await self._ask(call)
        yield None

    async def _ask(self, call: IntendedCall) -> None:
        if not self._person.there:
            why = f"{describe_side_effect(call.tool)} Nobody could be asked, since this client cannot ask its user. {self._how_else}"
            raise NotAllowedError(f"{clean_text(call.tool.api, 80)} was not called. {why}")
        waiting = [one for one in call.approved_together if _named(one) not in self._allowed] or [call]
        if not await self._person.allows(asked_about(call, waiting)):
            raise NotAllowedError(f"{clean_text(call.tool.api, 80)} was not called: its user did not allow it.")
        self._allowed.update(_named(one) for one in waiting)


class PersonAsker:
    """Asks what a request leaves open."""

    def __init__(self, person: Person) -> None:
        self._person = person

    async def answer(self, question: UserQuestion) -> str | None:
        """What they say; None: nothing."""
        return await self._person.answers(question.display_text, question.choices)


def asked_about(call: IntendedCall, waiting: "list[IntendedCall]") -> str:
    """What a change would do, in words, where, with which values, and where each of them comes from."""
    tool = call.tool
    lines = [f"May {clean_text(tool.api, 80)}{f' of {clean_text(tool.host, 200)}' if tool.host else ''} be called?"]
    lines += [describe_side_effect(tool), describe_approval_scope(call), call.undo]
    lines += [
        POSSIBLE_REPEAT_NOTE if any(one.possible_repeat for one in waiting) else "",
        TAINTED_NOTE if call.tainted else "",
    ]
    for one in waiting:
        words = {origin.parameter: describe_origin(origin) for origin in one.provenance.origins}
        lines.append(one.summary)
        lines += [value_told(name, value, words.get(name, "")) for name, value in one.arguments.items()]
    return "\n".join(line for line in lines if line)


def value_told(name: str, value: object, origin: str) -> str:
    """One value of a call, with where it comes from."""
    told = f"- {clean_text(name, 80)} = {clean_text(json.dumps(value, ensure_ascii=False), _VALUE)}"
    return f"{told} ({clean_text(origin, _VALUE)})" if origin else told


def _named(call: IntendedCall) -> tuple[str, str]:
    return call.identity, json.dumps(call.arguments, sort_keys=True)
