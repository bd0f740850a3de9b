"""What the tools of the protocol are served from: a store as somebody sees it, and what makes runs over it."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
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
        """The events of a run, to its last. Who closes it, or cancels its reading, ends the run. Raises ``FootpathError`` where it cannot be begun."""
        ...
