# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false
"""Middleware for ``create_agent`` that offers the model a few tools of a large store for each request.

The model may search for further tools itself (``find_tools``), and call what it finds from its next step on.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any, Literal

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from agent.llm.prompts import PromptFence
from domain.errors import UnavailableError, UsageError
from footpath.async_footpath import AsyncFootpath
from footpath.langchain.store_runner import AnyFootpath, StoreRunner
from footpath.langchain.tools import ChangePolicy, FootpathTool, assign_model_names, fetch_tool_doc

FIND_TOOLS_NAME = "find_tools"
_FIND_TOOLS_DESCRIPTION = (
    "Find other tools where those at hand do not do. What is found can be called from your next step on."
)
_FIND_TOOLS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"request": {"type": "string", "description": "what they are to do, in words"}},
    "required": ["request"],
}
_MAX_LISTED_DESCRIPTION = 160

ToolSearchFunction = Callable[[AsyncFootpath, str], Coroutine[Any, Any, Sequence[FootpathTool]]]


class StoreSearchTool(BaseTool):
    """Tool that searches the store. The found ids are in the message's artifact, so that a checkpoint keeps them."""

    name: str = FIND_TOOLS_NAME
    description: str = _FIND_TOOLS_DESCRIPTION
    args_schema: Any = _FIND_TOOLS_SCHEMA
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _runner: StoreRunner = PrivateAttr()
    _find: ToolSearchFunction = PrivateAttr()

    @classmethod
    def create(cls, opened: StoreRunner, find: ToolSearchFunction) -> "StoreSearchTool":
        """Create the tool; ``find`` does the search."""
        tool = cls()
        tool._runner, tool._find = opened, find
        return tool

    def _run(self, request: str) -> tuple[str, dict[str, Any]]:
        return _render_found_tools(self._runner.run(lambda footpath: self._find(footpath, request)))

    async def _arun(self, request: str) -> tuple[str, dict[str, Any]]:
        return _render_found_tools(await self._runner.run_async(lambda footpath: self._find(footpath, request)))


def iterate_found_ids(messages: Sequence[BaseMessage]) -> Iterator[str]:
    """Yield the ids of all tools that the model of a conversation has found."""
    for message in messages:
        if isinstance(message, ToolMessage) and message.name == FIND_TOOLS_NAME and isinstance(message.artifact, dict):
            yield from message.artifact.get("tools", ())  # pyright: ignore[reportUnknownMemberType]


def _render_found_tools(tools: Sequence[FootpathTool]) -> tuple[str, dict[str, Any]]:
    if not tools:
        return "Nothing was found: say otherwise what you need.", {"tools": []}
    lines = "\n".join(f"{tool.name}: {tool.description[:_MAX_LISTED_DESCRIPTION]}" for tool in tools)
    return PromptFence().render_block("tools", lines), {"tools": [tool.tool for tool in tools]}


_MAX_OFFERS = 256
"""Number of cached offers. The cache shows all steps of an agent that serve one request the same tools."""
_MAX_TOOLS = 2_000
"""Number of cached tools, by the names that models know them under."""


class OfferedTools(AgentMiddleware):
    """Middleware that adds tools of a store to those of the model, and calls them.

    The model gets the tools that the store offers for the user's last message, and those that the conversation has
    called or found. They need not be given to ``create_agent``; tools that are given stay.

    Args:
        footpath: The open store.
        limit: Number of tools of an offer.
        changes: As for :func:`footpath.langchain.tools.offered_tools`.
        search: Give the model the tool ``find_tools`` too.
    """

    def __init__(
        self, footpath: AnyFootpath, limit: int = 16, *, changes: ChangePolicy = "deny", search: bool = True
    ) -> None:
        super().__init__()
        self._runner, self._limit = StoreRunner(footpath), limit
        self._changes: ChangePolicy = changes
        self._offers: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._tools: OrderedDict[str, FootpathTool] = OrderedDict()
        self._taken_names: set[str] = set()
        self.tools = [StoreSearchTool.create(self._runner, self._find_tools)] if search else []

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        """Add the selected tools to the request."""
        self._taken_names |= _list_own_names(request)
        selected_tools = self._runner.run(lambda footpath: self._select_tools(footpath, request.messages))
        return handler(_add_tools(request, selected_tools))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Add the selected tools to the request."""
        self._taken_names |= _list_own_names(request)
        selected_tools = await self._runner.run_async(lambda footpath: self._select_tools(footpath, request.messages))
        return await handler(_add_tools(request, selected_tools))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call a tool of the store where the agent itself knows none of the name."""
        if request.tool is None:
            tool = self._runner.run(lambda footpath: self._resolve_tool(footpath, request.tool_call["name"]))
            request = request if tool is None else request.override(tool=tool)
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call a tool of the store where the agent itself knows none of the name."""
        if request.tool is None:
            tool = await self._runner.run_async(
                lambda footpath: self._resolve_tool(footpath, request.tool_call["name"])
            )
            request = request if tool is None else request.override(tool=tool)
        return await handler(request)

    async def _select_tools(self, footpath: AsyncFootpath, messages: Sequence[BaseMessage]) -> list[FootpathTool]:
        earlier_names = [
            name
            for name in (*_list_called_names(messages), *iterate_found_ids(messages))
            if name not in self._taken_names
        ]
        known_tools = [await self._resolve_tool(footpath, name) for name in earlier_names]
        offered_ids = await self._get_offered_ids(footpath, messages)
        return await self._get_tools(
            footpath, dict.fromkeys([*offered_ids, *(tool.tool for tool in known_tools if tool is not None)])
        )

    async def _find_tools(self, footpath: AsyncFootpath, request: str) -> list[FootpathTool]:
        """Return the tools for a search of the model."""
        offer = await footpath.offer(request, self._limit)
        return await self._get_tools(footpath, [offered_tool.id for offered_tool in offer.tools])

    async def _get_offered_ids(self, footpath: AsyncFootpath, messages: Sequence[BaseMessage]) -> Sequence[str]:
        """Return the ids that the store offers for the user's last message; each message is looked up once."""
        user_messages = [message for message in messages if isinstance(message, HumanMessage) and message.text.strip()]
        if not user_messages:
            return ()
        text = str(user_messages[-1].text)
        key = f"{user_messages[-1].id}\n{text}"
        if key not in self._offers:
            offer = await footpath.offer(text, self._limit)
            self._offers[key] = tuple(offered_tool.id for offered_tool in offer.tools)
        self._offers.move_to_end(key)
        while len(self._offers) > _MAX_OFFERS:
            self._offers.popitem(last=False)
        return self._offers[key]

    async def _get_tools(self, footpath: AsyncFootpath, ids: Iterable[str]) -> list[FootpathTool]:
        """Return tools by their ids, each under a name that it keeps as long as it is cached."""
        tool_ids, tools_by_id = list(ids), self._index_by_id()
        docs = [await fetch_tool_doc(footpath, tool_id) for tool_id in tool_ids if tool_id not in tools_by_id]
        tools_by_id = self._index_by_id()  # another request may have named some of them meanwhile
        for name, doc in assign_model_names(
            [doc for doc in docs if doc.id not in tools_by_id], {*self._taken_names, *self._tools}
        ):
            self._tools[name] = tools_by_id[doc.id] = FootpathTool.from_doc(doc, name, self._runner, self._changes)
        while len(self._tools) > _MAX_TOOLS:
            self._tools.popitem(last=False)
        return [tools_by_id[tool_id] for tool_id in tool_ids]

    def _index_by_id(self) -> dict[str, FootpathTool]:
        return {tool.tool: tool for tool in self._tools.values()}

    async def _resolve_tool(self, footpath: AsyncFootpath, name: str) -> FootpathTool | None:
        """Return the tool of a name or id; after a restart, by its name in the store.

        None where there is none: LangGraph reports that to the agent.
        """
        if name in self._tools:
            return self._tools[name]
        try:
            doc = await fetch_tool_doc(footpath, name)
        except (UsageError, UnavailableError):  # none is called so any more, or several are
            return None
        return (await self._get_tools(footpath, [doc.id]))[0]


def _add_tools(request: ModelRequest, selected_tools: Sequence[FootpathTool]) -> ModelRequest:
    """Return the request with the tools that the agent was not given already."""
    given_ids = {tool.tool for tool in request.tools if isinstance(tool, FootpathTool)}
    return request.override(tools=[*request.tools, *(tool for tool in selected_tools if tool.tool not in given_ids)])


def _list_own_names(request: ModelRequest) -> frozenset[str]:
    """Return the names of the agent's own tools."""
    return frozenset(tool.name for tool in request.tools if not isinstance(tool, dict))


def _list_called_names(messages: Sequence[BaseMessage]) -> Iterable[str]:
    """Return the names of the tools that the conversation called, each once."""
    return dict.fromkeys(
        call["name"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls
    )
