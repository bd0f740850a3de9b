"""Footpath as a library: find tools, ask, run a program, learn (docs/python.md). What stands here is what later versions keep."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footpath.library import (
        Answer,
        AsyncFootpath,
        BrokenInputError,
        Call,
        Change,
        EventRecord,
        Footpath,
        FootpathError,
        FoundTool,
        NotAllowedError,
        Offer,
        OfferedTool,
        Question,
        Reason,
        Tool,
        UnavailableError,
        UsageError,
    )

__all__ = [
    "Answer",
    "AsyncFootpath",
    "BrokenInputError",
    "Call",
    "Change",
    "EventRecord",
    "Footpath",
    "FootpathError",
    "FoundTool",
    "NotAllowedError",
    "Offer",
    "OfferedTool",
    "Question",
    "Reason",
    "Tool",
    "UnavailableError",
    "UsageError",
]


def __getattr__(name: str) -> Any:
    """Imported at the first asking: the command ``footpath`` completes a word without any of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from footpath import library

    return getattr(library, name)
