"""Public Python API of Footpath (docs/python.md). Names exported here stay stable across versions."""

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
    """Import exported names when first accessed, so that shell completion of ``footpath`` stays fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from footpath import library

    return getattr(library, name)
