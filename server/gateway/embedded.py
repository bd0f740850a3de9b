"""A store of this process's own, for one person: as ``scripts/ask.py`` serves them, behind the protocol."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from agent.execution.approval import AllowChangesApprover
from agent.execution.secret_store import SecretStore
from agent.user_questions import NoUser
from domain.event import EventRecord
from server.gateway.approving import PersonApprover, PersonAsker
from server.gateway.backend import Person, Task
from server.gateway.following import Followed
from server.storage.tokens import Scope
from wiring.ask import RunRequest, ask, choose_default_policy
from wiring.container import Container

_HOW_ELSE = "Start the server with --yes to allow changes, use a client with elicitation, or python scripts/ask.py at a terminal."


@dataclass(frozen=True, slots=True)
class EmbeddedBackend:
    """``policy``: who plans what is asked; empty: a model where the settings name one. ``yes``: all changes of a run are allowed, up to FOOTPATH_MAX_CHANGES."""

    container: Container
    policy: str = ""
    yes: bool = False
    followed: Followed = field(default_factory=Followed)

    @property
    def owner(self) -> str:
        """That of the settings."""
        return self.container.settings.owner

    def check_scope(self, needed: Scope) -> None:
        """Whoever started this process may do everything."""

    async def secrets(self) -> SecretStore:
        """Those of this process."""
        return await self.container.secrets()

    def run(self, task: Task, person: Person) -> AsyncGenerator[EventRecord]:
        """A run, learnt from at its end, and kept to be judged later."""
        asked = RunRequest(
            task.request,
            self.policy or choose_default_policy(self.container),
            approver=AllowChangesApprover() if self.yes else PersonApprover(person, _HOW_ELSE),
            user_channel=PersonAsker(person) if person.there else NoUser(),
            plan=task.plan,
            remember=task.worded,
        )
        return ask(self.container, asked)
