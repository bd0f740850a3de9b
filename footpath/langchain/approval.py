# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""A person's word on a change, by LangGraph's interrupts: the graph stops, its checkpointer keeps it, and the word comes with the resumption."""

from collections.abc import Mapping
from typing import Any, cast

from footpath.user import Change

_HOW = "compile the agent with a checkpointer and call it with a thread_id, or give changes= another value"


class NotAskedError(Exception):
    """There is no graph that could be interrupted; says what to do."""


class Noted:
    """Allows no change, and notes the one that was to be made: what a person is asked about."""

    def __init__(self) -> None:
        self.change: Change | None = None

    def __call__(self, change: Change) -> bool:
        self.change = change
        return False


class Approved:
    """Allows the change that a person allowed, and no other."""

    def __init__(self, change: Change) -> None:
        self._change = change

    def __call__(self, change: Change) -> bool:
        return (change.tool, change.arguments) == (self._change.tool, self._change.arguments)


def word_on(name: str, arguments: Mapping[str, Any], change: Change) -> bool:
    """Whether the person at the graph allows it. Interrupts the graph where nothing was said yet.

    Raises:
        NotAskedError: this runs within no graph, or one that keeps nothing.
    """
    try:
        from langgraph.config import get_config
        from langgraph.types import interrupt
    except ModuleNotFoundError as error:
        raise NotAskedError("LangGraph is not installed: pip install 'footpath[langchain]'") from error
    try:
        settings = get_config().get("configurable", {})
    except RuntimeError as error:
        raise NotAskedError(f"this call is not made within a graph; {_HOW}") from error
    if not settings.get("thread_id"):
        raise NotAskedError(f"nobody could be asked: {_HOW}")
    return _allows(interrupt(_asked(name, arguments, change)))


def _asked(name: str, arguments: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """What the person sees: the form of LangChain's own ``HumanInTheLoopMiddleware``, which pages for agents show, with what Footpath knows."""
    told = [change.summary, change.why, change.undo]
    action = {"name": name, "args": dict(arguments), "description": "\n".join(one for one in told if one)}
    return {
        "action_requests": [action],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "reject"]}],
        "change": {"tool": change.tool, "arguments": dict(change.arguments), "origins": dict(change.origins)},
    }


def _allows(told: object) -> bool:
    """``True``, or a list of decisions with one that approves; everything else is no."""
    if not isinstance(told, Mapping):
        return told is True
    decisions = cast("Mapping[str, Any]", told).get("decisions")
    if not isinstance(decisions, list) or len(cast("list[object]", decisions)) != 1:
        return False
    [decision] = cast("list[object]", decisions)
    return isinstance(decision, Mapping) and cast("Mapping[str, Any]", decision).get("type") == "approve"
