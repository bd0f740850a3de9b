"""Finding the tool that can undo a change: one of the same service on the same things, judged by the documents."""

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import unquote, urlsplit

from agent.execution.call_wording import build_tool_title, quote_text
from domain.side_effect import get_first_word
from domain.tool import ToolDoc
from graph.entities import get_service_key

NO_UNDO = "This cannot be taken back, as far as is known."
_UNDO_WORDS = frozenset({"cancel", "delete", "destroy", "remove", "revoke", "undo", "unsubscribe"})
"""First words of operations that end the thing they act on, regardless of their HTTP method."""


class RelatedToolFinder(Protocol):
    """Finds tools that may belong to the same service and act on the same things."""

    async def find_related(self, tool: ToolDoc) -> Sequence[ToolDoc]:
        """Return the tools that are most likely to undo a call of this one."""
        ...


class UndoFinder:
    """Describes how changes of one run can be undone. Each tool is looked up once."""

    def __init__(self, related_tools: RelatedToolFinder | None = None) -> None:
        self._related_tools = related_tools
        self._descriptions: dict[str, str] = {}

    async def describe(self, tool: ToolDoc) -> str:
        """Describe how a call of a tool can be undone, or that it cannot; empty for a safe tool."""
        if tool.safe:
            return ""
        if tool.id not in self._descriptions:
            related = await self._related_tools.find_related(tool) if self._related_tools is not None else ()
            self._descriptions[tool.id] = describe_undo(tool, related)
        return self._descriptions[tool.id]


def describe_undo(tool: ToolDoc, candidates: Sequence[ToolDoc]) -> str:
    """Describe how a call can be undone, by the first of the ``candidates`` that undoes it if there is one."""
    undo_tool = next((candidate for candidate in candidates if can_undo(candidate, tool)), None)
    if undo_tool is not None:
        return f"{quote_text(build_tool_title(undo_tool))} can take it back, as far as its document tells."
    if tool.method in ("PUT", "PATCH") and any(parameter.location == "body" for parameter in tool.parameters):
        return "It can be set anew in the same way; what was there before is not kept."
    return NO_UNDO


def can_undo(candidate: ToolDoc, tool: ToolDoc) -> bool:
    """Return whether ``candidate`` undoes a call of ``tool``, both of one service.

    Either ``tool`` posts to a collection and ``candidate`` ends one thing in it (DELETE, or an action such as
    ``cancel``), or both act on one path with the same required parameters, such as a membership, one by PUT or POST
    and the other by DELETE.
    """
    if candidate.safe or candidate.id == tool.id or get_service_key(candidate) != get_service_key(tool):
        return False
    tool_path, candidate_path = _split_path(tool), _split_path(candidate)
    if not tool_path or not candidate_path:
        return False
    if candidate_path == tool_path:
        return {tool.method, candidate.method} in ({"PUT", "DELETE"}, {"POST", "DELETE"}) and _collect_required_names(
            candidate
        ) == _collect_required_names(tool)
    if (
        tool.method != "POST"
        or candidate_path[: len(tool_path)] != tool_path
        or not _is_placeholder(candidate_path[len(tool_path)])
    ):
        return False
    remaining_path = candidate_path[len(tool_path) + 1 :]
    return (not remaining_path and candidate.method == "DELETE") or (
        len(remaining_path) == 1 and _is_undo_operation(candidate, remaining_path[0])
    )


def _is_undo_operation(tool: ToolDoc, segment: str) -> bool:
    action = (
        get_first_word(tool.api) if tool.method != "DELETE" and "/" not in tool.api else ""
    )  # DELETE removes the thing at its path
    return bool({get_first_word(segment), action} & _UNDO_WORDS)


def _collect_required_names(tool: ToolDoc) -> set[str]:
    return {parameter.wire_name for parameter in tool.required}


def _is_placeholder(segment: str) -> bool:
    return segment.startswith("{") and segment.endswith("}")


def _split_path(tool: ToolDoc) -> list[str]:
    try:
        return [part for part in unquote(urlsplit(tool.resource).path).split("/") if part]
    except ValueError:
        return []
