"""Who may see which tools of sources: asked of the rows, at the one place that opens the stores for somebody.

A tool that is not offered, or not to this user, is hidden: through :func:`wiring.visible_container.hide_tools` nothing names it, and no call of it is made.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass

from domain.tool import ToolDoc, ToolId
from domain.tool_source import parse_source_id
from server.storage.accounts import User
from server.storage.database import run_to_completion
from server.storage.source_records import SourceAccess
from server.storage.storage import Storage

Documents = Callable[[Iterable[ToolId]], Awaitable[dict[ToolId, ToolDoc]]]
"""Those of tools that the graph has, whoever may see them."""

_viewer: ContextVar[User | None] = ContextVar("viewer", default=None)


def view_as(user: User) -> None:
    """From now on, within this request, the stores are seen as this user may."""
    _viewer.set(user)


def viewer() -> User | None:
    """As whom; None: the server itself, which sees everything."""
    return _viewer.get()


@dataclass(frozen=True, slots=True)
class _Known:
    """The rows at one revision. ``offered``: by tool, its source's id. ``imported``: tools of sources whose ids an import has in the graph."""

    revision: str
    tools: frozenset[ToolId]
    offered: dict[ToolId, str]
    uses: dict[str, SourceAccess]
    imported: frozenset[ToolId]


class Visibility:
    """One process's. The rows are read again whenever they have changed."""

    def __init__(self, storage: Storage) -> None:
        self._rows = storage.source_offers
        self._known: _Known | None = None

    async def hidden_tools(self, user: User | None, documents: Documents | None) -> frozenset[ToolId]:
        """The tools that this user may neither see nor use; an account that is gone sees none of a source.

        ``documents`` None: there is no graph to ask which of them an import gave, and none counts as given.
        """
        return _hidden(await self._read(documents), user)

    async def hidden_from(self, user_id: str, documents: Documents) -> frozenset[ToolId]:
        """The same, by the user's id."""
        revision, user = await run_to_completion(self._rows.get_revision_and_user(user_id))
        return _hidden(await self._read(documents, revision), user)

    async def _read(self, documents: Documents | None, revision: str = "") -> _Known:
        revision = revision or await run_to_completion(self._rows.get_revision())
        known = self._known
        if known is None or known.revision != revision or documents is None:
            tools = await run_to_completion(self._rows.list_known_ids())
            there = await documents(tools) if tools and documents is not None else {}
            imported = frozenset(tool for tool, doc in there.items() if parse_source_id(doc.source) is None)
            offered, uses = (
                await run_to_completion(self._rows.map_tools_to_sources()),
                await run_to_completion(self._rows.list_access()),
            )
            known = _Known(revision, tools, offered, uses, imported)
            if documents is not None:
                self._known = known
        return known


def _hidden(known: _Known, user: User | None) -> frozenset[ToolId]:
    allowed = {one for one, use in known.uses.items() if user is not None and may_use(use, user)}
    seen = {tool for tool, source in known.offered.items() if source in allowed}
    return known.tools - seen - known.imported


def may_use(use: SourceAccess, user: User) -> bool:
    """Whether a source is for this user: everybody, its roles or its users; its author and administrators always."""
    if user.disabled_at is not None:
        return False
    if user.role == "admin" or user.id == use.author_id or use.visibility == "everybody":
        return True
    return user.role in use.roles if use.visibility == "roles" else user.id in use.users
