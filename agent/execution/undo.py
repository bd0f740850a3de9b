"""Tools that can undo a change, as far as documents tell: those of the same service over what the change made."""

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import unquote, urlsplit

from agent.execution.wording import quoted, title_of
from domain.side_effect import first_word
from domain.tool import ToolDoc
from graph.entities import service_of

NO_UNDO = "This cannot be taken back, as far as is known."
_UNDOING = frozenset({"cancel", "delete", "destroy", "remove", "revoke", "undo", "unsubscribe"})
"""First words of operations that end the thing they act on, whatever their HTTP method."""


class Siblings(Protocol):
    """Finds tools that may belong to the same service and act on the same things."""

    async def near(self, tool: ToolDoc) -> Sequence[ToolDoc]:
        """Return the tools that come closest to undoing a call of this one."""
        ...


class Undo:
    """Describes how changes of one run can be undone. Each tool is looked up once."""

    def __init__(self, siblings: Siblings | None = None) -> None:
        self._siblings = siblings
        self._told: dict[str, str] = {}

    async def of(self, tool: ToolDoc) -> str:
        """Return a sentence on how a call of a tool can be undone, or that it cannot; empty for a safe tool."""
        if tool.safe:
            return ""
        if tool.id not in self._told:
            near = await self._siblings.near(tool) if self._siblings is not None else ()
            self._told[tool.id] = undo_of(tool, near)
        return self._told[tool.id]


def undo_of(tool: ToolDoc, near: Sequence[ToolDoc]) -> str:
    """Return a sentence on how a call can be undone. ``near``: tools that may include one that undoes it."""
    found = next((one for one in near if undoes(one, tool)), None)
    if found is not None:
        return f"{quoted(title_of(found))} can take it back, as far as its document tells."
    if tool.method in ("PUT", "PATCH") and any(one.location == "body" for one in tool.parameters):
        return "It can be set anew in the same way; what was there before is not kept."
    return NO_UNDO


def undoes(one: ToolDoc, tool: ToolDoc) -> bool:
    """Return whether ``one`` undoes a call of ``tool``, both of one service.

    Either ``tool`` posts to a collection and ``one`` ends one thing in it (DELETE, or an action such as ``cancel``), or both act on one
    path with the same required parameters, as on a membership, one by PUT or POST and the other by DELETE.
    """
    if one.safe or one.id == tool.id or service_of(one) != service_of(tool):
        return False
    made, ended = _path(tool), _path(one)
    if not made or not ended:
        return False
    if ended == made:
        return {tool.method, one.method} in ({"PUT", "DELETE"}, {"POST", "DELETE"}) and _takes(one) == _takes(tool)
    if tool.method != "POST" or ended[: len(made)] != made or not _open(ended[len(made)]):
        return False
    rest = ended[len(made) + 1 :]
    return (not rest and one.method == "DELETE") or (len(rest) == 1 and _ends(one, rest[0]))


def _ends(tool: ToolDoc, segment: str) -> bool:
    named = (
        first_word(tool.api) if tool.method != "DELETE" and "/" not in tool.api else ""
    )  # DELETE removes the thing at its path
    return bool({first_word(segment), named} & _UNDOING)


def _takes(tool: ToolDoc) -> set[str]:
    return {one.wire_name for one in tool.required}


def _open(segment: str) -> bool:
    return segment.startswith("{") and segment.endswith("}")


def _path(tool: ToolDoc) -> list[str]:
    try:
        return [part for part in unquote(urlsplit(tool.resource).path).split("/") if part]
    except ValueError:
        return []
