"""Footpath for LangChain agents: tools, middleware that offers them, and runs as Runnables (docs/langchain.md)."""

from typing import TYPE_CHECKING, Any

from domain.errors import UnavailableError
from footpath.langchain.run import RunInput, run_of
from footpath.langchain.tools import FootpathTool, anamed_tools, aoffered_tools, named_tools, offered_tools

if TYPE_CHECKING:
    from footpath.langchain.middleware import OfferedTools

__all__ = [
    "FootpathTool",
    "OfferedTools",
    "RunInput",
    "anamed_tools",
    "aoffered_tools",
    "named_tools",
    "offered_tools",
    "run_of",
]


def __getattr__(name: str) -> Any:
    """Import the middleware when first accessed: it alone needs LangChain's agents, an optional package."""
    if name != "OfferedTools":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from footpath.langchain.middleware import OfferedTools
    except ModuleNotFoundError as error:
        raise UnavailableError("LangChain's agents are not installed: pip install 'footpath[langchain]'") from error
    return OfferedTools
