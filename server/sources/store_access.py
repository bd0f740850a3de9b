"""What the life of sources needs of the store and of keys."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent.execution.secret_store import SecretStore
from domain.tool import ToolId
from server.storage.source_records import Source
from wiring.container import Container
from wiring.settings import Settings

SecretsOf = Callable[[Source, str | None], Awaitable[SecretStore]]
"""The keys that a source's calls send, asked for by this user; None: by the server itself, for its author."""

HiddenFrom = Callable[[str | None], Awaitable[frozenset[ToolId]]]
"""The tools that an author may not see, who reads what the gate says; None: administrators alone read it."""


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """``container`` raises ``UnavailableError`` where there is no store. ``changed``: addresses of MCP servers whose tools are others now, as they
    say; who has taken note takes them out.
    """

    settings: Settings
    container: Callable[[], Awaitable[Container]]
    secrets: SecretsOf
    hidden: HiddenFrom
    changed: set[str] = field(default_factory=set[str])
