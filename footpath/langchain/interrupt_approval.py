# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Approval of changes by LangGraph interrupts: the graph stops, and is resumed with the decision of a person."""

from collections.abc import Mapping
from typing import Any, cast

from footpath.user_callbacks import Change

_INTERRUPT_ADVICE = "compile the agent with a checkpointer and call it with a thread_id, or give changes= another value"


class NoInterruptError(Exception):
    """Nothing can be interrupted: LangGraph, a graph or a checkpointer is missing. The message says what to do."""


class ChangeRecorder:
    """Callback that refuses every change and records the last one, for a person to be asked about."""

    def __init__(self) -> None:
        self.change: Change | None = None

    def __call__(self, change: Change) -> bool:
        self.change = change
        return False


class ApprovedChangeOnly:
    """Callback that allows the change that a person approved, and no other."""

    def __init__(self, change: Change) -> None:
        self._change = change

    def __call__(self, change: Change) -> bool:
        return (change.tool, change.arguments) == (self._change.tool, self._change.arguments)


def ask_by_interrupt(name: str, arguments: Mapping[str, Any], change: Change) -> bool:
    """Return whether a person allows a change, by interrupting the graph.

    The interrupt raises, and ends this call; when the graph is resumed, it calls the tool again, and the interrupt
    returns the decision.

    Args:
        name: Name of the tool, as the model knows it.
        arguments: Arguments of the model.
        change: The change that the call would make.

    Raises:
        NoInterruptError: the call is not made within a graph that has a checkpointer and a thread id.
    """
    try:
        from langgraph.config import get_config
        from langgraph.types import interrupt
    except ModuleNotFoundError as error:
        raise NoInterruptError("LangGraph is not installed: pip install 'footpath[langchain]'") from error
    try:
        settings = get_config().get("configurable", {})
    except RuntimeError as error:
        raise NoInterruptError(f"this call is not made within a graph; {_INTERRUPT_ADVICE}") from error
    if not settings.get("thread_id"):
        raise NoInterruptError(f"nobody could be asked: {_INTERRUPT_ADVICE}")
    return _is_approval(interrupt(_build_interrupt_value(name, arguments, change)))


def _build_interrupt_value(name: str, arguments: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Build the value of the interrupt: the format of LangChain's ``HumanInTheLoopMiddleware``, and the change."""
    explanations = [change.summary, change.why, change.undo]
    action = {
        "name": name,
        "args": dict(arguments),
        "description": "\n".join(explanation for explanation in explanations if explanation),
    }
    return {
        "action_requests": [action],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "reject"]}],
        "change": {"tool": change.tool, "arguments": dict(change.arguments), "origins": dict(change.origins)},
    }


def _is_approval(resume_value: object) -> bool:
    """Return whether a resume value approves: ``True``, or exactly one decision ``approve``. All else refuses."""
    if not isinstance(resume_value, Mapping):
        return resume_value is True
    decisions = cast("Mapping[str, Any]", resume_value).get("decisions")
    if not isinstance(decisions, list) or len(cast("list[object]", decisions)) != 1:
        return False
    [decision] = cast("list[object]", decisions)
    return isinstance(decision, Mapping) and cast("Mapping[str, Any]", decision).get("type") == "approve"
