"""Tool by which a model searches the store for further tools, which it can call from its next step on."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Literal

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from agent.llm.prompts import PromptFence
from footpath.asynchronous import AsyncFootpath
from footpath.langchain.opened import Opened
from footpath.langchain.tools import FootpathTool

NAME = "find_tools"
_DESCRIPTION = "Find other tools where those at hand do not do. What is found can be called from your next step on."
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"request": {"type": "string", "description": "what they are to do, in words"}},
    "required": ["request"],
}
_LONGEST = 160

Find = Callable[[AsyncFootpath, str], Coroutine[Any, Any, Sequence[FootpathTool]]]


class FindTools(BaseTool):
    """Tool that searches the store. The found ids are in the message's artifact, so that a checkpoint keeps them."""

    name: str = NAME
    description: str = _DESCRIPTION
    args_schema: Any = _SCHEMA
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _opened: Opened = PrivateAttr()
    _find: Find = PrivateAttr()

    @classmethod
    def by(cls, opened: Opened, find: Find) -> "FindTools":
        """Create the tool; ``find`` does the search."""
        made = cls()
        made._opened, made._find = opened, find
        return made

    def _run(self, request: str) -> tuple[str, dict[str, Any]]:
        return _told(self._opened.run(lambda footpath: self._find(footpath, request)))

    async def _arun(self, request: str) -> tuple[str, dict[str, Any]]:
        return _told(await self._opened.awaited(lambda footpath: self._find(footpath, request)))


def found_in(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """Yield the ids of all tools that the model of a conversation has found."""
    for message in messages:
        if isinstance(message, ToolMessage) and message.name == NAME and isinstance(message.artifact, dict):
            yield from message.artifact.get("tools", ())  # pyright: ignore[reportUnknownMemberType]


def _told(tools: Sequence[FootpathTool]) -> tuple[str, dict[str, Any]]:
    if not tools:
        return "Nothing was found: say otherwise what you need.", {"tools": []}
    lines = "\n".join(f"{tool.name}: {tool.description[:_LONGEST]}" for tool in tools)
    return PromptFence().render_block("tools", lines), {"tools": [tool.tool for tool in tools]}
