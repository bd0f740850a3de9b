"""What the tools of the protocol are served from: a store as somebody sees it, and what makes runs over it."""

import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from agent.execution.secret_store import SecretStore
from domain.event import EventRecord
from domain.program import ProgramPlan
from server.gateway.following import Followed
from server.storage.tokens import Scope
from wiring.container import Container


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done. ``plan``: as it stands; None: it is planned. ``worded``: the request is one that somebody may ask again, so that it is
    worth remembering.
    """

    request: str
    plan: ProgramPlan | None = None
    worded: bool = True

    @property
    def digest(self) -> str:
        """What the same task is known by when a client brings it again."""
        plan = "" if self.plan is None else self.plan.model_dump_json()
        return sha256(json.dumps([self.request, plan]).encode()).hexdigest()


class OwnerApprovalNeeded(Exception):  # noqa: N818  # the run is well, and goes on once its owner has answered
    """A run waits for an approval that its client cannot give."""

    def __init__(self, run: str, question: str, place: str) -> None:
        """Create the notice.

        ``place``: where the run's owner answers.
        """
        super().__init__(f"run {run} waits for its owner")
        self.run = run
        self.question = question
        self.place = place


class Person(Protocol):
    """Whoever uses the client, as far as the client can ask them. ``there``: whether it can. ``notes``: what is to be told them beside the answer."""

    notes: list[str]

    @property
    def there(self) -> bool: ...

    async def allows(self, told: str) -> bool:
        """Whether what is told may be done; what is not answered is no yes."""
        ...

    async def answers(self, told: str, choices: Sequence[str] = ()) -> str | None:
        """What they say, in words of their own or one of the choices; None: nothing."""
        ...


class Backend(Protocol):
    """One caller's. ``container``: the store as this caller sees it; ``owner``: whose solutions and memories; ``followed``: its runs."""

    @property
    def container(self) -> Container: ...

    @property
    def owner(self) -> str: ...

    @property
    def followed(self) -> Followed: ...

    def check_scope(self, needed: Scope) -> None:
        """Raise ``ForbiddenError`` where the caller's token may not do this."""
        ...

    async def secrets(self) -> SecretStore:
        """The secrets that this caller's calls send."""
        ...

    def run(self, task: Task, person: Person) -> AsyncGenerator[EventRecord]:
        """The events of a run, to its last. Who closes it, or cancels its reading, ends the run.

        Raises:
            FootpathError: it cannot be begun.
            OwnerApprovalNeeded: it waits for what this caller may not approve. It goes on by itself; the same task in the same session
                follows it again.
        """
        ...
