"""What rests on tools that have changed: solutions and templates that call them."""

from collections.abc import Awaitable, Callable

from domain.errors import UnavailableError
from domain.model import Model
from domain.solution import Solution
from domain.tool import ToolId
from server.storage.accounts import User
from server.storage.source_records import Source
from server.storage.storage import Storage
from server.storage.templates import TemplateMention, find_templates_calling
from wiring.container import Container

_TOOLS = 100
"""Changed tools that are looked at."""
_NAMED = 50


class Touched(Model):
    """``solutions``: ids, and ``templates``: names, of those that this user may know of; ``others``: how many there are beside."""

    tool: ToolId
    change: str
    solutions: tuple[str, ...]
    templates: tuple[str, ...]
    others: int


async def touched_by(
    source: Source, user: User, storage: Storage, container: Callable[[], Awaitable[Container]]
) -> list[Touched]:
    """Of the changes of a source that nobody has looked at."""
    told: dict[ToolId, list[str]] = {}
    for one in source.changes:
        if one.kind != "added":
            told.setdefault(one.tool, []).append(one.told)
    tools = list(told)[:_TOOLS]
    if not tools:
        return []
    solutions = await _solutions(tools, container)
    templates = await find_templates_calling(storage.database, tools, user.id, admin=user.role == "admin")
    return [_touched(tool, "; ".join(told[tool]), user, solutions, templates.get(tool, [])) for tool in tools]


def _touched(
    tool: ToolId, change: str, user: User, solutions: list[Solution], templates: list[TemplateMention]
) -> Touched:
    resting = [one for one in solutions if tool in one.path]
    own = [one.id for one in resting if one.owner in ("", user.id)]
    seen = [one.name for one in templates if one.seen]
    others = len(resting) - len(own) + len(templates) - len(seen)
    return Touched(
        tool=tool, change=change, solutions=tuple(own[:_NAMED]), templates=tuple(seen[:_NAMED]), others=others
    )


async def _solutions(tools: list[ToolId], container: Callable[[], Awaitable[Container]]) -> list[Solution]:
    try:
        return await (await (await container()).solution_store()).list_by_tools(tools)
    except UnavailableError:
        return []  # there is no store, and so no solution
